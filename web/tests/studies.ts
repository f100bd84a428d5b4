/** Runs of the studies, made from the steps of `fixture`: what their pictures are drawn from. Deterministic. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ComparedMetric, ComparedStep, Comparison, Document, StepView } from "../src/document";
import { documentOf, generator, measured, type Cell } from "./fixture";

const DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128];

function metric(name: ComparedMetric["name"], unit: ComparedMetric["unit"], more: boolean, a: number, ratio: number, half: number): ComparedMetric {
  const away = Math.abs(ratio - 1) - half;
  const verdict = away > 0.01 ? (ratio > 1 === more ? "better" : "worse") : Math.abs(ratio - 1) + half < 0.02 ? "same" : "unsure";
  return { name, unit, more_is_better: more, a, b: a * ratio, ratio, ci95: [ratio - half, ratio + half], verdict, pairs: [] };
}

function compared(step: StepView, gain: number, half: number): ComparedStep {
  const iops = metric("iops", "iops", true, step.iops, 1 + gain, half);
  const cpu = step.cpu ? step.cpu.user_ns_per_io + step.cpu.system_ns_per_io + step.cpu.irq_ns_per_io : 3000;
  const verdict = ({ better: "faster", worse: "slower", same: "same", unsure: "unsure" } as const)[iops.verdict];
  return {
    label: step.label, label_message: step.label, group: step.group,
    load: { op: step.op, read_pct: step.read_pct, pattern: step.pattern, block_size_bytes: step.block_size_bytes, threads: step.threads, queue_depth: step.queue_depth, devices: step.devices, durability: step.durability, load_words: step.load_words },
    side: "B", steps_a: [step.index], steps_b: [step.index + 1], design: "paired", metric: "iops", ratio: iops.ratio, ci95: iops.ci95, verdict, p_value: 0.004, p_adjusted: verdict === "faster" ? 0.012 : 0.31,
    inconclusive: verdict === "unsure" ? "the interval holds both a difference and none" : null, spread: null,
    metrics: [
      iops,
      metric("lat_mean", "ns", false, step.lat_ns?.mean ?? 1, 1 / (1 + gain), half),
      metric("lat_p99", "ns", false, step.lat_ns?.p99 ?? 1, 1 / (1 + 1.3 * gain), 2 * half),
      metric("cpu_per_io", "ns_per_io", false, cpu, 1 - gain / 2, half),
    ],
    notes: step.warnings.length > 0 ? ["One side was not steady."] : [],
  };
}

/** A comparison of two placements: helps most at shallow queues. */
export function comparisonOf(steps: readonly StepView[], sides: [string, string], environment: Comparison["environment"] = []): Comparison {
  const side = (name: string, title: string, run: number): Comparison["sides"][number] => ({ name, title, run, runs: [run], study: "pinning", started: "2026-11-21T02:03:04Z", state: "finished", command: "fathom run pinning" });
  return {
    fathom: "0.1.0", schema: 1, kind: "comparison", sides: [side("A", sides[0], 6), side("B", sides[1], 7)], environment, margin_pct: 2, false_discovery_rate: 0.05,
    answer: "B is faster in 6 of 16 steps, slower in none, the same in 7; in 3 it cannot be told.", caveats: [],
    besides: environment.length === 0 ? null : `Differs besides: ${environment.map((d) => d.what).join("; ")}`,
    brief: {
      headline: "B is faster in 6 of 16 steps, slower in none, the same in 7; in 3 it cannot be told.",
      rows: steps.slice(0, 6).map((s) => ({ name: s.label, cells: ["100k to 126k IOPS", "+26.0 % (95 % interval +24.2 to +27.8 %)", "faster"] })),
      next: { command: "fathom compare 6 7 -o compare.html", why: "the page with pictures" },
    },
    steps: steps.map((s) => compared(s, (s.op === "randread" ? 0.26 : 0.12) / s.queue_depth ** 0.9, 0.006 + 0.012 / s.queue_depth)),
    unmatched: [{ side: "A", label: "4k random read T16 QD2", why: "B has no step with this load", lost: false }],
  };
}

/** `pinning`: reads and writes over queue depth, and three loads, unpinned against cores. */
export function pinning(): Document {
  const random = generator(3);
  const cells: Cell[] = [
    ...(["randread", "randwrite"] as const).flatMap((op) => DEPTHS.map((depth): Cell => ({ op, block: 4096, threads: 1, depth }))),
    ...([[1, 4], [16, 2]] as const).map(([threads, depth]): Cell => ({ op: "randrw", block: 8192, threads, depth })),
  ];
  const unpinned = cells.map((c, i) => measured(2 * i, c, random));
  const pinned = cells.map((c, i) => measured(2 * i + 1, { ...c, placement: "cores" }, random));
  const steps = unpinned.flatMap((s, i) => [s, pinned[i] as StepView]);
  const doc = documentOf(steps);
  return { ...doc, run: { ...doc.run, study: "pinning" }, comparison: comparisonOf(unpinned, ["unpinned", "placement=cores"]) };
}

/** `enterprise` on two groups. */
export function enterprise(): Document {
  const random = generator(5);
  const steps: StepView[] = [];
  for (const group of ["optane", "flash"])
    for (const cell of [["randread", 4096], ["randrw", 8192]] as const)
      for (const [threads, depth] of [[2, 2], [4, 4], [8, 8], [16, 16]] as const) {
        const s = measured(steps.length, { op: cell[0], block: cell[1], threads, depth }, random);
        const lat = s.lat_ns;
        const slow = group === "flash" ? 1.7 : 1;
        steps.push({ ...s, group, iops: s.iops / slow, lat_ns: lat && { ...lat, mean: lat.mean * slow, max: Math.round(lat.max * 3 * slow) } });
      }
  return documentOf(steps);
}

/** `scaling`: one to eight drives behind one link, and one to four threads. */
export function scaling(): Document {
  const random = generator(6);
  const drives = [1, 2, 4, 8].map((n, i): StepView => {
    const s = measured(i, { op: "randread", block: 4096, threads: 4, depth: 32 }, random);
    const iops = Math.min(n * s.iops, 5.2 * s.iops);
    return { ...s, label: `4k random read T4 QD32 D${n}`, devices: n, iops, iops_ci95: [iops * 0.99, iops * 1.01], limit: { ...s.limit, name: n > 4 ? "uplink" : "device" } };
  });
  const threads = [1, 2, 4].map((n, i) => measured(4 + i, { op: "randwrite", block: 4096, threads: n, depth: 8 }, random));
  return documentOf([...drives, ...threads]);
}

/** `engines`: one load through four ways. */
export function engines(): Document {
  const random = generator(8);
  const doc = documentOf((["libaio", "io_uring", "io_uring_cmd", "null"] as const).map((engine, i) => measured(i, { op: "randread", block: 4096, threads: 1, depth: 16, engine }, random)));
  // Judged by the program: these two none beats in both rate and cost.
  return { ...doc, paths: [{ steps: [0, 1, 2, 3], front: [0, 3] }] };
}

/** `surface`: pairs of rates, their edge, and what each showed. */
export function surfaceRun(): Document {
  const random = generator(14);
  const cells = [[0, 40e3, "kept"], [10e3, 30e3, "kept"], [20e3, 10e3, "kept"], [10e3, 10e3, "kept"], [20e3, 30e3, "missed"], [30e3, 10e3, "unknown"], [30e3, 40e3, "not_held"]] as const;
  const steps = cells.map(([writes, reads], i): StepView => {
    const s = measured(i, { op: "randrw", block: 4096, threads: 1, depth: 64 }, random);
    const rates = { read_pct: Math.round(reads / 500), write_pct: Math.round(writes / 400) };
    return { ...s, rate_iops: reads + writes, write: s.read, role: { rate_pair: rates, latency_goal: { p99_ns: 1e6 } } };
  });
  const pairs = cells.map(([writes_per_s, reads_per_s, outcome], step) => ({ step, reads_per_s, writes_per_s, outcome }));
  return { ...documentOf(steps), surfaces: [{ group: "A", goal: { p99_ns: 1e6 }, pairs, edge: [0, 1, 2] }] };
}

/** `raid`: two levels under small and sequential writes, one of them also without a member. */
export function raid(): Document {
  const random = generator(15);
  const steps: StepView[] = [];
  const arrays: Document["arrays"] = [];
  const add = (level: string, op: Cell["op"], block: number, missing: number, per: [number, number], ceiling: number | null, threads = 8): void => {
    const s = measured(steps.length, { op, block, threads, depth: threads > 1 ? 32 : 1 }, random);
    const load = block === 4096 ? "4k random writes" : block === 65536 ? "64k sequential writes" : "sequential writes of whole stripes";
    arrays.push({ step: s.index, load, level, chunk_bytes: 65536, members: 4, missing, member_reads: per[0], member_writes: per[1], member_shares_pct: [26, 25, 25, 24], ceiling_iops: ceiling, ceiling_ci95: ceiling === null ? null : [0.98 * ceiling, 1.02 * ceiling], bare_iops: ceiling === null || per[1] === 0 ? null : 1.2 * ceiling, written_per_byte: null, rebuild: null });
    steps.push({ ...s, targets: [`raid5:64k:a,b,c,d`], group: "A" });
  };
  for (const [level, writes] of [["raid10", [0, 2]], ["raid5", [2, 2]]] as const) {
    add(level, "randwrite", 4096, 0, [writes[0], writes[1]], 400e3);
    add(level, "randwrite", 4096, 0, [writes[0], writes[1]], 400e3, 1);
    add(level, "write", 65536, 0, [writes[0], writes[1]], 60e3);
  }
  add("raid10", "write", 131072, 0, [0, 4], 30e3);
  add("raid5", "write", 196608, 0, [0, 4], 20e3);
  add("raid5", "randwrite", 4096, 1, [2, 1.5], null);
  return { ...documentOf(steps), arrays };
}

/** `commit`: a log made durable in several ways, by one writer and by more. */
export function commit(): Document {
  const random = generator(12);
  const ways = [["O_DSYNC", null, "dsync"], ["+ fdatasync", 1, "none"], ["+ fdatasync/64", 64, "none"]] as const;
  const cell: Cell = { op: "write", block: 4096, threads: 1, depth: 1, engine: "psync", direct: false };
  const of = (i: number, threads: number, [words, writes, through]: (typeof ways)[number]): StepView => {
    const s = measured(i, { ...cell, threads }, random);
    const syncs = writes === null || !s.write ? null : { ...s.write, ios: Math.round(s.ios / writes) };
    return { ...s, durability: { sync: writes === null ? null : { kind: "fdatasync", writes }, write_through: through }, load_words: words, syncs };
  };
  const doc = documentOf([measured(0, cell, random), ...ways.map((way, i) => of(i + 1, 1, way)), ...[4, 16].map((threads, i) => of(i + 4, threads, ways[1]))]);
  // The headline's step has no CPU cost: the host was busier before the run than during it.
  const answer = { ...(doc.steps[2] as StepView), cpu: null };
  const figure = { name: "Durable writes", value: answer.iops, unit: "iops" as const, ci95: answer.iops_ci95, load: answer.label, step: answer.index };
  return { ...doc, steps: doc.steps.map((s) => (s.index === answer.index ? answer : s)), verdict: doc.verdict.map((v, i) => (i === 0 ? { ...v, figures: [figure, ...v.figures] } : v)) };
}

/** Files created, with an fsync as well, examined and deleted; too few of those with an fsync for a p99 in any interval. */
export function filesRun(): Document {
  const random = generator(13);
  const cell: Cell = { op: "write", block: 4096, threads: 1, depth: 1, engine: "psync", direct: false };
  const of = (index: number, op: StepView["op"], words: string, threads = 1): StepView => {
    const s = measured(index, { ...cell, threads }, random);
    const label = [op, op === "filecreate" ? "4k" : "", words, `T${threads} QD1`].filter((w) => w !== "").join(" ");
    return { ...s, op, load_words: words, label, title: label, workload_title: label.replace(/ T\d+ QD\d+$/, ""), series: { ...s.series, p99_ns: s.series.p99_ns.map((ns) => (words === "" ? ns : null)) } };
  };
  return documentOf([of(0, "filecreate", ""), of(1, "filecreate", "", 4), of(2, "filecreate", "+ fsync"), of(3, "filestat", ""), of(4, "filedelete", "")]);
}

/** Rounds that come to rest, with their determination table, after a fill; predicted beforehand. */
export function settledRun(): Document {
  const random = generator(9);
  const series = [182e3, 131e3, 104e3, 93e3, 89e3, 88e3, 89.4e3, 88.6e3, 88.9e3];
  const window = series.slice(4);
  const average = window.reduce((a, b) => a + b) / 5;
  const fill = { ...measured(0, { op: "write", block: 131072, threads: 1, depth: 8 }, random), phase: "fill" as const, label: "fill", run_offset_s: 0.5 };
  const s = measured(1, { op: "randwrite", block: 4096, threads: 4, depth: 16 }, random);
  const step: StepView = {
    ...s, run_offset_s: 6, predicted: { iops: s.iops * 1.07, lat_ns_mean: (s.lat_ns?.mean ?? 1) / 1.07, iops_error_pct: 7, lat_error_pct: -6.5, made: null },
    ceilings: [
      { name: "device", iops: s.iops * 1.1, bytes_per_s: null, sentence: "The catalogue gives the drive 341k random writes a second." },
      { name: "link", iops: s.iops * 4, bytes_per_s: 6.98e9, sentence: "Gen4 x4 carries 6.98 GB/s." },
    ],
    steady: {
      reached: true, why: null, rounds: series.length, warmup_intervals: 0, drift_pct_per_minute: 0.1, drift_ci95: [-0.2, 0.4], series,
      pts: {
        variable: "iops", reached: true, window: [5, 9], average, range_allowed: 0.2 * average, range: 1400, excursion_allowed: 0.1 * average, excursion: 320, slope: 80, intercept: average - 7 * 80,
        line: "y = 88220 + 80 x", determination: "rounds 5..9", drift_pct_per_round: -6.1,
      },
      own: { reached: true, why: null, sentence: "Steady after a warm-up of 4 rounds.", points: 9, warmup_points: 4, change_points: [], drift_pct_per_window: 0.3, drift_ci95_pct: [-0.4, 1], margin_pct: 5, left_at: null },
    },
  };
  return documentOf([fill, step]);
}

/** `qos`: percentiles of reads and of a mix. */
export function qos(): Document {
  const random = generator(10);
  const steps = (["randread", "randrw"] as const).flatMap((op, k) => [1, 4, 16, 64].map((depth, i) => measured(4 * k + i, { op, block: 4096, threads: 1, depth }, random)));
  const doc = documentOf(steps);
  return { ...doc, run: { ...doc.run, study: "qos" } };
}

/** A run on a machine that the Rust side wrote down (`machines/*.json`), with links under load. */
export function onMachine(name: "r740xd" | "links-in-trouble" | "laptop", doc: Document): Document {
  const machine = JSON.parse(readFileSync(resolve(import.meta.dirname, `machines/${name}.json`), "utf8")) as { inventory: never; advice: never };
  const inventory = machine.inventory as unknown as { drives: { name: string; pci_address: string | null }[]; interrupts: { vectors: { irq: number; device: string; queue: number | null }[] } };
  const targets = inventory.drives.slice(0, 4);
  const addresses = targets.flatMap((d) => (d.pci_address === null ? [] : [d.pci_address]));
  const steps = doc.steps.map((s): StepView => {
    if (!s.host_delta) return s;
    const share = Math.min(1, s.bytes_per_s / 4e9);
    const vectors = inventory.interrupts.vectors.slice(0, 40).map((v, i) => ({ irq: v.irq, device: v.device, queue: v.queue, count: 1000 * (40 - i), by_cpu: [[i % 32, 1000 * (40 - i)]] as [number, number][] }));
    return {
      ...s,
      links: addresses.map((address, i) => ({ address, link: "Gen3 x4", usable_bytes_per_s: 3.49e9, read_bytes_per_s: share * 3.49e9 * (1 - 0.2 * i), write_bytes_per_s: 0, load_share: share * (1 - 0.2 * i) })),
      host_delta: { ...s.host_delta, vectors },
    };
  });
  const host = { ...(doc.host as object), inventory: machine.inventory, advice: machine.advice, targets: targets.map((d) => ({ path: `/dev/${d.name}`, mount: null, device: { name: d.name }, no_device_because: null })) };
  return { ...doc, steps, host: host as unknown as Document["host"] };
}

/** `snia`: three rounds of a matrix, judged by its 4k writes, and writing until the drive is saturated, with one spike. */
export function snia(cpus = 4, seconds = 4): Document {
  const random = generator(12);
  const steps: StepView[] = [];
  const pts = settledRun().steps.find((s) => s.steady?.pts)?.steady;
  const add = (test: string, loop: number, round: number, cell: Cell, looked: boolean, iops?: number): void => {
    const s = measured(steps.length, cell, random);
    const busy = s.series.start_s.map(() => Array.from({ length: cpus }, () => random()));
    const scale = iops === undefined ? 1 : iops / s.iops;
    steps.push({
      ...s, iops: s.iops * scale, bytes_per_s: s.bytes_per_s * scale, series: { ...s.series, iops: s.series.iops.map((x) => x * scale), cpu_busy: busy }, steady: pts ?? null, runtime_s: s.runtime_s * (seconds / 4),
      role: { test, round: { loop_id: loop, index: round, max: 25, metric: looked ? "iops" : null } },
    });
  };
  for (const round of [0, 1, 2])
    for (const [op] of [["randread"], ["randrw"], ["randwrite"]] as const)
      for (const block of [1 << 20, 1 << 16, 4096]) add("iops", 0, round, { op, block, threads: 4, depth: 32 }, op === "randwrite" && block === 4096);
  [500e3, 480e3, 400e3, 330e3, 305e3].forEach((iops, round) => add("wsat", 1, round, { op: "randwrite", block: 4096, threads: 4, depth: 32 }, true, iops));
  const last = steps.at(-1);
  if (last) last.series = { ...last.series, iops: last.series.iops.map((x, i) => (i === 2 ? 20 * x : x)) };
  const mean = (of: StepView[]): number => of.reduce((n, s) => n + s.iops, 0) / of.length;
  const cellsOf = (loop: number): Document["loops"][number]["cells"] => {
    const of = steps.filter((s) => s.role?.round?.loop_id === loop);
    const keys = [...new Set(of.map((s) => `${s.op} ${s.block_size_bytes}`))];
    return keys.map((key) => { const same = of.filter((s) => `${s.op} ${s.block_size_bytes}` === key); return { step: same[0]?.index ?? 0, mean: mean(same), ci95: null }; });
  };
  const doc = documentOf(steps);
  const loop = (id: number, test: string, rounds: number): Document["loops"][number] => ({ loop_id: id, test, tracked: steps.find((s) => s.role?.round?.loop_id === id && s.role.round.metric !== null)?.index ?? null, rounds, unit: "iops", cells: cellsOf(id) });
  return { ...doc, run: { ...doc.run, study: "snia" }, loops: [loop(0, "iops", 3), loop(1, "wsat", 5)] };
}
