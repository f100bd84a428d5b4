/** Reports to look at: the one named in FATHOM_REPORT, and the fixtures as the binary writes them. */

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
 * Writes a fixture as a report, through the same code as the binary, so that the test also proves that the types here
 * and there are the same. FATHOM_RENDER may name the built example; otherwise cargo builds it.
 */
export function written(doc: Document | Comparison, name: string, language = "en"): string {
  const [command, ...rest] = (process.env["FATHOM_RENDER"] ?? "cargo run --quiet --release -p fathom-report --example report_from_json").split(" ");
  const html = execFileSync(command ?? "cargo", [...rest, ...(command === "cargo" ? ["--"] : []), language], { input: toJson(doc), maxBuffer: 2 ** 30, cwd: resolve(import.meta.dirname, "../..") });
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

/** Scrolls through the whole page, so that every chart has come into view. */
export async function scrollThrough(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += 500) {
      window.scrollTo({ top: y, behavior: "instant" });
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
  });
}
