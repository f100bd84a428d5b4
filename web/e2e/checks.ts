/** Checks of a whole page: one load per page and size, both languages on the load. */

import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, open, OPEN_MS, openAgainMs, openingMs, PAGE_BYTES, scrollThrough } from "./browser";

/** A page under test. */
export interface Subject {
  name: string;
  /** URL of the page; a fixture is written on the first call. */
  url: () => string;
  /** The page is the same in every run of the tests, so the positions of its words are checked too. */
  repeatable: boolean;
  /** Lowest number of values in a picture. */
  pointsMin: number;
  /** The page holds one run that measured each load once. */
  oneRun: boolean;
  /** The page must open within 2 s and stay below 3 MB. */
  limits: boolean;
}

/** Viewport of a phone and of a desktop. */
const SCREEN_PX = 900;
const SIZES = [[390, "dark"], [1400, "light"]] as const;
/** Layout does not depend on the theme and colours do not depend on the width, so these sizes are not in `make test`. */
const MORE_SIZES = [[390, "light"], [1400, "dark"]] as const;
const ALL = process.env["FATHOM_TEST_ALL"] === "1";

/** Part of the first picture that a phone shows without scrolling. */
const SHOWN_PX = 100;

const LANGUAGES = [["en", "English"], ["zh-CN", "简体中文"]] as const;
const PAPER = { dark: "rgb(20, 23, 27)", light: "rgb(255, 255, 255)" };

/** The first screen, before the reader scrolls. */
async function firstScreen(page: Page): Promise<{ chartTop: number; hidden: string[] }> {
  return page.evaluate(() => {
    const chart = document.querySelector("main figure .chart");
    const hidden = [...document.querySelectorAll("#answer > .verdict :is(th, td, .trust, .next)")].filter((e) => e.textContent !== "").filter((e) => {
      const box = e.getBoundingClientRect();
      return !e.checkVisibility() || box.width === 0 || box.left < 0 || box.right > innerWidth;
    });
    return { chartTop: chart ? chart.getBoundingClientRect().top + window.scrollY : Infinity, hidden: hidden.map((e) => e.textContent ?? "") };
  });
}

/** Charts and texts of the whole page. */
interface Seen {
  figures: { title: string; marks: number }[];
  charts: { title: string; points: number; collisions: string[]; clipped: string[]; bare: string[] }[];
  headings: string[];
  trust: string | null;
  load: string;
  overflow: number;
  paper: string;
  cutOff: string[];
  /** Labels of each vertical axis. */
  axes: string[][];
  /** Section headings and links to them. */
  sections: string[];
}

async function wholePage(page: Page): Promise<Seen> {
  return page.evaluate(() => {
    const titleOf = (f: Element): string => f.querySelector("figcaption b")?.textContent ?? "";
    const figures = [...document.querySelectorAll("figure:not([hidden])")].filter((f) => f.checkVisibility()).map((f) => ({ title: titleOf(f), marks: f.querySelectorAll("svg path, canvas").length }));
    const charts = [...document.querySelectorAll("main figure")].filter((f) => f.checkVisibility()).map((f) => {
      const host = f.querySelector<HTMLElement>(".chart");
      const frame = host?.getBoundingClientRect();
      const words = [...f.querySelectorAll<SVGTextElement>("svg text")].map((t) => ({ said: t.textContent ?? "", box: t.getBoundingClientRect() })).filter((w) => w.said.trim() !== "" && w.box.width > 0);
      const collisions: string[] = [];
      words.forEach((a, i) => words.slice(i + 1).forEach((b) => {
        const [wide, high] = [Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left), Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top)];
        // The box of a text is higher than its letters.
        if (wide > 3 && high > 5) collisions.push(`${a.said} | ${b.said}`);
      }));
      const clipped = words.filter((w) => /(…|\.\.\.)$/.test(w.said) || (frame && (w.box.left < frame.left - 2 || w.box.right > frame.right + 2 || w.box.top < frame.top - 3 || w.box.bottom > frame.bottom + 3))).map((w) => w.said);
      const times = words.filter((w) => /^[\d.]+ (ns|us|ms|s)$/.test(w.said));
      const column = (w: { box: DOMRect }): number => Math.round(w.box.right);
      const bare = words.filter((w) => /^[1-9][\d.\u202f]*$/.test(w.said) && times.filter((t) => column(t) === column(w)).length > 1).map((w) => w.said);
      return { title: titleOf(f), points: Number(host?.dataset["points"] ?? 0), collisions, clipped, bare };
    });
    // Texts outside of charts that are cut off, where no scrolling shows the rest.
    const cutOff = [...document.querySelectorAll("main :is(h1, h2, h3, p, li, td, th, dt, dd, figcaption, button, summary)")].filter((e) => e.checkVisibility() && e.clientWidth > 0).filter((e) => {
      const style = getComputedStyle(e);
      return (style.overflowX === "hidden" || style.textOverflow === "ellipsis") && e.scrollWidth > e.clientWidth + 1;
    }).map((e) => e.textContent?.slice(0, 60) ?? "");
    const axes = [...document.querySelectorAll("main figure .chart svg")].flatMap((chart) => {
      const right = new Map<number, string[]>();
      const frame = chart.getBoundingClientRect();
      for (const t of chart.querySelectorAll("text")) {
        if (t.getAttribute("text-anchor") !== "end") continue;
        const at = Math.round(t.getBoundingClientRect().right);
        // Further right stand the last labels of horizontal axes.
        if (at > frame.left + frame.width / 2) continue;
        right.set(at, [...(right.get(at) ?? []), t.textContent ?? ""]);
      }
      return [...right.values()].filter((labels) => labels.length > 2);
    });
    const text = (of: string): string => [...document.querySelectorAll<HTMLElement>(of)].map((e) => e.innerText).join("\n");
    return {
      figures, charts, cutOff, axes,
      headings: [...document.querySelectorAll<HTMLElement>("h1")].map((e) => e.innerText),
      trust: document.querySelector<HTMLElement>("#answer > .verdict p.trust")?.innerText ?? null,
      load: text("#load"),
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      paper: getComputedStyle(document.body).backgroundColor,
      sections: [...document.querySelectorAll("main h2, nav a")].map((e) => e.textContent ?? ""),
    };
  });
}

/** Units that one axis must not mix: times, rates in bytes and shares. */
const UNITS = [/^[\d.\u202f]+ ?(ns|us|ms|s)$/, /^[\d.]+ ?[kMGT]?B\/s$/, /^[\d.]+ ?%$/];
const mixed = (labels: string[]): boolean => UNITS.filter((unit) => labels.some((label) => unit.test(label))).length > 1;

/** Checks what one language of a page shows. Every failed check is reported, not only the first one. */
async function checkLanguage(page: Page, subject: Subject, width: number, theme: "dark" | "light", language: string, lang: string): Promise<void> {
  const at = (what: string): string => `${subject.name}, ${width} px ${theme}, ${language}: ${what}`;
  if (width === 390) {
    const first = await firstScreen(page);
    expect.soft(first.chartTop + SHOWN_PX, at("first picture on the first screen")).toBeLessThanOrEqual(SCREEN_PX);
    expect.soft(first.hidden, at("parts of the answer that do not show")).toEqual([]);
  }
  if (width === 1400) {
    const hidden = await page.$eval("#steps .scroll", (e) => e.scrollWidth - e.clientWidth).catch(() => 0);
    expect.soft(hidden, at("hidden width of the table of steps")).toBeLessThanOrEqual(0);
  }
  if (subject.oneRun) expect.soft(await page.locator("#answer > .verdict p.next").count(), at("lines with the next step")).toBe(1);
  await scrollThrough(page);
  const seen = await wholePage(page);
  expect.soft(await page.evaluate(() => document.documentElement.lang), at("language of the page")).toBe(lang);
  expect.soft(seen.sections.filter((words) => /\p{Script=Han}/u.test(words) !== (lang === "zh-CN")), at("headings in the wrong language")).toEqual([]);
  expect.soft(seen.figures.length, at("charts")).toBeGreaterThanOrEqual(subject.oneRun ? 2 : 1);
  expect.soft(seen.figures.filter((f) => f.marks === 0).map((f) => f.title), at("charts without marks")).toEqual([]);
  expect.soft(seen.overflow, at("pixels wider than the screen")).toBeLessThanOrEqual(0);
  expect.soft(seen.headings.length, at("number of h1")).toBe(1);
  expect.soft(seen.paper, at("background")).toBe(PAPER[theme]);
  if (subject.oneRun) {
    expect.soft(seen.load, at("load section")).not.toContain("drawn once");
    const rows = await page.locator("table.steps .opener span").allInnerTexts();
    expect.soft(rows.filter((row, i) => rows.indexOf(row) !== i), at("rows of equal names")).toEqual([]);
    if (lang === "en") {
      expect.soft(seen.headings[0]?.length, at("length of the h1")).toBeGreaterThan(20);
      // The remedy is a sentence of its own.
      expect.soft(seen.trust, at("trust line")).toMatch(/^Trust [^.]*(\.\d[^.]*)*(\. To (mend|improve): .*\.)?$/);
    }
  }
  if (!subject.repeatable) return;
  expect.soft(seen.charts.length, at("charts in the main part")).toBeGreaterThan(0);
  for (const c of seen.charts) {
    expect.soft(c.points, at(`${c.title}: values`)).toBeGreaterThanOrEqual(subject.pointsMin);
    expect.soft(c.collisions, at(`${c.title}: words that overlap`)).toEqual([]);
    expect.soft(c.clipped, at(`${c.title}: words cut off`)).toEqual([]);
    expect.soft(c.bare, at(`${c.title}: times without a unit`)).toEqual([]);
  }
  expect.soft(seen.cutOff, at("sentences cut off")).toEqual([]);
  expect.soft(seen.axes.filter(mixed).map((labels) => labels.join(" | ")), at("axes with mixed units")).toEqual([]);
}

/** Tests every page of a set once per size. */
export function checkPages(subjects: readonly Subject[]): void {
  let browser: Browser;
  const opened = new Map<string, number>();

  beforeAll(async () => {
    browser = await launch();
  });

  afterAll(async () => {
    await browser.close();
  });

  describe.each(ALL ? [...SIZES, ...MORE_SIZES] : SIZES)("at %i px, %s", (width, colorScheme) => {
    it.each(subjects)("$name", async (subject) => {
      const { page, complaints, requests } = await open(browser, subject.url(), { viewport: { width, height: SCREEN_PX }, colorScheme });
      const ms = await openingMs(page);
      if (width === 1400 && colorScheme === "light") opened.set(subject.name, ms);
      // The language that the page opens in comes first: a reader sees the page without a click.
      const own = await page.evaluate(() => document.documentElement.lang);
      const order = [...LANGUAGES].sort(([a], [b]) => Number(b === own) - Number(a === own));
      for (const [lang, language] of order) {
        if (lang !== own) {
          await page.evaluate(() => window.scrollTo({ top: 0, behavior: "instant" }));
          await page.getByRole("button", { name: language, exact: true }).click();
        }
        await checkLanguage(page, subject, width, colorScheme, language, lang);
      }
      const at = `${subject.name}, ${width} px ${colorScheme}, both languages`;
      expect.soft(complaints, `${at}: complaints of the browser`).toEqual([]);
      expect.soft(requests, `${at}: requests to the network`).toEqual([]);
      await page.context().close();
    });
  });

  const limited = subjects.filter((s) => s.limits);
  describe.skipIf(limited.length === 0)("limits", () => {
    it.each(limited)("$name is below 3 MB", (subject) => {
      expect(statSync(fileURLToPath(subject.url())).size).toBeLessThan(PAGE_BYTES);
    });

    // The time comes from the load above. A slow page gets two more loads: another program may delay one.
    it.each(limited)("$name opens within 2 s", async (subject) => {
      const first = opened.get(subject.name) ?? Infinity;
      const ms = first < OPEN_MS ? first : await openAgainMs(browser, subject.url());
      expect(ms).toBeLessThan(OPEN_MS);
    });
  });
}
