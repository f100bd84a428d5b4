/** No word of the page may be missing in any language. */

import { describe, expect, it } from "vitest";
import { LANGUAGES, say, speak, text, word, type Language } from "../src/text";
import { english } from "../src/text/en";

type Tree = { [key: string]: unknown };

/** Every leaf of a catalogue with its path. */
function leaves(tree: Tree, path = ""): [string, unknown][] {
  return Object.entries(tree).flatMap(([key, value]): [string, unknown][] => {
    const at = path === "" ? key : `${path}.${key}`;
    return value !== null && typeof value === "object" ? leaves(value as Tree, at) : [[at, value]];
  });
}

/** What a leaf says, with stand-ins for what it is told. */
function said(leaf: unknown): string {
  if (typeof leaf !== "function") return String(leaf);
  const told = Array.from({ length: leaf.length }, (_, i) => String(7 + i));
  return String((leaf as (...args: unknown[]) => unknown)(...told));
}

/** Words that the field writes the same way in every language: names of programs, units, settings, columns. */
const SAME = /^(Fathom|IOPS|CPU|T|QD|lat|slat|clat|p\d+(\.\d+)?|#|–|±0|±95 %|MB\/s|MiB\/s|CPU\/IO|95 %|nr_requests|nomerges|iostats|rq_affinity|irqbalance|kernel\.io_uring_disabled|fathom run --like 7|fathom show 7 --details|read QD32, refused, io_uring …|)$/;

const others = (Object.keys(LANGUAGES) as Language[]).filter((code) => code !== "en");

describe.each(others)("the catalogue of %s", (code) => {
  const own = LANGUAGES[code] as unknown as Tree;
  const [here, there] = [new Map(leaves(own)), new Map(leaves(english as unknown as Tree))];

  it("has every entry of the English one, and no other", () => {
    expect([...here.keys()].sort()).toEqual([...there.keys()].sort());
  });

  it("says each of them in its own words", () => {
    const untold = [...there].filter(([path, leaf]) => said(here.get(path)) === said(leaf) && !SAME.test(said(leaf)) && path !== "comparison.inRun");
    expect(untold.map(([path]) => path)).toEqual([]);
  });

  it("uses everything it is told that the English one uses", () => {
    const silent = [...there].filter(([path, leaf]) => {
      const needed = [...said(leaf).matchAll(/\d+/g)].map((m) => m[0]);
      const found = [...said(here.get(path)).matchAll(/\d+/g)].map((m) => m[0]);
      return typeof leaf === "function" && !needed.every((n) => found.includes(n));
    });
    expect(silent.map(([path]) => path)).toEqual([]);
  });
});

describe("speaking", () => {
  it("takes words and sentences of the chosen language, and falls back to the document's own", () => {
    speak("zh", { "one core": "单个核心" });
    expect([text.sections.answer, word("queue_depth"), say("one core"), say("not in the book")]).toEqual(["结论", "队列深度", "单个核心", "not in the book"]);
    speak("en", {});
    expect([text.sections.answer, word("queue_depth"), say("one core")]).toEqual(["Answer", "queue depth", "one core"]);
  });
});
