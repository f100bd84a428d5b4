import { describe, expect, it } from "vitest";
import { toCsv } from "../src/csv";
import * as c from "../src/curves";
import { parseDocument, QUANTILES, SCHEMA, type Document } from "../src/document";
import { matches, sortSteps } from "../src/order";
import { asMail, counts } from "../src/sections/answer";
import { grouped } from "../src/sections/repeat";
import { generator, measured, quick, refused, thousand, toJson } from "./fixture";

const doc = quick();

describe("lines", () => {
  it("hold every step with figures once, each ladder in the order of its queue depths", () => {
    for (const run of [doc, thousand()]) {
      const { steps } = run;
      const all = c.lines(run);
      const indices = all.flatMap((l) => l.steps.map((s) => s.index)).sort((a, b) => a - b);
      expect(indices).toEqual(steps.filter(c.hasFigures).map((s) => s.index));
      for (const line of all) {
        const depths = line.steps.map((s) => s.queue_depth);
        expect(depths).toEqual([...depths].sort((a, b) => a - b));
        expect(new Set(line.steps.map((s) => `${s.op} ${s.threads} ${s.engine} ${s.block_size_bytes}`)).size).toBe(1);
      }
    }
  });

  it("have names that tell them apart within their picture", () => {
    const all = c.lines(thousand());
    const names = all.map((l) => `${l.family} ${l.label}`);
    expect(new Set(names).size).toBe(all.length);
    expect(all[0]?.label).toBe("read T1 io_uring");
    expect(all[0]!.set).toBe("read io_uring");
  });

  it("say what else names the load of a line", () => {
    const plain = doc.steps.find((s) => s.op === "randwrite" && c.hasFigures(s));
    if (!plain) throw new Error("quick writes");
    const called = (load_words: string): string => c.opWord({ ...plain, load_words });
    expect(called("+ fdatasync")).toBe("write + fdatasync");
    expect(called("")).toBe("write");
  });

  it("leave out what all of them share", () => {
    expect(c.lines(doc).map((l) => l.label)).toContain("read T1");
  });

  it("begin with the workload of the longest ladder", () => {
    const all = c.lines(doc);
    expect(c.families(all)).toEqual(["4k random", "128k sequential"]);
    expect(c.mainLine(all)?.steps.map((s) => s.queue_depth)).toEqual([1, 4, 16, 32, 64]);
  });

  it("have the knee of the document, and none where the document has none", () => {
    const knees = (run: Document): unknown[] => c.lines(run).map((l) => l.knee);
    expect(knees(doc)[0]).toBe(doc.ladders[0]!.knee);
    const straight = { ...doc, ladders: doc.ladders.map((l) => ({ ...l, knee: null })) };
    expect(new Set(knees(straight))).toEqual(new Set([null]));
  });

  it("have the step with 95 % of the most, unless IOPS still grow at the last step", () => {
    const [ladder] = doc.ladders;
    const enough = (step: number): number | undefined => c.lines({ ...doc, ladders: [{ ...ladder!, enough: step }] })[0]?.enough?.index;
    const [before, last] = ladder!.points.slice(-2).map((p) => p.step);
    expect([enough(before!), enough(last!)]).toEqual([before, undefined]);
  });

  it("are the ladders of the document and of their steps no others", () => {
    const one = { ...doc, ladders: [{ ...doc.ladders[0]!, points: doc.ladders[0]!.points.slice(1, 3) }] };
    expect(c.lines(one).map((l) => l.steps.map((s) => s.queue_depth))).toEqual([[4, 16]]);
    expect(c.representatives(one).map((s) => s.index)).toEqual([1, 2]);
  });

  it("are reads, writes, trims or mixed by what fio calls them", () => {
    const ops = ["randread", "write", "randrw", "randtrim", "trimwrite", "rw"] as const;
    expect(ops.map((op) => c.opKind({ op }))).toEqual(["read", "write", "mixed", "trim", "trim", "mixed"]);
  });

  it("are thinned to the strongest in their own order", () => {
    const all = c.lines(thousand());
    const kept = c.strongest(all, 8);
    expect(kept.length).toBe(8);
    expect(kept.map((l) => all.indexOf(l))).toEqual(kept.map((l) => all.indexOf(l)).sort((a, b) => a - b));
  });
});

describe("the axis of nines", () => {
  it("has a whole number for each nine and names it", () => {
    expect([0.9, 0.99, 0.999].map((q) => Math.round(c.nines(q) * 1e9) / 1e9)).toEqual([1, 2, 3]);
    expect([0, c.P50_NINES, 1, 2, 3, 4, 5].map(c.ninesName)).toEqual(["p0", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999"]);
  });

  it("draws points in order, never falling, and drops what has no place on it", () => {
    const points = c.tailPoints([{ q: 0.99, ns: 300 }, { q: 0.5, ns: 100 }, { q: 1, ns: 900 }, { q: 0.9, ns: 90 }, { q: 0.999, ns: 0 }]);
    expect(points.map((p) => p[1])).toEqual([100, 100, 300]);
    expect(points.map((p) => p[0])).toEqual([...points.map((p) => p[0])].sort((a, b) => a - b));
  });

  it("says where the samples end and what the next quantile needs", () => {
    const step = measured(0, { op: "randread", block: 4096, threads: 1, depth: 1 }, generator(1));
    const cut = c.tailCut(step, QUANTILES);
    expect([cut.reached, cut.next]).toEqual(["p99", "p99.9"]);
    expect(cut.seconds).toBeGreaterThan(0);
  });
});

describe("layout", () => {
  it("marks of a logarithmic axis enclose the values and are 1, 2 or 5 times a power of ten", () => {
    const random = generator(5);
    for (let i = 0; i < 500; i++) {
      const values = Array.from({ length: 1 + Math.floor(random() * 9) }, () => 10 ** (random() * 9));
      const marks = c.logMarks(values);
      expect(marks.length).toBeGreaterThanOrEqual(2);
      expect(marks[0]).toBeLessThanOrEqual(Math.min(...values) * 1.0002);
      expect(marks[marks.length - 1]).toBeGreaterThanOrEqual(Math.max(...values) * 0.9998);
      for (const m of marks) expect([1, 2, 5]).toContain(Math.round((m / 10 ** Math.floor(Math.log10(m) + 1e-9)) * 1e6) / 1e6);
    }
    expect(c.logMarks([])).toEqual([1, 10]);
  });

  it("an axis from zero holds its largest value and ends on a step", () => {
    const random = generator(6);
    for (let i = 0; i < 500; i++) {
      const x = 10 ** (random() * 9);
      const { max, interval } = c.zeroScale(x);
      expect(max).toBeGreaterThanOrEqual(x * 0.999);
      expect(max).toBeLessThanOrEqual(x * 1.6);
      expect(Math.abs(max / interval - Math.round(max / interval))).toBeLessThan(1e-9);
    }
  });

  it("labels keep their distance, their order and their bounds", () => {
    const random = generator(8);
    for (let i = 0; i < 500; i++) {
      const ys = Array.from({ length: 1 + Math.floor(random() * 10) }, () => random() * 200);
      const placed = c.apart(ys, 15, 0, 250).map((d, k) => d + ys[k]!);
      const order = ys.map((_, k) => k).sort((a, b) => ys[a]! - ys[b]!);
      for (let k = 1; k < order.length; k++) expect(placed[order[k]!]! - placed[order[k - 1]!]!).toBeGreaterThanOrEqual(15 - 1e-9);
      expect(Math.max(...placed)).toBeLessThanOrEqual(250);
    }
    expect(c.apart([10, 100], 15, 0, 250)).toEqual([0, 0]);
  });

  it("a spread keeps first and last", () => {
    expect(c.spread([1, 2, 3, 4, 5, 6, 7, 8, 9], 3)).toEqual([1, 5, 9]);
    expect(c.spread([1, 2], 3)).toEqual([1, 2]);
    for (const kept of [1, 2, 5, 8, 9]) {
      const drawn = c.spread([1, 2, 3, 4, 5, 6, 7, 8, 9], 3, kept);
      expect([drawn.length, drawn.includes(kept), drawn[0], drawn[2]]).toEqual([3, true, 1, 9]);
    }
  });
});

describe("the table", () => {
  const steps = [...doc.steps, refused(99, { op: "randread", block: 4096, threads: 1, depth: 3 })];

  it("sorts steps without the figure last, both ways", () => {
    for (const up of [true, false]) {
      const sorted = sortSteps(steps, "p99.9", up);
      const values = sorted.map((s) => s.lat_ns?.["p99.9"] ?? null);
      const first = values.indexOf(null);
      expect(values.slice(first).every((v) => v === null)).toBe(true);
      const known = values.slice(0, first) as number[];
      expect(known).toEqual([...known].sort((a, b) => (up ? a - b : b - a)));
    }
  });

  it("finds steps by all words of the filter, QD3 not being QD32", () => {
    const found = (filter: string): number[] => steps.filter((s) => matches(s, filter)).map((s) => s.index);
    expect(found("qd3")).toEqual([99]);
    expect(found("READ t4")).toEqual([5, 6]);
    expect(found("refused")).toEqual([13, 99]);
    expect(found("")).toHaveLength(steps.length);
    expect(found("(")).toEqual(found("tmpfs"));
  });

  it("is CSV with one row per step, quoted where needed, and no formula for a spreadsheet", () => {
    const hostile = { ...doc.steps[0]!, label: '=cmd|"x",1\nline' };
    const csv = toCsv([hostile, doc.steps[1]!]);
    expect(csv).toContain(`0,"'=cmd|""x"",1\nline",measured`);
    const [head, , ] = csv.split("\r\n");
    const columns = head!.split(",");
    expect(columns).toContain("lat_p99.9_ns");
    expect(csv.trim().split("\r\n")[2]!.split(",").length).toBe(columns.length);
  });
});

describe("the document", () => {
  it("keeps seeds of 64 bits, and text that looks like one", () => {
    const back = parseDocument(toJson({ ...doc, run: { ...doc.run, command: 'x "seed":12345678901234567890' } })) as Document;
    expect(back.run.plan.steps[0]?.seed).toBe("11400714819323198485");
    expect(back.run.command).toBe('x "seed":12345678901234567890');
  });

  it("of another schema is refused with both numbers, and an empty one by name", () => {
    const newer = SCHEMA + 1;
    expect(() => parseDocument(toJson({ ...doc, schema: newer }))).toThrow(new RegExp(`schema ${SCHEMA},.*schema ${newer}`));
    expect(() => parseDocument("<!--fathom-document-->")).toThrow(/holds no run/);
  });

  it("says what its figures stand on", () => {
    expect(counts(doc.steps)).toEqual(["13 of 14 steps measured", "1 refused", "IOPS within ±0.40 %", "38 of 39 checks held"]);
  });

  it("is a mail with the answer first and every figure with its load", () => {
    const mail = asMail(doc).split("\n");
    expect(mail[2]).toMatch(/^541k IOPS/);
    expect(mail[3]).toMatch(/QD 32 {2}p99 2.76 ms/);
    expect(mail.join("\n")).toContain("±0.40 % (4k random read T4 QD32)");
    expect(mail[mail.length - 1]).toBe("fathom run --like 7");
  });

  it("of an import names no command that would measure it again", () => {
    const trust = { level: "not_judged" as const, reasons: [], mend: null };
    const mail = asMail({ ...doc, trust, run: { ...doc.run, started: null } });
    expect(mail).toContain("not judged: imported");
    expect(mail.split("\n").pop()).toBe("fathom show 7 --details");
  });

  it("shows what an import does not say as unknown", () => {
    const [step] = doc.steps;
    if (!step) throw new Error("a step");
    const imported = { ...step, queue_depth: 16, pattern: "unknown", role: { ...step.role, imported: { unknown: ["order" as const, "threads" as const, "depth" as const, "engine" as const] } } };
    expect([c.threadsWord(imported), c.depthWord(imported), c.engineWord(imported), c.patternWord(imported.pattern)]).toEqual(["?", ">=16", "–", "unknown order"]);
    expect(c.engineWord({ ...step, role: { ...step.role, imported: { engine: "windowsaio" } } })).toBe("windowsaio");
    const [head, row] = toCsv([imported]).split("\r\n").map((line) => line.split(","));
    expect(["engine", "threads", "queue_depth"].map((name) => row?.[head?.indexOf(name) ?? -1])).toEqual(["", "", ""]);
  });

  it("says the same warning once, with all its steps", () => {
    expect(grouped([["a", "1"], ["b", "2"], ["a", "3"]])).toEqual([{ said: "a", labels: ["1", "3"] }, { said: "b", labels: ["2"] }]);
  });
});
