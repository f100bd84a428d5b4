/** Opens a report in headless Chromium and prints as JSON how long its first page took to stand, in seconds. */

import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const [report] = process.argv.slice(2);
if (report === undefined) throw new Error("usage: node open-time.mjs REPORT.html");
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(pathToFileURL(resolve(report)).href);
// Two frames after the mark: what is in view has then been painted.
const painted = await page.evaluate(async () => {
  while (performance.getEntriesByName("fathom-ready").length === 0) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now();
});
await browser.close();
console.log(JSON.stringify({ open_s: painted / 1000 }));
