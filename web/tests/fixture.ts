/** Runs that look real: a drive with 48 units behind a fixed delay, one thread limited by its core. Deterministic. */

import type { CurvePoint, Document, LadderView, LatencyView, StepView, Shown } from "../src/document";
import { QUANTILES } from "../src/document";

/** Small generator, so that every run of the tests sees the same numbers (mulberry32). */
export function generator(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Cell {
  op: "randread" | "randwrite" | "randrw" | "read" | "write";
  block: number;
  threads: number;
  depth: number;
  engine?: StepView["engine"];
  placement?: StepView["placement"];
  direct?: boolean;
}

const SHARE: Record<Cell["op"], number> = { randread: 100, randwrite: 0, randrw: 70, read: 100, write: 0 };

const quantileOf = (name: string): number => Number(name.slice(1)) / 100;

/** A long-tailed latency at a quantile, around a mean. */
function tailNs(mean: number, q: number): number {
  const n = -Math.log10(1 - q);
  return Math.round(mean * (0.86 + 0.1 * n + 0.055 * n ** 2.3));
}

function latencyView(mean: number, samples: number, iops: number): LatencyView {
  const view = { samples, mean, stddev: mean * 0.31, min: Math.round(mean * 0.7), max: tailNs(mean, 1 - 1 / samples), ci95: {}, needs: {} } as LatencyView;
  for (const name of QUANTILES) {
    const q = quantileOf(name);
    const beyond = samples * (1 - q);
    const ns = tailNs(mean, q);
    view[name] = beyond >= 100 ? ns : null;
    if (beyond >= 100) view.ci95[name] = [Math.round(ns * 0.98), Math.round(ns * 1.02)];
    else {
      const ios = Math.ceil(100 / (1 - q) - samples);
      view.needs[name] = { ios, seconds: ios / iops };
    }
  }
  return view;
}

function curve(mean: number, samples: number): CurvePoint[] {
  const deepest = Math.log10(samples / 100);
  const points: CurvePoint[] = [];
  for (let n = 0.02; n <= deepest; n += 0.05) {
    const q = 1 - 10 ** -n;
    points.push({ q, ns: tailNs(mean, q) });
  }
  return points;
}

const sizeWord = (bytes: number): string => (bytes >= 1048576 ? `${bytes / 1048576}m` : `${bytes / 1024}k`);

/** One measured step. */
export function measured(index: number, cell: Cell, random: () => number, seconds = 4, intervals = 20, cpus = 8): StepView {
  const write = SHARE[cell.op] === 0;
  const outstanding = cell.threads * cell.depth;
  const base = (write ? 22_000 : 78_000) + cell.block * 0.25;
  const cap = Math.min(write ? 310_000 : 560_000, 3.4e9 / cell.block);
  const coreCap = 185_000 * cell.threads;
  const ideal = outstanding / (base / 1e9);
  const limit = Math.min(cap, coreCap);
  const iops = (1 / (1 / ideal ** 4 + 1 / limit ** 4) ** 0.25) * (0.99 + 0.02 * random());
  const mean = (outstanding / iops) * 1e9;
  const ios = Math.round(iops * seconds);
  const name = ideal < 0.8 * limit ? "queue_depth" : cap <= coreCap ? "device" : "core";
  const random4 = cell.op.startsWith("rand");
  const opWord = cell.op === "randrw" ? "mixed 70/30" : write ? "write" : "read";
  const label = `${sizeWord(cell.block)} ${random4 ? "random" : "sequential"} ${opWord} T${cell.threads} QD${cell.depth}`;
  const user = 260 + 40 * random();
  const system = 2300 / Math.min(1.6, 1 + 0.1 * Math.log2(cell.depth)) + cell.block * 0.02 + 60 * random();
  const irq = 620 / Math.min(2, 1 + 0.2 * Math.log2(cell.depth)) + 30 * random();
  const busy = (iops * (user + system + irq)) / 1e9;
  const gap = seconds / intervals;
  const series = { start_s: [] as number[], iops: [] as number[], p50_ns: [] as (number | null)[], p99_ns: [] as (number | null)[], cpu_busy: [] as number[][] };
  for (let i = 0; i < intervals; i++) {
    const now = iops * (1 + 0.03 * (random() - 0.5) - (i === 0 ? 0.08 : 0));
    series.start_s.push(i * gap);
    series.iops.push(now);
    series.p50_ns.push(tailNs(mean, 0.5));
    series.p99_ns.push(now * gap >= 1000 ? Math.round(tailNs(mean, 0.99) * (0.95 + 0.12 * random())) : null);
    series.cpu_busy.push(Array.from({ length: cpus }, (_, c) => Math.min(1, Math.max(0, (c < cell.threads ? busy / cell.threads : 0.02) + 0.04 * random()))));
  }
  const wide = write && cell.depth >= 32 && cell.threads > 1;
  const lat = latencyView(mean, ios, iops);
  const direction = { ios, iops, bytes_per_s: iops * cell.block, short_ios: 0, lat_ns: lat };
  return {
    index, label, title: label, workload_title: label.replace(/ T\d+ QD\d+$/, ""), fixed_buffers: true, fixed_files: true, run_offset_s: null, ceilings: [], links: [],
    phase: "measure", group: "A", targets: ["./fathom.tmp"], state: "measured", reason: null, help: null,
    engine: cell.engine ?? "io_uring", mode: "interrupt", placement: cell.placement ?? "unpinned", cpus: [], op: cell.op, read_pct: SHARE[cell.op],
    pattern: random4 ? "random" : "sequential", block_size_bytes: cell.block, direct: cell.direct ?? true, footprint_bytes: 2 * 1024 ** 3,
    threads: cell.threads, queue_depth: cell.depth, devices: 1, rate_iops: null, started: "2026-11-21T02:03:04Z", runtime_s: seconds, setup_ms: 11.4,
    ios, errors: 0, iops, iops_ci95: [iops * (1 - 0.004), iops * (1 + 0.004)], bytes_per_s: iops * cell.block,
    iops_ci95_why_none: null, iops_ci95_needs_s: null, iops_ci95_blind_beyond_s: null, lat_ns: lat, depth: { asked: outstanding, in_flight: 0.9 * outstanding }, slat_ns: latencyView(900, Math.round(ios / 16), iops / 16), clat_ns: latencyView(mean - 900, Math.round(ios / 16), iops / 16), service_ns: null,
    read: write ? null : direction, write: write ? direction : null, trim: null, syncs: null, durability: { sync: null, write_through: "none" }, load_words: "",
    cpu: {
      busy_cores: busy, cpus_online: cpus, ns_per_io: user + system + irq + (wide ? 140 : 0), user_ns_per_io: user, system_ns_per_io: system, irq_ns_per_io: irq, kernel_worker_ns_per_io: wide ? 140 : 0,
      interrupts_per_io: 0.4, context_switches_per_io: 0.35, iops_per_core: iops / busy, busy_physical_cores: busy, iops_per_physical_core: iops / busy, baseline_busy_cores: 0.06, other_programs_cores: 0, unexplained_cores: 0, steal_pct: 0, busiest_cpu: [0, Math.min(1, busy / cell.threads)],
    },
    limit: {
      name, probability: name === "queue_depth" ? 0.93 : 0.78, confidence: name === "queue_depth" ? "confirmed" : "likely",
      sentence: name === "queue_depth" ? `With ${outstanding} in flight the drive waits for work.` : name === "core" ? "The one core that submits is busy all the time." : "More in flight brings no more I/O per second.",
      evidence: [{ name: "workers_busy", label: "busiest CPU", value: Math.min(100, (100 * busy) / cell.threads), unit: "pct" }, { name: "mean_in_flight", label: "in flight", value: outstanding, unit: "count" }], would_help: [],
    },
    steady: { reached: !wide, why: wide ? "drifts" : null, pts: null, own: null, series: [], rounds: intervals, warmup_intervals: 1, drift_pct_per_minute: wide ? -9.1 : 0.2, drift_ci95: wide ? [-11.2, -7.4] : [-0.6, 0.9] },
    predicted: null, percentile_curve: curve(mean, ios), series,
    checks: [
      { name: "littles_law", ok: true, sentence: `IOPS x mean latency = ${(outstanding * 0.998).toFixed(2)}, in flight ${outstanding.toFixed(2)}` },
      { name: "bytes", ok: true, sentence: "bytes = I/Os x block size" },
      { name: "diskstats", ok: wide ? false : true, sentence: wide ? "the kernel counted 3.1 % more writes than were made here" : "the kernel counted the same I/Os within 0.2 %" },
      { name: "page_cache", ok: null, sentence: "the file system does not tell what is cached" },
    ],
    features: [{ name: "fixed_buffers", used: true, state: "used", detail: "" }, { name: "fixed_files", used: true, state: "used", detail: "" }, { name: "registered_ring", used: true, state: "used", detail: "" }, { name: "iopoll", used: false, state: "not_asked", detail: "not asked for" }],
    workers: Array.from({ length: cell.threads }, (_, t) => ({ index: t, targets: ["./fathom.tmp"], cpus_allowed: [], cpus_seen: [t], migrations: 0, ios: Math.round(ios / cell.threads), passes: 0, in_flight_max: cell.depth })),
    host_delta: {
      window_ns: seconds * 1e9, measured_ns: seconds * 1e9, disks_ns: seconds * 1e9, missed_ns: 0, idle_baseline_interrupts: 0, idle_baseline_context_switches: 0, vectors: [], drives: [], core_of: [], cpu_series: { cpus: [], shares_pct: [], interrupts: [], context_switches: [] }, cpus: Array.from({ length: cpus }, (_, c) => [c, { user_ns: 1e8, system_ns: 9e8, irq_ns: 1e7, softirq_ns: 2e7, steal_ns: 0, iowait_ns: 0, idle_ns: 3e9 }]),
      idle_baseline: { user_ns: 0, system_ns: 1e7, irq_ns: 0, softirq_ns: 0, steal_ns: 0, iowait_ns: 0, idle_ns: 8e9 }, idle_baseline_window_ns: 1e9,
      threads: [{ name: "fathom-w0", kernel: false, user_ns: 2e8, system_ns: 2e9, waited_ns: 0 }], kernel_threads: [], members: [], interrupts: Math.round(ios * 0.4), context_switches: Math.round(ios * 0.35),
      disks: [{ device: "nvme0n1", read_ios: write ? 0 : ios, read_bytes: write ? 0 : ios * cell.block, read_merges: 0, write_ios: write ? ios : 3, write_bytes: write ? ios * cell.block : 12288, write_merges: 0, discard_ios: 0, busy_ns: seconds * 1e9, weighted_ns: Math.round(outstanding * seconds * 1e9) }],
      sampler_ns: 900_000, cpu_busy_by_interval: series.cpu_busy, page_cache_bytes: null, allocated_bytes: null,
    },
    overhead: { loop_ns_per_io: 41, batch_stamp_error_ns_mean: 120, ios_per_submit: Math.min(16, cell.depth) }, clock: { source: "tsc", read_cost_ns: 8.1, drift_ppm: 0.4 },
    failures: [], verify: null, open_loop: null,
    warnings: wide ? [{ kind: "not_steady", drift_pct_per_minute: -9.1 }] : [],
    warning_texts: wide ? ["Not steady after 4 s: drift -9.1 % per minute; `fathom run enterprise` measures at steady state."] : [],
  };
}

/** A step that the guard refused. */
export function refused(index: number, cell: Cell): StepView {
  const s = measured(index, cell, generator(1));
  return {
    ...s, state: "refused", reason: "O_DIRECT is not supported by tmpfs (./fathom.tmp)", help: "Measure a file on a disk, or ask for buffered I/O with --direct=0.",
    runtime_s: 0, setup_ms: 0, started: null, ios: 0, iops: 0, iops_ci95: null, bytes_per_s: 0, lat_ns: null, depth: null, slat_ns: null, clat_ns: null, read: null, write: null, cpu: null, host_delta: null,
    limit: { name: "unknown", probability: null, confidence: "unknown", sentence: "", evidence: [], would_help: [] }, steady: null, percentile_curve: [], series: { start_s: [], iops: [], p50_ns: [], p99_ns: [], cpu_busy: [] },
    checks: [], features: [], workers: [], overhead: null, clock: null, warnings: [], warning_texts: [],
  };
}

const SEED = "11400714819323198485";

/** Ladders over the queue depth, as the binary derives them from these steps, whose figures have no spread to speak of. */
function laddersOf(steps: readonly StepView[]): LadderView[] {
  const families = new Map<string, StepView[]>();
  for (const s of steps.filter((x) => x.ios > 0)) {
    const key = [s.op, s.block_size_bytes, s.threads, s.engine, s.placement, s.direct].join(" ");
    families.set(key, [...(families.get(key) ?? []), s].sort((a, b) => a.queue_depth - b.queue_depth));
  }
  return [...families.values()].map((of) => {
    const first = of[0] as StepView;
    const points = of.map((s) => ({ step: s.index, at: s.queue_depth, efficiency: s.iops / s.queue_depth / (first.iops / first.queue_depth), efficiency_ci95: null }));
    const bent = points.findIndex((p) => p.efficiency < 0.9);
    const knee = points[bent];
    return { axis: "queue_depth", points, knee: knee ? { step: knee.step, at: knee.at, between: [points[bent - 1]?.at ?? 0, knee.at], takes_over: of[bent]?.limit.name ?? null } : null, enough: points.find((p) => (of.find((s) => s.index === p.step)?.iops ?? 0) >= 0.95 * Math.max(...of.map((s) => s.iops)))?.step ?? null, may_bend: false, iops_error_pct_median: null };
  });
}

/** A run around its steps. */
export function documentOf(steps: StepView[], id = 7): Document {
  const usable = steps.filter((s) => s.state === "measured");
  const best = (op: string): StepView | undefined => usable.filter((s) => s.op === op).sort((a, b) => b.iops - a.iops)[0];
  const [read, write, sequential] = [best("randread"), best("randwrite"), best("read")];
  const first = usable.find((s) => s.op === "randread" && s.queue_depth === 1);
  const figures = [
    read && { name: "Most random reads", value: read.iops, unit: "iops", ci95: read.iops_ci95, load: read.label, step: read.index },
    write && { name: "Most random writes", value: write.iops, unit: "iops", ci95: write.iops_ci95, load: write.label, step: write.index },
    first?.lat_ns && { name: "Read latency, p50", value: first.lat_ns.p50 ?? 0, unit: "ns", ci95: first.lat_ns.ci95["p50"] ?? null, load: first.label, step: first.index },
    read?.cpu && { name: "CPU per read", value: read.cpu.user_ns_per_io + read.cpu.system_ns_per_io + read.cpu.irq_ns_per_io, unit: "ns_per_io", ci95: null, load: read.label, step: read.index },
    sequential && { name: "Sequential read", value: sequential.bytes_per_s, unit: "bytes_per_s", ci95: sequential.iops_ci95?.map((v) => v * sequential.block_size_bytes) as [number, number], load: sequential.label, step: sequential.index },
  ].filter((f) => f !== undefined && f !== null);
  return {
    fathom: "0.1.0", schema: 1,
    run: {
      id, study: "quick", question: "How fast is this, and what stops it?", state: "finished", started: "2026-11-21T02:03:04Z", finished: "2026-11-21T02:04:16Z", elapsed_s: 72.4,
      command: "fathom run quick",
      plan: {
        study: { name: "quick", question: "How fast is this, and what stops it?" },
        source: '[study]\nname = "quick"\nquestion = "How fast is this, and what stops it?"\n\n[defaults]\nengine = "io_uring"\nbs = "4k"\n\n[[ladder]]\nrw = ["randread", "randwrite"]\niodepth = [1, 8, 32]\n',
        steps: steps.map((s) => planStep(s)) as unknown as Document["run"]["plan"]["steps"], notes: ["File of 2 GiB: the target has 41 GiB free."],
      },
      fio_commands: usable.map((s) => ({ step: s.index, command: `fio --name=s${s.index} --filename=./fathom.tmp --direct=1 --ioengine=io_uring --rw=${s.op} --bs=${s.block_size_bytes} --iodepth=${s.queue_depth} --numjobs=${s.threads} --time_based --runtime=4 --size=2g --group_reporting` })),
    },
    host: {
      cpu_model: "AMD EPYC 9354P 32-Core Processor", cores: 4, packages: 1, numa_nodes: 1, clocksource: "tsc", governor: "performance", kernel: "6.12.57+deb13-amd64",
      topology: { cpus: Array.from({ length: 8 }, (_, c) => ({ id: c, core: c % 4, package: 0, node: 0, siblings: [c % 4, (c % 4) + 4], allowed: true })) },
      memory_bytes: 33554432000, hypervisor: null, mitigations: 4, io_uring_disabled: 0,
      targets: [
        {
          path: "./fathom.tmp", mount: { mount_point: "/", fs_type: "ext4", source: "/dev/nvme0n1p2", device_number: "259:2", options: "rw,relatime", read_only: false },
          device: {
            name: "nvme0n1", dev_path: "/dev/nvme0n1", number: "259:0", kind: "disk", partition: "nvme0n1p2", slaves: [], model: "Samsung PM9A3", serial: "NE0R", firmware: "GDC5602Q", size_bytes: 1920383410176,
            logical_block_bytes: 512, physical_block_bytes: 4096, rotational: false, scheduler: "none", nr_requests: 1023, hw_queues: 8, write_cache: "write through", transport: "nvme-pcie", numa_node: 0, read_only: false,
          },
          no_device_because: null,
        },
      ],
    },
    trust: { level: "usable", reasons: ["95 % intervals are ±8.0 % wide"], mend: "run 2 min 00 s longer (--time-budget)" },
    verdict: [
      {
        question: "How fast is this, and what stops it?",
        answer: "This drive gives 541k random reads a second. One core carries 183k of them, so a single thread is CPU-bound from queue depth 16 on; with 4 threads the drive itself is the limit.",
        evidence: ["T1 QD32: 183k IOPS with the core 96 % busy; T4 QD32: 541k IOPS with cores 71 % busy.", "From T4 QD16 to T4 QD32 the rate grew by 2 %, the latency by 96 %."],
        would_help: ["For latency at QD 1: polled queues, about -2 us (no poll queues are configured)."],
        caveats: usable.some((s) => s.warnings.length > 0) ? ["4k random write T4 QD32 was not steady: use `fathom run enterprise` for a steady figure."] : [],
        brief: {
          headline: "541k IOPS ±0.4 % of 4k random reads at T4 QD32, limited by the device (96 %).",
          rows: figures.slice(0, 3).map((f) => ({ name: f.name, cells: ["541k IOPS ±2.1 %", "QD 32", "p99 2.76 ms", "the device (96 %)"] })),
          next: { command: "fathom run qos --target /dev/nvme0n1", why: "how latency grows with the load" },
        },
        figures: figures as Document["verdict"][number]["figures"],
      },
    ],
    steps,
    ladders: laddersOf(steps),
    loops: [],
    stream_sets: [],
    groups: [],
    goals: [],
    surfaces: [],
    arrays: [],
    paths: [],
    comparison: null,
    references: [],
    prediction: null,
  };
}

/** A planned step as the binary writes it; the page reads the seed only. */
function planStep(s: StepView): object {
  return {
    index: s.index, label: s.label, phase: "measure", group: s.group, targets: s.targets.map((path) => ({ path })),
    workload: {
      mix: { read_pct: s.read_pct, write_pct: 100 - s.read_pct, trim_pct: 0 }, pattern: { kind: s.pattern }, block_sizes: [{ bytes: s.block_size_bytes, share_pct: 100 }],
      region: { offset_bytes: 0, size_bytes: s.footprint_bytes }, data: { compress_pct: 0, dedupe_pct: 0 }, verify: null, direct: s.direct,
    },
    load: { threads: s.threads, queue_depth: s.queue_depth, batch_submit: null, batch_complete_min: null, rate: null },
    engine: { name: s.engine, mode: "interrupt", fixed_buffers: true, fixed_files: true, sqpoll_cpu: null, paranoid: false },
    placement: { kind: "unpinned" }, length: { ramp_ns: 0, floor_ns: 4e9, budget_ns: 4e9, iops_rel_half_width: 0.01, p99_rel_half_width: 0.05, passes: null }, seed: SEED,
  };
}

/** The `quick` study: 14 steps, one of them refused. */
export function quick(): Document {
  const random = generator(7);
  const cells: Cell[] = [
    ...[1, 4, 16, 32, 64].map((depth): Cell => ({ op: "randread", block: 4096, threads: 1, depth })),
    ...[8, 32].map((depth): Cell => ({ op: "randread", block: 4096, threads: 4, depth })),
    ...[1, 8, 32].map((depth): Cell => ({ op: "randwrite", block: 4096, threads: 1, depth })),
    { op: "randwrite", block: 4096, threads: 4, depth: 32 },
    { op: "read", block: 131072, threads: 1, depth: 8 },
    { op: "write", block: 131072, threads: 1, depth: 8 },
  ];
  const steps = cells.map((c, i) => measured(i, c, random));
  return documentOf([...steps, refused(steps.length, { op: "randrw", block: 4096, threads: 1, depth: 32 })]);
}

/** A ladder of a thousand steps. */
export function thousand(): Document {
  const random = generator(11);
  const steps: StepView[] = [];
  for (const engine of ["io_uring", "libaio"] as const)
    for (const op of ["randread", "randwrite", "randrw", "read", "write"] as const)
      for (const block of [4096, 8192, 65536, 131072])
        for (const threads of [1, 2, 4, 8, 16])
          for (const depth of [1, 4, 16, 64, 256]) steps.push(measured(steps.length, { op, block, threads, depth, engine }, random));
  return documentOf(steps, 1000);
}

/** JSON as the binary writes it: seeds are numbers there. */
export function toJson(doc: Shown): string {
  return JSON.stringify(doc).replaceAll(`"seed":"${SEED}"`, `"seed":${SEED}`);
}
