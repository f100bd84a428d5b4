/** Browser and pages of the tests: pages named in FATHOM_REPORT, and fixtures that the program's code renders. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import type { Comparison, Document, Shown } from "../src/document";
import { toJson } from "../tests/fixture";

/** Debian's Chromium unless CHROMIUM names another. */
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

const ARGUMENTS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

/** A browser that asks the network for nothing of its own. */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
}

/** URLs of the given reports: the paths in FATHOM_REPORT, apart by colons. */
export function given(): string[] {
  const paths = (process.env["FATHOM_REPORT"] ?? "").split(":").filter((p) => p !== "");
  return paths.map((p) => pathToFileURL(resolve(p)).href);
}

/**
 * Writes a fixture as a report with the program's own code, so a difference between the Rust and the TypeScript types
 * fails the test. FATHOM_RENDER names the example `report_from_json`.
 */
export function written(doc: Document | Comparison, name: string, language = "en"): string {
  const [command, ...rest] = (process.env["FATHOM_RENDER"] ?? "").split(" ");
  if (command === undefined || command === "") throw new Error("FATHOM_RENDER is not set: use `make browser`");
  const html = execFileSync(command, [...rest, language], { input: toJson(doc), maxBuffer: 2 ** 30, cwd: resolve(import.meta.dirname, "../..") });
  const path = join(mkdtempSync(join(tmpdir(), "fathom-e2e-")), `${name}.html`);
  writeFileSync(path, html);
  return pathToFileURL(path).href;
}

/** Puts a document that has no reader on the Rust side into the built viewer, at the slot the binary fills. */
export function assembled(doc: Shown, name: string): string {
  const viewer = readFileSync(resolve(import.meta.dirname, "../dist/viewer.html"), "utf8");
  const json = JSON.stringify(doc).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
  const path = join(mkdtempSync(join(tmpdir(), "fathom-e2e-")), `${name}.html`);
  writeFileSync(path, viewer.replace("<!--fathom-document-->", () => json));
  return pathToFileURL(path).href;
}

/** A page and all that went wrong on it. */
export interface Watched {
  page: Page;
  complaints: string[];
  requests: string[];
}

/** Opens a report; every console error, exception and request beyond the file is noted. */
export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, permissions: ["clipboard-read", "clipboard-write"], ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (m) => {
    if (m.type() === "error" || m.type() === "warning") complaints.push(m.text());
  });
  page.on("pageerror", (e) => complaints.push(String(e)));
  page.on("request", (r) => {
    if (r.url() !== url && !/^(data|blob):/.test(r.url())) requests.push(r.url());
  });
  await page.goto(url);
  return { page, complaints, requests };
}

/** Time without a new frame after which the browser has stopped drawing. */
const FRAME_MS = 1000;

/** Scrolls through the page screen by screen, so that every chart comes into view. */
export async function scrollThrough(page: Page): Promise<void> {
  const scroll = ([y, patience]: readonly [number, number]): Promise<{ left: boolean; drawn: boolean }> => {
    window.scrollTo({ top: y, behavior: "instant" });
    const left = y + window.innerHeight < document.documentElement.scrollHeight;
    return new Promise((done) => {
      requestAnimationFrame(() => requestAnimationFrame(() => done({ left, drawn: true })));
      setTimeout(() => done({ left, drawn: false }), patience);
    });
  };
  const height = await page.evaluate(() => window.innerHeight);
  for (let y = 0, left = true; left; y += height) {
    const seen = await page.evaluate(scroll, [y, FRAME_MS] as const);
    // Now and then a headless Chromium stops to draw frames until it has to: a screenshot makes it.
    if (!seen.drawn) await page.screenshot();
    left = seen.left;
  }
}

/** Goals for the time to open a page and for the size of a page. */
export const OPEN_MS = 2000;
export const PAGE_BYTES = 3e6;

/** Time from the start of the load until the page is drawn. */
export async function openingMs(page: Page): Promise<number> {
  await page.waitForFunction(() => performance.getEntriesByName("fathom-ready").length > 0);
  return page.evaluate(() => performance.getEntriesByName("fathom-ready")[0]?.startTime ?? Infinity);
}

/** Shortest opening time of two new loads: another program may delay one. */
export async function openAgainMs(browser: Browser, url: string): Promise<number> {
  let best = Infinity;
  for (let i = 0; i < 2 && best >= OPEN_MS; i++) {
    const { page } = await open(browser, url);
    best = Math.min(best, await openingMs(page));
    await page.context().close();
  }
  return best;
}
