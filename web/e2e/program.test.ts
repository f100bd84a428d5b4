/** Pages that the program wrote, each once per size. */

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkPages } from "./checks";
import { given, launch, open } from "./browser";

/** Names of the files without their ending: `qos-sim`. */
const PAGES = given().map((url) => ({ name: url.replace(/^.*\/|\.html$/g, ""), url: () => url }));

// Simulated and recorded runs give the same page each time. The words of a new run depend on the disk.
checkPages(PAGES.map((page, i) => ({ ...page, repeatable: /-(sim|recorded)$/.test(page.name), pointsMin: 3, oneRun: i === 0, limits: true })));

/** Steps of a snia run that is not cut short: its tests need five rounds or more. */
const SNIA_STEPS_MIN = 300;

describe.skipIf(PAGES.length === 0)("snia", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
  });

  it("has all tests in all their rounds", async () => {
    const { page } = await open(browser, PAGES.find((p) => p.name === "snia-sim")?.url() ?? "", { javaScriptEnabled: false });
    expect(await page.locator(".scroll tbody tr").count()).toBeGreaterThan(SNIA_STEPS_MIN);
    await page.context().close();
  });
});
