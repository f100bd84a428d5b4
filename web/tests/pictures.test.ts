/** What the pictures are drawn from: which steps, how far, and what is left out. */

import { describe, expect, it, vi } from "vitest";
import { commitWord, durableLatency, durableLoads, fileLoads, fileWord, streamLoads, streamWord } from "../src/commits";
import { comparedNames, engineSets, pairSets, type ScaleLine, scaleLines, settled } from "../src/cells";
import { answeredLatency, answeredTail, enginePath, headlineStep, lastNines, lines, nines, plainLine, wholeIntervals } from "../src/curves";
import { QUANTILES, type Document, type KneeView, type StepView } from "../src/document";
import { count3, intervalOf, plusMinus } from "../src/format";
import { goalOf, goalSets, isLowerBound } from "../src/goals";
import { groupRows, isNotToldApart } from "../src/groups";
import { matrices, saturations } from "../src/matrix";
import { sortSteps } from "../src/order";
import { bendNote, lineLooks, shortened } from "../src/options";
import { palette, pathTone } from "../src/palette";
import { cpuPerIo } from "../src/paths";
import { files } from "../src/pictures/commits";
import { change, forest, pairs } from "../src/pictures/compare";
import { cost } from "../src/pictures/cost";
import { dotMarks, dots } from "../src/pictures/groups";
import { goalCaption, goalPanel, goalScale } from "../src/pictures/goal";
import { areLaddersNamed, iopsOverDepth, latencyOverIops, tails } from "../src/pictures/load";
import { freeSide, front } from "../src/pictures/paths";
import { scaling as growth } from "../src/pictures/study";
import { surface } from "../src/pictures/surface";
import { heat, hostHeat, hostRates, overTime, overTimePx } from "../src/pictures/time";
import { arrayLoads, arrayShare, comparedLoads, type ArrayLoad } from "../src/arrays";
import { arrayBars } from "../src/pictures/arrays";
import { isUnproved, perRow } from "../src/sections/answer";
import { answerLine, tailLine } from "../src/sections/load";
import { isSameModel } from "../src/sections/published";
import { steadiness, twoTests } from "../src/sections/time";
import { greyNote } from "../src/sections/study";
import { gapsOf, surfacesOf } from "../src/surfaces";
import { documentOf, generator, measured, quick } from "./fixture";
import { commit, engines, enterprise, pinning, qos, raid, snia, surfaceRun } from "./studies";

// The charts watch where they stand on a page; here they are made as options only.
vi.hoisted(() => {
  const watcher = class { observe(): void {} unobserve(): void {} };
  Object.assign(globalThis, { IntersectionObserver: watcher, ResizeObserver: watcher, window: { addEventListener: () => undefined }, navigator: globalThis.navigator ?? { userAgent: "node" } });
});

const p = palette(false);

describe("hosts over time", () => {
  const doc = quick();
  const [first] = doc.steps;
  if (!first) throw new Error("the fixture has a step");
  const rank = (number: number, host: string, ios: number[]): NonNullable<StepView["ranks"]>["ranks"][number] => ({
    rank: number, host, clock: { offset_ns: 0, bound_ns: 0 }, start_ns: 0, runtime_ns: 2.2e9, ios: 0, bytes: 0, errors: 0, counted_ios: 0, counted_bytes: 0, lat: null, interval_ios: ios, interval_bytes: [], cpu: null, first_cpu: null,
  });
  const of = (...ranks: ReturnType<typeof rank>[]): StepView => ({
    ...first, runtime_s: 2.2, series: { ...first.series, start_s: [0, 1, 2] },
    ranks: { ranks, lost: [], start_skew_ns: 0, start_skew_bound_ns: 0, together_ns: 2.2e9, is_cut: false },
  });

  it("have the sum of their ranks, without the interval that was cut short", () => {
    const step = of(rank(0, "a", [10, 20, 4]), rank(1, "b", [5, 5, 1]), rank(2, "a", [1, 2, 0]));
    expect(hostRates(step)).toEqual({ hosts: ["a", "b"], rates: [[11, 5], [22, 5]] });
    const option = hostHeat(step, p) as unknown as { series: { data: [number, number, number][] }[]; yAxis: { data: string[] } };
    expect(option.yAxis.data).toEqual(["a", "b"]);
    expect(option.series[0]?.data).toContainEqual([1, 0, 1]);
  });

  it("are not drawn for one host", () => {
    expect(hostRates(of(rank(0, "a", [1]), rank(1, "a", [1])))).toBeNull();
    expect(hostRates(first)).toBeNull();
  });
});

describe("reads beside writes", () => {
  it("keep the goal in a staircase below the edge", () => {
    const [s] = surfacesOf(surfaceRun());
    expect(s?.pairs.length).toBe(7);
    expect(s?.region).toEqual([[0, 40e3], [0, 40e3], [0, 30e3], [10e3, 30e3], [10e3, 10e3], [20e3, 10e3], [20e3, 0]]);
    expect(surfacesOf({ ...surfaceRun(), surfaces: [{ group: "A", goal: null, pairs: [], edge: [] }] })[0]?.region).toEqual([]);
    expect(surfacesOf(quick())).toEqual([]);
  });

  it("has a gap around a pair that is not known to keep the goal, although one of higher rates keeps it", () => {
    const doc = surfaceRun();
    const [view] = doc.surfaces;
    const [known] = surfacesOf(doc);
    const [unsure] = surfacesOf({ ...doc, surfaces: [{ ...view!, pairs: view!.pairs.map((q) => (q.step === 3 ? { ...q, outcome: "unknown" as const } : q)) }] });
    expect(gapsOf(known!)).toEqual([]);
    expect(gapsOf(unsure!)).toEqual([{ writes: [5e3, 15e3], reads: [0, 20e3] }]);
    const option = surface(unsure!, undefined, "all", "p99", p, 900) as unknown as { series: { name?: string; data: unknown[] }[] };
    expect(option.series.find((x) => x.name === "gaps")?.data).toHaveLength(1);
  });
});

describe("levels of an array", () => {
  it("stand beside each other under each load, by the step that gave the most, with what their members allow", () => {
    const loads = arrayLoads(raid());
    expect(loads.map((l) => l.title)).toEqual(["4k random writes", "64k sequential writes", "sequential writes of whole stripes"]);
    const [small, , stripes] = loads;
    expect(small?.cells.map((c) => [c.name, c.step.threads])).toEqual([["raid10", 8], ["raid5", 8]]);
    expect(stripes?.cells.map((c) => c.step.block_size_bytes)).toEqual([131072, 196608]);
    const cell = small?.cells[0];
    expect(cell && arrayShare(cell)).toBeCloseTo((cell?.step.iops ?? 0) / 400e3, 9);
    const option = arrayBars(loads[0] as ArrayLoad, p, 700) as unknown as { series: { name?: string; data: unknown[] }[] };
    expect(option.series.find((s) => s.name === "limit of the members")?.data).toEqual([[400e3, 0], [400e3, 1]]);
    expect(arrayLoads(quick())).toEqual([]);
  });
});

describe("loads of an array", () => {
  it("begin with the load of the headline", () => {
    const doc = raid();
    const last = arrayLoads(doc).filter((l) => l.cells.length > 1).at(-1)!;
    const answered = { ...doc, verdict: [{ ...doc.verdict[0]!, figures: [{ ...doc.verdict[0]!.figures[0]!, step: last.cells[0]!.step.index }] }] };
    expect(comparedLoads(answered)[0]?.title).toBe(last.title);
    expect(comparedLoads({ ...doc, verdict: [] })[0]?.title).toBe(arrayLoads(doc)[0]?.title);
  });
});

describe("durable writes", () => {
  it("are the loads that promise something, each with the latency of what makes it durable", () => {
    const steps = durableLoads(commit());
    expect(steps.map(commitWord)).toEqual(["4k O_DSYNC", "4k + fdatasync", "4k + fdatasync/64", "4k + fdatasync T4", "4k + fdatasync T16"]);
    expect(durableLatency(steps[0] as StepView)).toBe(steps[0]?.write?.lat_ns);
    expect(durableLatency(steps[1] as StepView)).toBe(steps[1]?.syncs?.lat_ns);
    expect(durableLoads(quick())).toEqual([]);
  });
});

describe("intervals", () => {
  it("that say nothing are said to", () => {
    expect(plusMinus([-4700, 4700], 1)).toBe("±>100 %");
    expect(plusMinus([-1, 1], 0.5)).toBe("±>100 %");
    expect(plusMinus([99, 101], 100)).toBe("±1.0 %");
    expect(change(55865.7)).toBe(">+1000 %");
    expect(change(Infinity)).toBe("inconclusive");
    expect(change(10.9)).toBe("+990 %");
  });

  it("without width are none; those of a change are in its own unit, for a share of nothing has no meaning", () => {
    expect(plusMinus([100, 100], 100)).toBe("");
    expect(intervalOf([-0.14, 0.06], -0.04, "change_pct")).toBe("-0.1 % … +0.1 %");
    expect(intervalOf([0, 0], 0, "change_pct")).toBe("");
    expect(intervalOf([99, 101], 100, "iops")).toBe("±1.0 %");
  });

  it("of time that the end of the step cut short are not drawn", () => {
    const step = (runtime_s: number): StepView => {
      const s = measured(0, { op: "write", block: 4096, threads: 1, depth: 1 }, generator(1));
      return { ...s, runtime_s, series: { ...s.series, start_s: [0, 1, 2, 3], iops: [10, 10, 10, 0] } };
    };
    expect(wholeIntervals(step(3.01))).toBe(3);
    expect(wholeIntervals(step(3.9))).toBe(4);
    const [s] = saturations({ ...snia(), steps: snia().steps.map((x) => ({ ...x, series: { ...x.series, start_s: [0, 1, 2, x.runtime_s], iops: [10, 10, 10, 0] } })) });
    expect(s?.points.length).toBeGreaterThan(0);
    expect(s?.points.every(([, iops]) => iops > 0)).toBe(true);
  });
});

describe("percentile curves", () => {
  it("end at the deepest quantile that the words below them name", () => {
    // The curve of a document goes on to where single samples lie.
    const deep = [0.999, 0.9999, 0.99999, 0.999999].map((q) => ({ q, ns: 9e6 }));
    const of = quick().steps.filter((s) => s.percentile_curve.length > 1).map((s) => ({ ...s, percentile_curve: [...s.percentile_curve, ...deep] }));
    const option = tails(of, "read", p, 600, (s) => s.label) as { series: { data: [number, number][] }[] };
    let cut = 0;
    of.forEach((s, i) => {
      const missing = QUANTILES.find((q) => s.lat_ns?.[q] === null);
      const end = option.series[i]?.data.at(-1)?.[0] ?? 0;
      if (missing === undefined) return;
      cut += 1;
      expect(end).toBeLessThan(nines(Number(missing.slice(1)) / 100));
      expect(end).toBeLessThanOrEqual(lastNines(s) + 1e-6);
    });
    expect(cut).toBeGreaterThan(0);
  });
});

describe("goals", () => {
  const withGoal = (kept_step: number | null): Document => ({ ...qos(), goals: [{ figure: "lat_p99", most_ns: 400_000, steps: [0, 1, 2, 3], kept_step }] });
  const shaded = (doc: Document): unknown[] => {
    const sets = goalSets(doc);
    return sets.map((set) => (goalPanel(set, "p99", goalScale(sets, "p99"), p, 400) as unknown as { series: { markArea?: { data: [unknown, { xAxis: number; yAxis: number }][] } }[] }).series[0]?.markArea?.data[0]?.[1] ?? null);
  };

  it("shade up to the load that the document names, whatever else lies below the line", () => {
    const doc = withGoal(1);
    const [reads, mix] = goalSets(doc);
    if (!reads || !mix) throw new Error("two workloads");
    expect(goalOf(reads, "p99")?.kept?.index).toBe(1);
    expect([goalOf(reads, "mean"), goalOf(mix, "p99")]).toEqual([undefined, undefined]);
    // Deeper loads of the fixture lie below the goal as well: the document knows why they do not count.
    expect(doc.steps.slice(2, 4).some((s) => (s.lat_ns?.p99 ?? Infinity) <= 400_000)).toBe(true);
    expect(shaded(doc)).toEqual([{ xAxis: doc.steps[1]?.iops, yAxis: 400_000 }, null]);
    expect(goalCaption(reads, "p99")).toMatch(/goal 400 us: met up to [\d.]+k IOPS \(QD4\)$/);
  });

  it("that nothing keeps shade nothing, and say so", () => {
    const doc = withGoal(null);
    expect(shaded(doc)).toEqual([null, null]);
  });

  /** The reads of `qos` with these intervals of p99, in us; the last loads are offered as rates. */
  const judged = (kept_step: number | null, intervals: ([number, number] | null)[]): Document => {
    const doc = withGoal(kept_step);
    return { ...doc, steps: doc.steps.map((s, i) => {
      if (i >= 4 || !s.lat_ns) return s;
      const ci = intervals[i] ?? null;
      return { ...s, iops: 1e4 * (i + 1), rate_iops: i < 2 ? null : 1e4 * (i + 1), lat_ns: { ...s.lat_ns, ci95: ci === null ? {} : { p99: [1e3 * ci[0], 1e3 * ci[1]] } } };
    }) };
  };
  const captionOf = (doc: Document): string => {
    const steps = doc.steps.slice(0, 4);
    const goals = [{ name: "p99" as const, mostNs: 400_000, kept: steps.find((s) => s.index === doc.goals[0]?.kept_step) ?? null, steps }];
    return goalCaption({ title: "reads", kind: "read", closed: steps.slice(0, 2), offered: steps.slice(2), goals }, "p99");
  };

  it("tell rates that missed a goal from rates that were too short to tell", () => {
    expect(captionOf(judged(null, [[100, 200], [100, 300], [300, 500], null]))).toMatch(/goal 400 us: 2 of 2 loads too short to tell, closed loop met it up to 20.0k IOPS \(QD4\)$/);
    expect(captionOf(judged(null, [[100, 500], null, null, [450, 500]]))).toMatch(/goal 400 us: missed at 40.0k IOPS \(offered rate\), 1 of 2 loads too short to tell$/);
    expect(captionOf(judged(2, [[100, 200], null, [100, 200], null]))).toMatch(/goal 400 us: met up to 30.0k IOPS \(offered rate\), 1 of 2 loads too short to tell$/);
  });

  it("are a lower bound where a higher rate is inconclusive", () => {
    expect(isLowerBound(judged(2, [null, null, [100, 200], null]), 2)).toBe(true);
    expect(isLowerBound(judged(2, [null, null, [100, 200], [450, 500]]), 2)).toBe(false);
    expect(isLowerBound(judged(2, [null, null, [100, 200], null]), 3)).toBe(false);
  });

  it("are drawn for qos and for runs with a goal, of three points or more", () => {
    expect(goalSets(qos()).map((s) => s.closed.length)).toEqual([4, 4]);
    expect(goalSets(quick())).toEqual([]);
  });
});

describe("names within a picture", () => {
  it("stand beside a curve that rises straight up, not on it", () => {
    const doc = qos();
    // From the third load on, more in flight gives no more.
    const [set] = goalSets({ ...doc, steps: doc.steps.map((s) => ({ ...s, iops: Math.min(s.queue_depth, 16) * 1e4 })) });
    if (!set) throw new Error("the fixture has a goal picture");
    const option = goalPanel(set, "p99", { ...goalScale([set], "p99"), most: { max: 3e5, interval: 1e5 } }, p, 400) as unknown as { series: { data: { label?: { position: string } }[] }[] };
    expect(option.series[0]?.data.map((d) => d.label?.position)).toEqual([undefined, "top", "right", "right"]);
  });

  it("end at their point, where the line rises to the right of it", () => {
    const [line] = lines(quick());
    const option = latencyOverIops(line!, p, 800) as unknown as { series: { data: { label?: { position: string; align?: string } }[] }[] };
    const named = option.series.flatMap((s) => s.data).flatMap((d) => (d.label?.position === "top" ? [d.label.align] : []));
    expect(named).toContain("right");
  });

  it("of intervals tell them apart, however short they are", () => {
    const s = measured(0, { op: "write", block: 4096, threads: 1, depth: 1 }, generator(1));
    const starts = (every: number): string[] => {
      const option = heat({ ...s, series: { ...s.series, start_s: [0, every, 2 * every, 3 * every], cpu_busy: [[0], [1], [0], [1]] } }, p) as unknown as { xAxis: { data: string[] } };
      return option.xAxis.data;
    };
    expect(starts(1)).toEqual(["0.0 s", "1.0 s", "2.0 s", "3.0 s"]);
    expect(new Set(starts(0.022)).size).toBe(4);
  });

  it("of lines leave out what only one engine has", () => {
    const steps = engines().steps.map((s) => ({ ...s, fixed_buffers: s.engine === "io_uring", fixed_files: false }));
    const names = lines({ steps, ladders: engines().ladders }).map((l) => l.label);
    expect(names.filter((n) => n.includes("libaio") && n.includes("unregistered"))).toEqual([]);
    expect(names.filter((n) => n.includes("fixed buffers only")).length).toBe(1);
  });
});

describe("loops", () => {
  it("are named by the workload that is looked at, and stand once", () => {
    const doc = snia();
    const all = settled(doc.steps);
    expect(all.map((s) => [s.role?.test, s.op, s.block_size_bytes])).toEqual([["iops", "randwrite", 4096], ["wsat", "randwrite", 4096]]);
  });

  it("of blocks and mixes are a matrix; of one load none", () => {
    const [only, ...others] = matrices(snia());
    expect(others).toEqual([]);
    expect([only?.blocks, only?.mixes]).toEqual([["4k", "64k", "1m"], ["read", "70/30", "write"]]);
    expect(only?.cells.length).toBe(9);
  });

  it("that write until saturated clip their spikes and count them", () => {
    const [s] = saturations(snia());
    const bytes = snia().steps.filter((x) => x.role?.test === "wsat").reduce((n, x) => n + x.bytes_per_s * x.runtime_s, 0);
    expect(s?.clipped?.count).toBe(1);
    expect(s?.top).toBeLessThan(s?.clipped?.highest ?? 0);
    expect(s?.points.at(-1)?.[0]).toBeLessThan(bytes);
    expect(s?.points.at(-1)?.[0]).toBeGreaterThan(0.9 * bytes);
  });
});

describe("paths", () => {
  it("are those of the document, with the front that it names", () => {
    const doc = engines();
    const [set, ...others] = engineSets(doc);
    if (!set) throw new Error("the fixture has paths");
    expect(others).toEqual([]);
    expect([set.title, set.steps.length, set.front.map((s) => s.engine)]).toEqual(["4k random read, 16 in flight", 4, ["libaio", "null"]]);
    const line = (front(set, p, 600) as unknown as { series: { type: string; data: [number, number][] }[] }).series.find((s) => s.type === "line")?.data ?? [];
    // Every path of the front is a corner of the line.
    for (const s of set.front) expect(line).toContainEqual([cpuPerIo(s), s.iops]);
    expect(engineSets({ ...doc, paths: [] })).toEqual([]);
  });
});

describe("the front of paths", () => {
  it("names what lies on it, where marks lie on each other", () => {
    const [first, ...others] = engines().steps;
    if (!first?.cpu) throw new Error("the fixture has CPU costs");
    // The second is as fast, and a little cheaper.
    const steps = [first, ...others.map((s) => ({ ...s, iops: first.iops, cpu: first.cpu && { ...first.cpu, ns_per_io: (cpuPerIo(first) ?? 0) - (s.engine === "io_uring" ? 20 : 10) } }))];
    const beaten = steps.filter((s) => s.engine === "io_uring");
    const option = front({ title: "", steps, front: beaten, tones: steps.map((_, i) => i) }, p, 600) as unknown as { series: { type: string; data: { label: { show: boolean; formatter: string } }[] }[] };
    const named = option.series.find((s) => s.type === "scatter")?.data.filter((d) => d.label.show).map((d) => d.label.formatter);
    expect(named).toEqual([`io_uring +${steps.length - 1}`]);
  });

  it("counts each mark for one name, where every mark lies on the next", () => {
    const [first] = engines().steps;
    if (!first?.cpu) throw new Error("the fixture has CPU costs");
    const cost = cpuPerIo(first) ?? 0;
    const steps = Array.from({ length: 8 }, (_, i) => ({ ...first, iops: first.iops, cpu: first.cpu && { ...first.cpu, ns_per_io: cost * (1 + i / 7) } }));
    const option = front({ title: "", steps, front: steps.slice(0, 1), tones: steps.map((_, i) => i) }, p, 600) as unknown as { series: { type: string; data: { label: { show: boolean; formatter: string } }[] }[] };
    const named = option.series.find((s) => s.type === "scatter")?.data.filter((d) => d.label.show).map((d) => Number(/\+(\d+)$/.exec(d.label.formatter)?.[1] ?? 0) + 1) ?? [];
    expect(named.length).toBeGreaterThan(1);
    expect(named.reduce((sum, n) => sum + n, 0)).toBe(steps.length);
  });
});

/** Labels of the bands and of the rings of a picture. */
function bendsOf(option: unknown): { bands: { from: number; to: number; said: string }[]; rings: (string | undefined)[] } {
  type Point = { symbolSize?: number; itemStyle?: { borderWidth?: number }; label?: { formatter?: string } };
  const series = (option as { series: { data?: Point[]; markArea?: { label: { formatter: string }; data: [{ xAxis: number }, { xAxis: number }][] } }[] }).series;
  return {
    bands: series.flatMap((s) => (s.markArea?.data ?? []).map(([from, to]) => ({ from: from.xAxis, to: to.xAxis, said: s.markArea?.label.formatter ?? "" }))),
    rings: series.flatMap((s) => (s.data ?? []).filter((d) => d.itemStyle?.borderWidth !== undefined).map((d) => d.label?.formatter)),
  };
}

describe("the knee", () => {
  const random = generator(4);
  const steps = [1, 2, 4, 8].map((threads, i) => measured(i, { op: "randread", block: 4096, threads, depth: 8 }, random));
  const knee = (takes_over: KneeView["takes_over"]): KneeView => ({ step: 2, at: 4, between: [1, 4], takes_over });
  const line: ScaleLine = { label: "a", axis: "threads", kind: "read", steps, efficiency: [1, 0.9, 0.6, 0.3], efficiencyCi95: [null, null, null, null], perUnit: steps[0]!.iops, knee: knee("device"), enough: steps[2] };
  const grown = (...of: ScaleLine[]): ReturnType<typeof bendsOf> => bendsOf(growth(of, "threads", p, 900));

  it("is a band over its range, named by the part that takes over; equal bands are drawn once", () => {
    expect(grown(line, { ...line, label: "b" }).bands).toEqual([{ from: 1, to: 4, said: "device" }]);
    expect(grown({ ...line, knee: knee(null) }).bands.map((b) => b.said)).toEqual(["knee"]);
    expect(grown({ ...line, knee: null, enough: undefined })).toEqual({ bands: [], rings: [] });
  });

  it("has the load with 95 % of the most next to it, as a ring whose label lies on no other", () => {
    expect(grown(line).rings).toEqual(["95 % of the peak at 4 threads"]);
    expect(grown(line, { ...line, label: "b" }).rings).toEqual(["95 % of the peak at 4 threads", undefined]);
  });

  it("has the label of its ring above the first point, from which the line falls, else below", () => {
    const labels = (enough: StepView): unknown => (growth([{ ...line, enough }], "threads", p, 900) as unknown as { series: { data?: { label?: { position: string } }[] }[] }).series.flatMap((s) => (s.data ?? []).flatMap((d) => d.label?.position ?? []));
    expect([labels(steps[0]!), labels(steps[1]!)]).toEqual([["top"], ["bottom"]]);
  });

  it("is drawn over the queue depth as well, with its sentences only where there is one", () => {
    const ladder = [1, 2, 4, 8].map((depth, i) => measured(i, { op: "randread", block: 4096, threads: 1, depth }, random));
    const one = { ...plainLine("a", "read", ladder), knee: knee("core"), enough: ladder[2] };
    expect(bendsOf(iopsOverDepth([one], p, 900))).toEqual({ bands: [{ from: 1, to: 4, said: "core" }], rings: ["95 % of the peak at QD 4"] });
    expect(bendsOf(iopsOverDepth([one], p, 360)).rings).toEqual(["QD 4"]);
    const loads = [1, 2, 4, 8];
    expect(bendNote([{ ...one, loads }], "Bars.", (range) => `QD ${range}`)).toMatch(/^Bars\. Shaded: .* Ring: /);
    expect(bendNote([{ ...plainLine("a", "read", ladder), loads }], "Bars.", (range) => `QD ${range}`)).toBe("Bars.");
  });

  it("is not drawn over a range of more than a factor of 4: the caption has the range and the reason", () => {
    const wide = { ...knee("core"), at: 8, between: [1, 8] as [number, number] };
    expect(grown({ ...line, knee: wide }).bands).toEqual([]);
    const note = (...of: { label: string; loads: number[] }[]): string => bendNote(of.map((l) => ({ ...l, knee: wide, enough: undefined })), "Bars.", (range) => `QD ${range}`);
    expect(note({ label: "a", loads: [1, 2, 4, 8] })).toBe("Bars. The knee cannot be located within QD 1 to 8: the 95 % intervals are too wide.");
    expect(note({ label: "a", loads: [1, 8] })).toBe("Bars. The knee cannot be located within QD 1 to 8: no load in between was measured.");
    expect(note({ label: "a", loads: [1, 2, 8] }, { label: "b", loads: [1, 2, 8] })).toContain("QD 1 to 8 (a), QD 1 to 8 (b)");
  });
});

describe("names beside a picture", () => {
  it("lose the words that all of them begin with, then words from the front, never the end", () => {
    const names = ["4k sequential write + fdatasync T1", "4k sequential write + fdatasync/64 T1"];
    expect(shortened(names, 400)).toEqual(names);
    expect(shortened(names, 150)).toEqual(["… fdatasync T1", "… fdatasync/64 T1"]);
    expect(shortened(["a very long name of one thing", "b"], 90)).toEqual(["… one thing", "b"]);
    expect(shortened(["/mnt/a-very-long-path/to/x.bin"], 80)).toEqual(["…h/to/x.bin"]);
  });

  it("stay different where their beginnings differ: the words that all of them hold are left out", () => {
    expect(shortened(["reader: 4k random read QD16", "writer: 4k random read QD16"], 100)).toEqual(["reader:", "writer:"]);
  });

  it("of ladders differ by all that differs: drives, placement, group", () => {
    const random = generator(4);
    const cells = [{}, { placement: "cores" }, { placement: "smt" }, { devices: 4 }, { group: "B" }] as Partial<StepView>[];
    const steps = cells.flatMap((of, k) => [1, 2, 4].map((threads, i) => ({ ...measured(3 * k + i, { op: "randread", block: 4096, threads, depth: 8 }, random), ...of })));
    const ladders = cells.map((_, k) => ({ axis: "threads" as const, points: [0, 1, 2].map((i) => ({ step: 3 * k + i, at: 2 ** i, efficiency: 1, efficiency_ci95: null })), knee: null, enough: null, may_bend: false, iops_error_pct_median: null }));
    const names = scaleLines({ steps, ladders }).map((l) => l.label);
    expect(new Set(names).size).toBe(5);
    expect(names[2]).toBe("A 4k random read QD8 1 target pinned to siblings");
    // One ladder alone needs no more than its load.
    expect(scaleLines({ steps, ladders: ladders.slice(0, 1) }).map((l) => l.label)).toEqual(["4k random read QD8"]);
  });

  it("fold between words where a row has room for two lines", () => {
    expect(shortened(["B: 128k sequential write QD4", "A: 4k random read QD16"], 130, 2)).toEqual(["B: 128k sequential\nwrite QD4", "A: 4k random read\nQD16"]);
  });
});

describe("equal loads of a comparison", () => {
  it("are named by the test that they belong to, else by their number", () => {
    const doc = pinning();
    const c = doc.comparison!;
    const [first, second] = c.steps;
    const twice = [first!, { ...first!, steps_a: [900] }, second!];
    expect([...comparedNames(twice, null).values()]).toEqual([`${first!.label} (1)`, `${first!.label} (2)`, second!.label]);
    const a = doc.steps.find((s) => s.index === first!.steps_a[0])!;
    const steps = [{ ...a, role: { test: "depth" } }, { ...a, index: 900, role: { test: "workers" } }] as StepView[];
    expect([...comparedNames(twice, { steps }).values()].slice(0, 2)).toEqual([`${first!.label}, by queue depth`, `${first!.label}, by threads`]);
  });
});

describe("words beside the rows of a picture", () => {
  it("have as much room as the longest takes", () => {
    const c = pinning().comparison!;
    const room = (steps: typeof c.steps): number => (forest(c, steps, "iops", p, 1086) as unknown as { grid: { right: number } }).grid.right;
    const wide = c.steps.map((s) => ({ ...s, verdict: "unsure" as const, metrics: s.metrics.map((m) => ({ ...m, ratio: 0.905, ci95: [0.83, 1.127] as [number, number] })) }));
    expect(room(wide)).toBeGreaterThan(18 + 7 * "−9.5 % [−17 %, +13 %] inconclusive".length - 1);
    const load = arrayLoads(raid())[0] as ArrayLoad;
    const option = arrayBars({ ...load, isBandwidth: true }, p, 390) as unknown as { grid: { right: number } };
    expect(option.grid.right).toBeGreaterThan(7 * "2.08 GB/s · 58 %".length);
  });
});

describe("two tests of one steady state", () => {
  it("are one statement where they disagree", () => {
    const s = snia().steps.find((x) => x.steady?.pts && x.steady.own)!;
    const with_ = (reached: boolean, own: boolean): StepView => ({ ...s, steady: { ...s.steady!, reached, own: { ...s.steady!.own!, reached: own, sentence: "Not steady: it drifts." } } });
    expect(steadiness(with_(true, false))).toMatch(/^The \d+ rounds of the test meet the limits of the specification; Fathom's own test: Not steady: it drifts\./);
    expect(steadiness(with_(true, true))).toMatch(/^Steady over/);
    expect(twoTests(with_(false, false))).toBeNull();
  });
});

describe("CPU time of an I/O", () => {
  it("is not known where it is 0", () => {
    const s = quick().steps.find((x) => x.cpu !== null)!;
    expect(cpuPerIo({ ...s, cpu: { ...s.cpu!, ns_per_io: 0 } })).toBeNull();
    expect(sortSteps([{ ...s, index: 1, cpu: { ...s.cpu!, ns_per_io: 0 } }, { ...s, index: 2, cpu: { ...s.cpu!, ns_per_io: 5 } }], "cpu", true).map((x) => x.index)).toEqual([2, 1]);
  });
});

describe("engines", () => {
  it("have one colour in all pictures", () => {
    const doc = engines();
    const [set] = engineSets(doc);
    const all = lines(doc);
    const looks = lineLooks(all, p);
    expect(new Set(set!.tones).size).toBeGreaterThan(1);
    // Lines of one engine are shades of its colour; a single one has the colour itself.
    set!.steps.forEach((s, i) => {
      const own = all.filter((l) => enginePath(l.steps[0]!) === enginePath(s));
      expect(new Set(own.map((l) => l.tone))).toEqual(new Set([set!.tones[i]]));
      if (own.length === 1) expect(looks[all.indexOf(own[0]!)]?.color).toBe(pathTone(set!.tones[i]!, p));
    });
  });

  it("have names above the picture where a ladder ends before the others", () => {
    const [line] = lines(quick());
    const shorter = { ...line!, steps: line!.steps.slice(0, -1) };
    expect(areLaddersNamed([line!, { ...line!, key: "b" }], 1086)).toBe(true);
    expect(areLaddersNamed([line!, shorter], 1086)).toBe(false);
  });

  it("have names that lie on no mark", () => {
    expect(freeSide([100, 100], 60, [[100, 100]], [400, 200])).toBe("top");
    expect(freeSide([100, 100], 60, [[100, 100], [110, 85]], [400, 200])).toBe("left");
    expect(freeSide([390, 5], 60, [[390, 5]], [400, 200])).toBe("left");
  });
});

describe("big figures", () => {
  it("stand in rows of about the same length", () => {
    expect([1, 6, 7, 8, 9, 15].map(perRow)).toEqual([1, 6, 7, 4, 5, 5]);
  });

  it("are no changes without an interval", () => {
    expect(isUnproved({ unit: "change_pct", ci95: null })).toBe(true);
    expect(isUnproved({ unit: "change_pct", ci95: [1, 2] })).toBe(false);
    expect(isUnproved({ unit: "iops", ci95: null })).toBe(false);
  });
});

describe("what the answer is about", () => {
  it("is the figure that the headline names, and the load of any of its rounds", () => {
    const doc = quick();
    const [first, second] = doc.verdict[0]!.figures;
    const named = { ...doc, verdict: [{ ...doc.verdict[0]!, brief: { ...doc.verdict[0]!.brief, headline: `${count3(second!.value)} IOPS of writes` } }] };
    expect(headlineStep(named)?.index).toBe(second!.step);
    expect(headlineStep({ ...doc, verdict: [{ ...doc.verdict[0]!, brief: { ...doc.verdict[0]!.brief, headline: "no figure" } }] })?.index).toBe(first!.step);
    const all = lines(doc);
    const answer = headlineStep(named)!;
    expect(answerLine(all, { ...answer, index: 901, label: "round 1" })).toBe(answerLine(all, answer));
  });

  it("has lines of both placements in one set", () => {
    const sets = lines(pinning()).filter((l) => l.family === "4k random" && l.kind === "read").map((l) => l.set);
    expect(new Set(sets).size).toBe(1);
  });

  it("opens the tails: the durable write, not the load with the deepest curve", () => {
    const doc = commit();
    const deepest = tailLine(lines(doc), undefined)!;
    const durable = doc.steps.find((s) => s.durability.sync !== null && !deepest.steps.includes(s))!;
    const answered = { ...doc, verdict: [{ ...doc.verdict[0]!, figures: [{ ...doc.verdict[0]!.figures[0]!, step: durable.index }] }] };
    expect(headlineStep(answered)).toBe(durable);
    expect(tailLine(lines(answered), durable)?.steps).toContain(durable);
  });

  it("is the latency of the sync where there is one: in the curve, in the words below it and in the table", () => {
    const [step] = commit().steps.filter((s) => s.durability.sync !== null && s.syncs?.lat_ns);
    const lat = step!.syncs!.lat_ns!;
    expect(answeredLatency(step!)).toBe(lat);
    expect(answeredTail(step!).map(([, ns]) => ns)).toEqual(QUANTILES.flatMap((q) => lat[q] ?? []));
    const slow = { ...step!, index: 900, lat_ns: { ...step!.lat_ns!, max: 1 }, syncs: { ...step!.syncs!, lat_ns: { ...lat, max: 9e9 } } };
    const fast = { ...step!, index: 901, lat_ns: { ...step!.lat_ns!, max: 5e9 } };
    expect(sortSteps([slow, fast], "max", false).map((s) => s.index)).toEqual([900, 901]);
  });

  it("is framed in the picture of reads and writes", () => {
    const [s] = surfacesOf(surfaceRun());
    const option = surface(s!, s!.pairs[2]!.view.step, "all", "p99", p, 900) as unknown as { series: { name?: string; data: unknown[] }[] };
    const pair = s!.pairs[2]!.view;
    expect(option.series.find((x) => x.name === "answer")?.data).toEqual([[pair.writes_per_s, pair.reads_per_s]]);
  });

  it("has a value in each square of that picture: with its unit, on a phone in the unit of the axis", () => {
    const [s] = surfacesOf(surfaceRun());
    const drawn = (width: number): { said: string[]; axis: string } => {
      const option = surface(s!, undefined, "all", "p99", p, width) as unknown as { yAxis: { name: string }; series: { name?: string; data: { label: { formatter: string } }[] }[] };
      return { said: option.series.find((x) => x.name === "values")!.data.map((d) => d.label.formatter), axis: option.yAxis.name };
    };
    expect(drawn(900).said.filter((x) => /^[\d.]+ (us|ms)$/.test(x)).length).toBe(6);
    const phone = drawn(362);
    expect(phone.said.filter((x) => /^[\d.]{1,4}$/.test(x)).length).toBe(6);
    expect([phone.said[6], /(us|ms)$/.test(phone.axis)]).toEqual(["×", true]);
  });
});

describe("figures that do not exist", () => {
  const [engine] = engines().steps;
  it("have no bar: the label of a CPU cost is the figure of the table", () => {
    const step = { ...engine!, cpu: { ...engine!.cpu!, ns_per_io: 1234, user_ns_per_io: -5000, system_ns_per_io: 9000 } };
    const option = cost([step], p, 900) as unknown as { series: { label?: { formatter: (q: { dataIndex: number }) => string } }[] };
    expect(option.series.flatMap((s) => s.label?.formatter({ dataIndex: 0 }) ?? [])).toEqual(["1.23 us"]);
  });

  it("have a row when the headline is of their step, with its mark", () => {
    const step = { ...engine!, cpu: null };
    const option = cost([engine!, step], p, 900, step) as unknown as { yAxis: { data: string[] }; series: { label?: { formatter: (q: { dataIndex: number }) => string } }[] };
    expect(option.yAxis.data.map((name) => name.startsWith("▸"))).toEqual([false, true]);
    expect(option.series.flatMap((s) => s.label?.formatter({ dataIndex: 1 }) ?? [])).toEqual(["not measured"]);
  });

  it("have no empty picture: no p99 over time where no interval has samples enough", () => {
    const without = { ...engine!, series: { ...engine!.series, p99_ns: engine!.series.p99_ns.map(() => null) } };
    const panels = (s: StepView): number => (overTime(s, "#000", p, 900) as unknown as { grid: unknown[] }).grid.length;
    expect([panels(engine!), panels(without)]).toEqual([2, 1]);
    expect(overTimePx(without)).toBeLessThan(overTimePx(engine!));
  });
});

describe("operations on files, and streams", () => {
  const make = (index: number, over: Partial<StepView>): StepView => ({ ...measured(index, { op: "write", block: 4096, threads: 1, depth: 1 }, generator(1)), ...over });
  it("are one row each, named by what they do", () => {
    const steps = [make(0, { op: "filecreate" }), make(1, { op: "filecreate", load_words: "+ fsync", threads: 4 }), make(2, { op: "filestat" }), make(3, { op: "write" })];
    const found = fileLoads({ steps });
    expect(found.map((s) => fileWord(s, 1))).toEqual(["create 4k", "create 4k + fsync T4", "stat"]);
    expect(fileWord(found[0]!, 2)).toBe("A create 4k");
    const option = files(found, p, 900) as unknown as { yAxis: { data: string[] }[]; grid: unknown[] };
    expect([option.yAxis[0]?.data, option.grid.length]).toEqual([["create 4k", "create 4k + fsync T4", "stat"], 3]);
  });

  it("that ran at once stand beside each other, with the stream alone", () => {
    const steps = [make(0, { role: { stream: { set: 0, index: 0, of: 2, name: "A" } } }), make(1, { role: { stream: { set: 0, index: 1, of: 2, name: "B" } } }), make(2, { role: { alone: { step: 0, name: "A" } } }), make(3, {})];
    expect(streamLoads({ steps }).map(streamWord)).toEqual(["A: 4k sequential write QD1", "B: 4k sequential write QD1", "A: 4k sequential write QD1 alone"]);
  });
});

describe("axes of the queue depth", () => {
  it("are per thread, with one thread count per line", () => {
    const doc = quick();
    const of = lines(doc).filter((l) => l.family === "4k random");
    const option = iopsOverDepth(of, p, 900) as unknown as { xAxis: { name: string } };
    expect(option.xAxis.name).toBe("queue depth per thread");
    for (const l of of) expect(new Set(l.steps.map((s) => s.threads)).size).toBe(1);
  });
});

describe("published figures", () => {
  it("are shown at once only where they are of the run's own model", () => {
    expect(isSameModel("Samsung PM1725 1.6 TB, Linux", ["pm1725-u2"])).toBe(true);
    expect(isSameModel("Intel SSD DC P3700 800 GB, Linux", ["INTEL SSDPEDMD800G4"])).toBe(false);
    expect(isSameModel("Intel Optane SSD DC P4800X 375 GB", ["SAMSUNG MZQL2", "SSD DC P4800X"])).toBe(true);
    expect(isSameModel("1x 64-core AMD EPYC, 2025", [])).toBe(false);
  });
});

describe("the whole run", () => {
  it("names the phases that are grey", () => {
    const all = (["measure", "probe", "fill"] as const).map((phase) => ({ from: 0, to: 1, step: { ...quick().steps[0]!, phase } }));
    expect(greyNote(all)).toBe("Grey: no figures are taken from these steps (probe of a limit, fill).");
  });
});

describe("groups", () => {
  it("stand by load from light to heavy, and are told apart as the document says", () => {
    const { names, rows } = groupRows(enterprise());
    expect(names).toEqual(["optane", "flash"]);
    expect(rows.filter((r) => r.workload === "4k random read").map((r) => r.threads * r.depth)).toEqual([4, 16, 64, 256]);
    const [row] = rows;
    if (!row) throw new Error("the fixture has groups");
    // The document judges; a load of which it does not know whether groups differ is shown, and nothing is said of it.
    const steps = [...row.steps.values()].map((s) => s.index);
    const folded = (are_apart: boolean | null): boolean => isNotToldApart({ groups: [{ steps: [900, 901], are_apart: !are_apart }, { steps, are_apart }] }, row);
    expect([folded(false), folded(true), folded(null)]).toEqual([true, false, false]);
    expect(isNotToldApart({ groups: [] }, row)).toBe(false);
  });

  it("that agree do not hide each other", () => {
    const { names, rows } = groupRows(enterprise());
    const option = dots(names, rows, "iops", dotMarks(rows, "iops"), p, 600) as unknown as { series: { type: string; symbolOffset?: [number, number]; symbolSize?: number }[] };
    const places = option.series.filter((s) => s.type === "scatter").map((s) => s.symbolOffset?.[1] ?? 0);
    expect(places.length).toBe(2);
    expect(Math.abs((places[1] ?? 0) - (places[0] ?? 0))).toBeGreaterThanOrEqual(8);
  });

  it("of one kind only make no rows", () => {
    expect(groupRows(documentOf(quick().steps)).rows).toEqual([]);
  });
});

describe("sides", () => {
  it("are joined along a ladder only", () => {
    const { comparison } = pinning();
    if (!comparison) throw new Error("the fixture compares");
    const sets = pairSets(comparison);
    const widths = (title: string): unknown[] => {
      const set = sets.find((s) => s.title === title);
      if (!set) throw new Error(title);
      const option = pairs(comparison, set, "lat_mean", p, 400) as unknown as { series: { type: string; xAxisIndex?: number; lineStyle?: { width: number } }[] };
      return [...new Set(option.series.filter((s) => s.type === "line" && s.xAxisIndex === undefined).map((s) => s.lineStyle?.width))];
    };
    expect(widths("4k random read")).toEqual([2]);
    expect(widths("8k random 70/30 mixed")).toEqual([0]);
  });
});
