/** Content of the study pages, of a comparison and of the published results: texts, marks and choices. */

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pinning } from "../tests/studies";
import type { Document } from "../src/document";
import { launch, open, scrollThrough, written } from "./browser";
import { fixture as at } from "./fixtures";

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
});

describe("what the studies show", () => {
  it("reads beside writes are squares with their latency, and the choice of whose", async () => {
    const { page } = await open(browser, at("surface"));
    await scrollThrough(page);
    const figure = page.locator("figure", { hasText: "over the rates of reads and writes" });
    await figure.scrollIntoViewIfNeeded();
    await figure.locator("svg text", { hasText: "×" }).waitFor();
    const said = await figure.locator("svg text").allTextContents();
    expect(said.filter((x) => /(us|ms)$/.test(x)).length).toBeGreaterThanOrEqual(6);
    await page.locator("label", { hasText: /^Latency of/ }).locator("select").selectOption("write");
    expect(await figure.locator("figcaption").textContent()).toContain("p99 of writes");
    await page.context().close();
  });

  it("on a phone each square has its value, and a tap shows the exact one", async () => {
    const { page } = await open(browser, at("surface"), { viewport: { width: 390, height: 900 }, hasTouch: true });
    const figure = page.locator("figure", { hasText: "over the rates of reads and writes" });
    await figure.scrollIntoViewIfNeeded();
    await figure.locator("svg text", { hasText: /latency in (us|ms)$/ }).waitFor();
    // Values are drawn after the axes.
    const value = figure.locator("svg text", { hasText: /^[\d.]{1,5}$/ }).last();
    const box = await value.boundingBox();
    await page.touchscreen.tap((box?.x ?? 0) + 4, (box?.y ?? 0) + 6);
    expect(await figure.locator(".tip-in").innerText()).toMatch(/reads\/s, .* writes\/s/);
    await page.context().close();
  });

  it("levels are bars with their share of what the members allow, and a row of the table says with which load", async () => {
    const { page } = await open(browser, at("raid"));
    await scrollThrough(page);
    const figure = page.locator("figure", { hasText: "4k random writes" }).first();
    await figure.scrollIntoViewIfNeeded();
    await figure.locator("svg text", { hasText: "%" }).first().waitFor();
    const said = await figure.locator("svg text").allTextContents();
    expect(said.filter((x) => / · \d+ %$/.test(x)).length).toBe(2);
    await page.locator("summary", { hasText: "steps on arrays" }).click();
    const rows = await page.locator("tr", { hasText: "raid5 without 1" }).allTextContents();
    expect(rows[0]).toContain("T8\u00a0QD32");
    expect(rows[0]).toContain("1.04x");
    await page.context().close();
  });

  it("operations on files and streams are rows of the first picture, and options stay whole", async () => {
    const { page } = await open(browser, at("files"), { viewport: { width: 390, height: 900 } });
    const first = page.locator("main figure").first();
    await first.locator("svg text", { hasText: "create 4k" }).first().waitFor();
    expect(await first.locator("svg text").allTextContents()).toContain("stat");
    const lines = await page.locator("#answer > .verdict .option").evaluateAll((all) => all.map((e) => e.getClientRects().length));
    expect([lines.length > 4, Math.max(...lines)]).toEqual([true, 1]);
    await page.context().close();
  });

  it("each way to make a record durable is a row; long names stand above the picture, not cut beside it", async () => {
    const { page } = await open(browser, at("commit"));
    await scrollThrough(page);
    const rows = await page.locator("figure", { hasText: "Each way to make a record durable" }).locator("svg text").allTextContents();
    expect(rows).toContain("4k + fdatasync/64");
    const scaling = page.locator("div:has(> figure)", { hasText: "IOPS over threads" }).last();
    expect(await scaling.locator("ul.legend").isVisible()).toBe(true);
    // The step of the headline has a row without a cost too.
    const costs = await page.locator("#cost svg text").allTextContents();
    expect([costs.filter((said) => said.startsWith("▸")).length, costs.filter((said) => said === "not measured").length]).toEqual([1, 1]);
    await page.context().close();
  });

  it("the two placements stand beside each other: rate, latency, CPU, each with its ratio", async () => {
    const { page } = await open(browser, at("pinning"));
    const titles = await page.locator("main figure figcaption b").allInnerTexts();
    for (const words of ["4k random read: IOPS", "4k random read: mean latency", "4k random read: CPU time per I/O", "4k random write: IOPS"]) expect(titles).toContain(words);
    await scrollThrough(page);
    // Two loads make no picture of their own; they stand among the ratios.
    expect(titles.filter((title) => title.startsWith("8k random 70/30 mixed"))).toEqual([]);
    expect(await page.locator("main figure svg text", { hasText: "8k random mixed 70/30 T16 QD2" }).count()).toBeGreaterThan(0);
    await page.context().close();
  });

  it("a comparison opens with the first look that the terminal prints", async () => {
    const { page } = await open(browser, at("comparison"));
    const first = page.locator("#answer");
    expect(await first.locator("p.besides").innerText()).toBe("Differs besides: kernel");
    expect(await first.locator("h1").innerText()).toContain("faster in 6 of 16 steps");
    expect(await first.locator("table.brief tr").count()).toBe(3);
    expect(await first.locator("table.brief tr").first().innerText()).toMatch(/100k to 126k\sIOPS/);
    // It stands above its tables and pictures, and does not send the reader to itself.
    const bottom = await first.locator("table.brief").evaluate((e) => e.getBoundingClientRect().bottom);
    expect(await page.locator("#compared").evaluate((e) => e.getBoundingClientRect().top)).toBeGreaterThanOrEqual(bottom);
    expect(await first.locator("p.next").count()).toBe(0);
    await page.context().close();
  });

  it("steady state stands with its determination table", async () => {
    const { page } = await open(browser, at("settled"));
    const said = await page.locator("#study").innerText();
    for (const words of ["Steady state determination", "rounds 5..9", "y = 88220 + 80 x"]) expect(said).toContain(words);
    // The run from start to end answers no question: it stands with the other pictures of time.
    expect(said).not.toContain("The whole run");
    expect(await page.locator("#time").innerText()).toContain("no figures are taken from these steps (fill)");
    await page.context().close();
  });

  it("published figures of another model are off until they are chosen", async () => {
    const { page } = await open(browser, at("qos"));
    const pick = page.locator("#load label.published select");
    const note = page.locator("#load p.note", { hasText: "Open diamonds" });
    expect([await pick.inputValue(), await note.isVisible()]).toEqual(["none", false]);
    await pick.selectOption("Another drive");
    expect(await note.innerText()).toContain("A magazine, 2017");
    await page.context().close();
  });

  it("a hot drive is marked on the time chart and named in the table below", async () => {
    const { page } = await open(browser, at("engines"));
    const time = page.locator("#time");
    await time.scrollIntoViewIfNeeded();
    await time.locator("svg").first().waitFor();
    expect(await time.innerText()).toContain("reports throttling");
    expect(await time.locator("svg text", { hasText: "thermal throttling" }).count()).toBeGreaterThan(0);
    await page.context().close();
  });

  it("a simulated run says so before its answer, in both languages", async () => {
    const { page } = await open(browser, at("scaling"));
    expect(await page.locator("#answer .simulated").innerText()).toContain("SIMULATED");
    await page.getByRole("button", { name: "简体中文" }).click();
    expect(await page.locator("#answer .simulated").innerText()).toContain("仿真");
    await page.context().close();
  });

  it("links are coloured by what they carried", async () => {
    const { page } = await open(browser, at("machine"));
    const tones = await page.$$eval("#machine i.wire", (wires) => new Set(wires.map((w) => getComputedStyle(w).backgroundColor)).size);
    expect(tones).toBeGreaterThan(2);
    await page.context().close();
  });
});

/** A run whose first step has its label as a message, as the program writes it. */
function titled(): Document {
  const doc = pinning();
  const text = (id: string) => ({ message: { id } });
  const workload = { id: "label-workload", args: [["blocks", { text: "4k" }], ["order", text("label-random")], ["operations", text("label-read")]] };
  const title = { id: "label-load", args: [["workload", { message: workload }], ["threads", { count: 1 }], ["depth", { count: 1 }]] };
  Object.assign(doc.steps[0] ?? {}, { title, workload_title: workload });
  return doc;
}

describe("Chinese", () => {
  it("reaches the answer, the steps and what limits them", async () => {
    const { page } = await open(browser, written(titled(), "zh", "zh"));
    await page.waitForFunction(() => document.documentElement.lang === "zh-CN");
    expect(await page.locator("table.steps tbody tr").first().innerText()).toContain("4k 随机读");
    expect(await page.locator("#load h2").innerText()).toBe("负载");
    await page.getByRole("button", { name: "English" }).click();
    expect(await page.locator("table.steps tbody tr").first().innerText()).toContain("4k random read");
    await page.context().close();
  });

  it("is on the page without scripts too", async () => {
    const { page } = await open(browser, written(titled(), "zh-static", "zh"), { javaScriptEnabled: false });
    expect(await page.locator("h2").first().innerText()).toBe("全部步骤");
    expect(await page.locator(".scroll tbody th").first().innerText()).toContain("4k 随机读");
    // The reasons stand behind a colon.
    expect(await page.locator("p", { hasText: "可信度" }).innerText()).toMatch(/^可信度： ?[^：]+：95\s%/);
    await page.context().close();
  });
});

describe("the articles redone", () => {
  it("count, mark and explain", async () => {
    const { page } = await open(browser, at("articles"));
    expect(await page.locator("h1").innerText()).toMatch(/4 of 5 published figures are reproduced within 10\s%/);
    const table = (await page.locator("#steps").innerText()).replaceAll("\u00a0", " ");
    for (const words of ["contradicts itself", "fitted", "off by more than 25 %", "−32 %", "No step stands for a database.", "assumed: one worker"]) expect(table).toContain(words);
    await page.context().close();
  });

  it("tell both values of a point that is pointed at", async () => {
    const { page } = await open(browser, at("articles"));
    const chart = page.locator("#pictures .chart").first();
    await chart.scrollIntoViewIfNeeded();
    await chart.locator("svg").waitFor();
    const box = await chart.boundingBox();
    if (!box) throw new Error("the chart has no place");
    await page.mouse.move(box.x + box.width / 2, box.y + 130);
    const said = await chart.locator(".tip-in").innerText();
    expect(said).toContain("unpinned");
    expect(said).toContain("published");
    await page.context().close();
  });
});
