// Written from the Rust types. Refresh: FATHOM_REFRESH=1 cargo test -p fathom-report --test viewer_types

import type { Json } from "../document";

/**
 * A part of the region and its share of the I/Os.
 */
export type AccessZone = { 
/**
 * Share of the I/Os in percent; the zones' shares add up to 100.
 */
access_pct: number, 
/**
 * How large it is.
 */
space: ZoneSpace, };

/**
 * Whose work a step does without the streams beside it.
 */
export type Alone = { 
/**
 * Index of the stream's step.
 */
step: number, 
/**
 * The stream's name.
 */
name: string, };

/**
 * What a difference between runs belongs to.
 */
export type Area = "host" | "target" | "program" | "plan";

/**
 * What one knob or setting is on a side of a comparison.
 */
export type ArmPart = { "kind": "set", 
/**
 * Knob or setting.
 */
key: string, 
/**
 * The value that was given.
 */
value: string, } | { "kind": "as_in_study", 
/**
 * Knob.
 */
key: string, } | { "kind": "as_found", 
/**
 * Setting.
 */
key: string, };

/**
 * One member of an array.
 */
export type ArrayMember = { 
/**
 * Its name; `None` for one that is missing.
 */
target: TargetId | null, 
/**
 * I/Os.
 */
reads: number, 
/**
 * I/Os.
 */
writes: number, 
/**
 * Bytes.
 */
read_bytes: number, 
/**
 * Bytes.
 */
written_bytes: number, 
/**
 * errno of the failure by which the array lost it during the run; what it holds is out of date.
 */
failed_errno?: number | null, };

/**
 * What one array in user space did during a step, from its first I/O to its last: with what came before the measured
 * window and after it, so that the I/Os of the load and those on members are of the same time.
 */
export type ArrayRecord = { 
/**
 * The array, as the step names it.
 */
target: TargetId, 
/**
 * Reads of the load.
 */
reads: number, 
/**
 * Writes of the load.
 */
writes: number, 
/**
 * Parts of reads that a lost member would have served.
 */
degraded_reads: number, 
/**
 * Member reads that writes of the load cost.
 */
member_reads_for_writes: number, 
/**
 * Parts of writes, one in each row of chunks, whose parity came from new data alone.
 */
full_stripe_writes: number, 
/**
 * Those that read the data of the row that they left as it was.
 */
reconstruct_writes: number, 
/**
 * Those that read the old data and the old parity.
 */
modify_writes: number, 
/**
 * Those that read all that was left of the row.
 */
recover_writes: number, 
/**
 * The members in their order.
 */
members: Array<ArrayMember>, 
/**
 * Bytes that the load read of the array and wrote to it.
 */
load_bytes: number, 
/**
 * What was rebuilt of a member meanwhile.
 */
rebuild?: RebuildRecord | null, };

/**
 * A step on an array in user space, beside what its members gave without it.
 */
export type ArrayView = { 
/**
 * Index of the step.
 */
step: number, 
/**
 * What was done, wherever: `4k random writes`, `sequential writes of whole stripes`. The same on every level.
 */
load: Message, 
/**
 * `raid5`.
 */
level: string, 
/**
 * Bytes of a chunk.
 */
chunk_bytes: number, 
/**
 * Members, with those that are missing.
 */
members: number, 
/**
 * Members that were missing.
 */
missing: number, 
/**
 * Member reads for one I/O of the load, as the array counted them.
 */
member_reads: number, 
/**
 * Member writes for one I/O of the load.
 */
member_writes: number, 
/**
 * Share of each member in the I/Os of all, percent, in their order; 0 for one that is missing.
 */
member_shares_pct: Array<number>, 
/**
 * The most that the members allow, I/Os of the load per second; `None` where such I/Os were not measured on all of them at
 * once, or a member was missing.
 */
ceiling_iops: number | null, 
/**
 * Its 95 % interval.
 */
ceiling_ci95: [number, number] | null, 
/**
 * The same by the number of member I/Os alone, as if a read took as long as a write; `None` for reads.
 */
bare_iops: number | null, 
/**
 * Bytes that all members together wrote, by a rebuild too, for each byte of the load; `None` where that is not known.
 */
written_per_byte: number | null, 
/**
 * What was rebuilt of a member meanwhile, and what the load paid for it.
 */
rebuild: RebuildView | null, };

/**
 * A publication and the machines that stand for its platforms.
 */
export type Article = { 
/**
 * Name in the catalogue.
 */
id: string, 
/**
 * Title.
 */
title: string, 
/**
 * Who published it.
 */
publisher: string, 
/**
 * Where it can be read, where known.
 */
url: string | null, 
/**
 * Simulated machines: `r830-ws2016`.
 */
machines: Array<string>, };

/**
 * Place in an interleaved comparison. Steps with the same `cell` and `pass` pair up, one per `arm`.
 */
export type Block = { 
/**
 * Cell of the other knobs, unique in the plan (also over groups).
 */
cell: number, 
/**
 * Each pass holds every arm once; passes alternate in direction (A B, B A, A B...).
 */
pass: number, 
/**
 * Name of what differs: `placement=cores`, `scheduler=none`, `scheduler as found`. The same in every language.
 */
arm: string, 
/**
 * Position of the arm in its list: 0 is the baseline.
 */
arm_index: number, 
/**
 * What differs, one by one; empty in plans of older versions.
 */
arm_parts?: Array<ArmPart>, };

/**
 * Blocks by their numbers, over and over.
 */
export type BlockList = { 
/**
 * Numbers of blocks from the start of the region; not empty.
 */
blocks: Array<number>, 
/**
 * Whether each round through the list begins as many blocks later as the list is long.
 */
advances: boolean, };

/**
 * One entry of a block-size split.
 */
export type BlockSize = { 
/**
 * Bytes per I/O.
 */
bytes: number, 
/**
 * Share of the I/Os in percent; a split's shares add up to 100.
 */
share_pct: number, };

/**
 * The answer that fits a first look: a sentence, a small table, one command.
 */
export type Brief = { 
/**
 * One sentence of at most 25 words: the figure, and what limits it.
 */
headline: Message, 
/**
 * At most [`Brief::ROWS_MAX`].
 */
rows: Array<BriefRow>, 
/**
 * What to type next; `None` where nothing follows from the answer.
 */
next: NextCommand | null, };

/**
 * A row of the small table.
 */
export type BriefRow = { 
/**
 * What the row is about: `4k random writes`.
 */
name: Message, 
/**
 * What is said of it, each with its unit: `50.2k IOPS ±2.1 %`, `QD 32`, `p99 1.00 ms`, `device (96 %)`.
 */
cells: Array<Message>, };

/**
 * The most a part of the system could give under the step's load.
 */
export type CeilingView = { 
/**
 * Which part.
 */
name: LimitName, 
/**
 * I/Os per second.
 */
iops: number, 
/**
 * Bytes per second, where that is what the part is limited in.
 */
bytes_per_s: number | null, 
/**
 * How it was computed, with its numbers.
 */
sentence: Message, };

/**
 * What likely broke a check.
 */
export type CheckCause = "other_load";

/**
 * A law that must hold, or a claim of the step that the counters prove.
 */
export type CheckName = "littles_law" | "bytes" | "diskstats" | "page_cache" | "polled" | "submitted_by_poller" | "fixed_buffers" | "pinned";

/**
 * A law that must hold.
 */
export type CheckView = { 
/**
 * Which law.
 */
name: CheckName, 
/**
 * Whether it held; `None`: could not be checked (the sentence says why).
 */
ok: boolean | null, 
/**
 * What was compared with what.
 */
sentence: Message, 
/**
 * What likely broke it, where that is known.
 */
cause?: CheckCause, };

/**
 * The clock that stamped the I/Os.
 */
export type ClockUse = { 
/**
 * `tsc` or `clock_monotonic`.
 */
source: string, 
/**
 * Cost of one reading.
 */
read_cost_ns: number, 
/**
 * Difference to CLOCK_MONOTONIC over the step, parts per million.
 */
drift_ppm: number, 
/**
 * In virtual time, where less was run than was asked for.
 */
shortened?: ShortenedWindow | null, };

/**
 * A figure that comparisons set side by side.
 */
export type ComparedFigure = "iops" | "lat_mean" | "lat_p99" | "cpu_per_io";

/**
 * The load of a compared step, as in its [`StepView`].
 */
export type ComparedLoad = { 
/**
 * fio's word: `randread`.
 */
op: ReadWrite, 
/**
 * Share of reads.
 */
read_pct: number, 
/**
 * In which order blocks are touched: `random`, `sequential`, `zipf:1.2`...
 */
pattern: string, 
/**
 * Largest block of the split.
 */
block_size_bytes: number, 
/**
 * Of each target or of the step, as `spread` says.
 */
threads: number, 
/**
 * Which targets a thread drives.
 */
spread?: Spread, 
/**
 * Per thread.
 */
queue_depth: number, 
/**
 * Number of targets.
 */
devices: number, 
/**
 * What was to make the writes durable.
 */
durability: Durability, 
/**
 * Order and sizes beyond pattern and block size.
 */
order?: IoOrder, 
/**
 * What order, durability and pacing are called, in fio's words and names of calls; empty for a plain load.
 */
load_words: string, 
/**
 * What held threads back beside depth and rate.
 */
pacing?: Pacing, 
/**
 * Whether the page cache was emptied before.
 */
drop_cache?: boolean, };

/**
 * One figure on two sides.
 */
export type ComparedMetric = { 
/**
 * What it is.
 */
name: ComparedFigure, 
/**
 * `iops`, `ns` or `ns_per_io`.
 */
unit: Unit, 
/**
 * Whether more is better.
 */
more_is_better: boolean, 
/**
 * Figure of the reference.
 */
a: number, 
/**
 * Figure of the other side.
 */
b: number, 
/**
 * b / a as it stands, not turned to speed.
 */
ratio: number, 
/**
 * Its 95 % interval; `None` when too little is known.
 */
ci95: [number, number] | null, 
/**
 * How the side stands to the reference; `unsure` without an interval.
 */
verdict: Merit, 
/**
 * Ratio of each pair in the order measured (paired designs; the picture of the pairs).
 */
pairs: Array<number>, };

/**
 * One step on two sides.
 */
export type ComparedStep = { 
/**
 * Label on the reference side.
 */
label: string, 
/**
 * The same in words for people.
 */
label_message: Message, 
/**
 * Group of the targets.
 */
group: string, 
/**
 * What both sides were asked to do, so that pictures can place the step.
 */
load: ComparedLoad, 
/**
 * The side set against `A`.
 */
side: string, 
/**
 * Indexes of the steps of the reference, in its first run.
 */
steps_a: Array<number>, 
/**
 * Indexes of the steps of the other side, in its first run.
 */
steps_b: Array<number>, 
/**
 * How the two sides were measured.
 */
design: Design, 
/**
 * Which figure `ratio`, `ci95` and `verdict` speak of: `iops`, or `lat_mean` where the rate was given.
 */
metric: ComparedFigure, 
/**
 * Speed of the side over that of the reference: above 1 is faster. For a latency its inverse ratio.
 */
ratio: number | null, 
/**
 * 95 % interval of the ratio; `None` where what differs from run to run is not known.
 */
ci95: [number, number] | null, 
/**
 * How the side stands to the reference.
 */
verdict: Speed, 
/**
 * Why the verdict is `unsure`; `None` for others.
 */
inconclusive: Message | null, 
/**
 * The spread from run to run that the interval holds; `None` for sides of one run, and where it is not known.
 */
spread: SpreadUsed | null, 
/**
 * Probability of a ratio this far from 1 if there were no difference.
 */
p_value: number | null, 
/**
 * The same, adjusted for the number of steps compared.
 */
p_adjusted: number | null, 
/**
 * Every figure compared: `iops`, `lat_mean`, `lat_p99`, `cpu_per_io`, in this order, where both sides have it.
 */
metrics: Array<ComparedMetric>, 
/**
 * What a reader must know about this step, e.g. that one side was not steady.
 */
notes: Array<Message>, };

/**
 * Two or more runs, or the two sides of one run, set against each other. The first side, `A`, is the reference.
 */
export type Comparison = { 
/**
 * Version of the program that wrote it.
 */
fathom: string, 
/**
 * [`COMPARISON_SCHEMA`].
 */
schema: number, 
/**
 * Always `comparison`: tells it from a run's document.
 */
kind: ComparisonKind, 
/**
 * What is compared, reference first.
 */
sides: Array<Side>, 
/**
 * Differences between the sides that a reader must know first; empty when nothing known differs.
 */
environment: Array<Difference>, 
/**
 * Differences up to this share either way count as the same, percent.
 */
margin_pct: number, 
/**
 * Expected share of wrong `faster` and `slower` among all given, at most (Benjamini and Hochberg's q).
 */
false_discovery_rate: number, 
/**
 * One or two sentences.
 */
answer: Message, 
/**
 * The first look: the answer, the steps farthest apart, and how to go on; empty in older documents.
 */
brief: Brief, 
/**
 * What differs besides the figures, in a line; `None` where nothing known does.
 */
besides: Message | null, 
/**
 * What limits the trust in the answer; may be empty.
 */
caveats: Array<Message>, 
/**
 * One entry per step and side other than the reference, in the order of the reference.
 */
steps: Array<ComparedStep>, 
/**
 * Steps that stand alone, with the reason.
 */
unmatched: Array<Unmatched>, };

/**
 * Tells a comparison from a run's document.
 */
export type ComparisonKind = "comparison";

/**
 * What a measured step stands on.
 */
export type Conditioning = { 
/**
 * By which method.
 */
method: Precondition, 
/**
 * Loop whose rounds say whether steady state was reached; `None`: there was no loop.
 */
loop_id: number | null, };

/**
 * How sure the attribution is.
 */
export type Confidence = "confirmed" | "likely" | "unknown";

/**
 * What each CPU did, interval by interval. CPUs that did nothing all the time are left out.
 */
export type CpuSeries = { 
/**
 * Their numbers.
 */
cpus: Array<number>, 
/**
 * `[interval][cpu]`, in the order of `cpus`.
 */
shares_pct: Array<Array<CpuShares>>, 
/**
 * Interrupts of the whole host, per interval.
 */
interrupts: Array<number>, 
/**
 * Context switches of the whole host, per interval.
 */
context_switches: Array<number>, };

/**
 * What a CPU did in an interval, percent of it, by kind: user, system, irq, softirq, iowait, steal. The rest was idle.
 * The kernel counts in ticks (usually 10 ms), so an interval of 1 s is known to the percent.
 */
export type CpuShares = [number, number, number, number, number, number];

/**
 * Time of one CPU by kind over a window, nanoseconds (the kernel counts in ticks of 1/USER_HZ).
 */
export type CpuTime = { 
/**
 * User and nice.
 */
user_ns: number, 
/**
 * System.
 */
system_ns: number, 
/**
 * Hard interrupts.
 */
irq_ns: number, 
/**
 * Soft interrupts.
 */
softirq_ns: number, 
/**
 * Stolen by the hypervisor.
 */
steal_ns: number, 
/**
 * Idle while I/O was outstanding.
 */
iowait_ns: number, 
/**
 * Idle.
 */
idle_ns: number, };

/**
 * CPU cost of the whole host per I/O, without other programs (or, where they are not known, without the idle baseline).
 */
export type CpuView = { 
/**
 * Busy cores, all kinds, baseline subtracted.
 */
busy_cores: number, 
/**
 * Online CPUs.
 */
cpus_online: number, 
/**
 * All kinds of time together; `None` where other work or time that belongs to nothing known would be a good part of it.
 */
ns_per_io: number | null, 
/**
 * User time.
 */
user_ns_per_io: number, 
/**
 * System time, without interrupts and without kernel workers.
 */
system_ns_per_io: number, 
/**
 * Hard and soft interrupts.
 */
irq_ns_per_io: number, 
/**
 * Kernel threads working for the run (iou-sqp, iou-wrk, md).
 */
kernel_worker_ns_per_io: number, 
/**
 * Interrupts per I/O.
 */
interrupts_per_io: number, 
/**
 * Context switches per I/O.
 */
context_switches_per_io: number, 
/**
 * IOPS / `busy_cores`; `None` when hardly any CPU was used, or the idle host used more.
 */
iops_per_core: number | null, 
/**
 * Busy physical cores, baseline subtracted: a core is as busy as its busiest sibling. `busy_cores` without SMT.
 */
busy_physical_cores: number, 
/**
 * IOPS / `busy_physical_cores`; `None` as for `iops_per_core`.
 */
iops_per_physical_core: number | null, 
/**
 * Idle baseline, busy cores.
 */
baseline_busy_cores: number, 
/**
 * Busy cores of other programs during the step, in none of the other figures; `None` where they are not known.
 */
other_programs_cores: number | null, 
/**
 * Busy cores that belong to nothing known; part of the other figures.
 */
unexplained_cores: number, 
/**
 * Share of the window stolen by the hypervisor, percent of all CPUs.
 */
steal_pct: number, 
/**
 * Busiest CPU: number and busy share in [0, 1].
 */
busiest_cpu: [number, number] | null, };

/**
 * A point of the percentile curve.
 */
export type CurvePoint = { 
/**
 * Quantile in (0, 1).
 */
q: number, 
/**
 * Latency.
 */
ns: number, };

/**
 * What written data looks like.
 */
export type DataPattern = { 
/**
 * Share of each 4 KiB that compresses away, in [0, 100]. Default 0: incompressible.
 */
compress_pct: number, 
/**
 * Share of 4 KiB chunks that repeat, in [0, 100]. Default 0.
 */
dedupe_pct: number, 
/**
 * Which chunks repeat.
 */
repeats?: Repeats, };

/**
 * Queue depth: what was asked for, and what the device can have seen.
 */
export type DepthView = { 
/**
 * Slots that held an I/O or waited for their next, mean over the window.
 */
asked: number, 
/**
 * I/Os handed to the engine and not reaped, mean over the window.
 */
in_flight: number, };

/**
 * How two sides were measured.
 */
export type Design = "paired" | "unpaired";

/**
 * Something that differs between the sides besides the figures.
 */
export type Difference = { 
/**
 * What it belongs to.
 */
area: Area, 
/**
 * What: `kernel`, `CPU model`, `firmware of nvme0n1`, `runtime`...
 */
what: Message, 
/**
 * One value per side, in their order; `None`: that side does not say.
 */
values: Array<Message | null>, };

/**
 * One operation of a step.
 */
export type DirectionView = { 
/**
 * Completed I/Os.
 */
ios: number, 
/**
 * Per second.
 */
iops: number, 
/**
 * Bytes per second.
 */
bytes_per_s: number, 
/**
 * Short I/Os.
 */
short_ios: number, 
/**
 * As [`super::StepView::lat_ns`].
 */
lat_ns: LatencyView | null, };

/**
 * Kernel's own count for the whole device behind a target (/proc/diskstats) over the window.
 */
export type DiskDelta = { 
/**
 * Kernel name, e.g. `nvme0n1`.
 */
device: string, 
/**
 * Reads completed.
 */
read_ios: number, 
/**
 * Bytes read.
 */
read_bytes: number, 
/**
 * Reads merged into others.
 */
read_merges: number, 
/**
 * Writes completed.
 */
write_ios: number, 
/**
 * Bytes written.
 */
write_bytes: number, 
/**
 * Writes merged into others.
 */
write_merges: number, 
/**
 * Discards completed.
 */
discard_ios: number, 
/**
 * Time with at least one I/O in flight.
 */
busy_ns: number, 
/**
 * Sum over I/Os of their time in the block layer.
 */
weighted_ns: number, 
/**
 * Flushes that reached the device, as the block layer merged them; `None` where the kernel does not count them (before
 * Linux 5.5), and in older records.
 */
flushes?: FlushDelta, 
/**
 * Whether the kernel takes the device's cache for a volatile one, and flushes it; `None` where it does not tell.
 */
write_cache?: WriteCache, 
/**
 * Of an array of Linux md: what it does beside the load, before the window or after it; `None` for other devices.
 */
md?: MdState, };

/**
 * A run with everything derived from it.
 */
export type Document = { 
/**
 * Version of the program that wrote it.
 */
fathom: string, 
/**
 * [`SCHEMA`].
 */
schema: number, 
/**
 * The run.
 */
run: RunInfo, 
/**
 * Facts about the host at the time of the run (`fathom-host's `HostFacts` as JSON).
 */
host: Json, 
/**
 * How far the figures can be trusted; `None` in documents of older versions.
 */
trust: Trust | null, 
/**
 * Answers, most important first.
 */
verdict: Array<Verdict>, 
/**
 * What was measured, in order.
 */
steps: Array<StepView>, 
/**
 * Which steps differ in one thing alone, how much of proportion each gives, and where each ladder bends.
 */
ladders: Array<LadderView>, 
/**
 * Loops of rounds, with what each of their workloads gave where they were steady.
 */
loops: Array<LoopView>, 
/**
 * What streams that ran at once did together.
 */
stream_sets: Array<StreamSetView>, 
/**
 * Loads that several groups were put under, and whether the groups differ; empty with one group.
 */
groups: Array<GroupedLoad>, 
/**
 * How far each kind of load keeps each latency that was asked for; empty without a goal.
 */
goals: Array<GoalView>, 
/**
 * Rates of reads beside rates of writes, one surface for each group; empty for other studies.
 */
surfaces: Array<SurfaceView>, 
/**
 * Steps on arrays in user space beside what their members allow; empty for other runs.
 */
arrays: Array<ArrayView>, 
/**
 * Loads that were issued through several paths, and which of these none beats; empty with one path.
 */
paths: Array<PathsView>, 
/**
 * The two sides of a run that measured A against B (a placement, an engine, a setting); `None` for other runs.
 */
comparison: Comparison | null, 
/**
 * Published results of the same study, for marks beside the measured points.
 */
references: Array<Reference>, 
/**
 * What was predicted before it was measured, over all steps; `None` for runs without.
 */
prediction: PredictionView | null, };

/**
 * One drive over one step.
 */
export type DriveHealthView = { 
/**
 * Kernel name, e.g. `nvme0n1`.
 */
device: string, 
/**
 * Who was asked: `nvme` (the drive's SMART log) or `hwmon` (temperature alone).
 */
source: HealthSource, 
/**
 * Temperature at the start and at the end of the step, and the highest between.
 */
celsius_first: number | null, 
/**
 * At the end.
 */
celsius_last: number | null, 
/**
 * Highest.
 */
celsius_max: number | null, 
/**
 * From here on it warns.
 */
warning_celsius: number | null, 
/**
 * From here on it may stop.
 */
critical_celsius: number | null, 
/**
 * Bytes hosts wrote while the step ran, as the drive counts (to 512,000).
 */
host_written_bytes: number | null, 
/**
 * Bytes written to the media while the step ran; `None` where the drive does not tell.
 */
nand_written_bytes: number | null, 
/**
 * Bytes to the media per byte of the host; `None` where the drive does not tell, or below 64 MiB.
 */
write_amplification: number | null, 
/**
 * Why it counts as slowed down by heat.
 */
throttled: ThrottleSign | null, 
/**
 * What it warns of.
 */
critical_warnings: Array<Message>, 
/**
 * Looks through the step, for charts.
 */
samples: Array<HealthSampleView>, };

/**
 * One look. `None`: the source does not tell.
 */
export type DriveSample = { 
/**
 * Since the start of the measured window.
 */
at_ns: number, 
/**
 * Composite temperature.
 */
celsius: number | null, 
/**
 * Byte of critical warnings (NVMe SMART byte 0).
 */
critical_warning: number | null, 
/**
 * Bytes hosts wrote over the drive's life.
 */
host_written_bytes: number | null, 
/**
 * Bytes written to the media over the drive's life.
 */
nand_written_bytes: number | null, 
/**
 * Times the drive began to slow down because of heat, lightly and heavily, over its life.
 */
throttle_transitions: [number, number] | null, 
/**
 * How much it is slowed down now; 0: not (OCP).
 */
throttle_level: number | null, 
/**
 * Minutes at or above the warning temperature over its life.
 */
warning_minutes: number | null, };

/**
 * Looks at one drive through a step.
 */
export type DriveSeries = { 
/**
 * Kernel name, e.g. `nvme0n1`.
 */
device: string, 
/**
 * Who was asked.
 */
source: HealthSource, 
/**
 * Temperature from which it warns.
 */
warning_celsius: number | null, 
/**
 * Temperature from which it may stop.
 */
critical_celsius: number | null, 
/**
 * In the order of time; the first before or at the start of the window, the last at or after its end.
 */
samples: Array<DriveSample>, };

/**
 * How the step's writes are made durable. The default leaves it to the drive and the kernel.
 */
export type Durability = { 
/**
 * Syncs between the writes; `None`: no sync is issued.
 */
sync: SyncEvery | null, 
/**
 * How the target is opened for writing.
 */
write_through: WriteThrough, 
/**
 * A sync once a thread has written all it had to (fio's end_fsync): part of the time, no sync of the record.
 */
at_end?: boolean, 
/**
 * Each write reaches the medium whole or not at all (RWF_ATOMIC), also when power fails.
 */
is_atomic?: boolean, };

/**
 * What ends with the first thread that has done all it had to do: the other threads of its step, and streams beside it.
 */
export type Ends = { 
/**
 * Indices of the streams of its set.
 */
streams: Array<number>, };

/**
 * How I/O is issued.
 */
export type EngineName = "psync" | "libaio" | "io_uring" | "io_uring_cmd" | "nvme" | "iocp" | "mmap" | "null" | "files" | "fio" | "spdk";

/**
 * An engine and its options. Each feature falls back alone where the kernel lacks it; the record says what was used.
 */
export type EngineSpec = { 
/**
 * Which engine.
 */
name: EngineName, 
/**
 * Variant; only io_uring and io_uring_cmd have others than `Interrupt`.
 */
mode: Mode, 
/**
 * Register I/O buffers (io_uring). Default true.
 */
fixed_buffers: boolean, 
/**
 * Register files (io_uring). Default true.
 */
fixed_files: boolean, 
/**
 * CPU of the SQPOLL thread.
 */
sqpoll_cpu: number | null, 
/**
 * Stamp every I/O separately instead of once per batch.
 */
paranoid: boolean, };

/**
 * A number behind a claim.
 */
export type EvidenceView = { 
/**
 * The same for people.
 */
label: Message, 
/**
 * Its value.
 */
value: number, 
/**
 * Its unit.
 */
unit: Unit, } & ({ "name": "iops" } | { "name": "mean_latency" } | { "name": "mean_in_flight" } | { "name": "cpu_per_io" } | { "name": "at_device" } | { "name": "allowed_cpus_busy" } | { "name": "own_share_of_busy" } | { "name": "cpu_busy", 
/**
 * Number of the CPU.
 */
cpu: number, } | { "name": "cpu_interrupts", 
/**
 * Number of the CPU.
 */
cpu: number, } | { "name": "kernel_threads_busy" } | { "name": "allocated_share" } | { "name": "workers_busy" } | { "name": "workers_waited" } | { "name": "cpu_taken" } | { "name": "gain_of_threads", 
/**
 * Threads there.
 */
threads: number, } | { "name": "gain_of_depth", 
/**
 * In flight there.
 */
in_flight: number, } | { "name": "growth_of_depth", 
/**
 * In flight there.
 */
in_flight: number, } | { "name": "gain_of_repeat", 
/**
 * In flight there.
 */
in_flight: number, } | { "name": "gain_per_target", 
/**
 * Targets there.
 */
targets: number, } | { "name": "bytes_at_device" } | { "name": "page_cache_bytes" } | { "name": "intended_rate" } | { "name": "allowed_rate" } | { "name": "interval_spread" } | { "name": "expected_interval_spread" } | { "name": "latency_over_device" } | { "name": "ceiling" } | { "name": "ceiling_used" } | { "name": "rated_over_link" } | { "name": "array_ceiling" } | { "name": "member_ios_per_write" } | { "name": "member_reads" } | { "name": "network_way" } | { "name": "rpc_round_trip" } | { "name": "rpc_execute" } | { "name": "rpc_sent_again" } | { "name": "network_share" } | { "name": "server_share" } | { "name": "client_share" } | { "name": "network_link_used" } | { "name": "share_of_alone" } | { "name": "sum_of_shares" });

/**
 * What an engine or the host was to use. In JSON a text: the word, `purge of TARGET`, `path of TARGET`, or the setting
 * as it is written (`sda/scheduler`).
 */
export type FeatureName = string;

/**
 * What came of a feature.
 */
export type FeatureState = "used" | "unavailable" | "not_asked";

/**
 * A feature and what came of it.
 */
export type FeatureUse = { name: FeatureName, used: boolean, state: FeatureState | null, detail: Message, threads?: Array<number>, };

/**
 * A headline figure.
 */
export type Figure = { 
/**
 * `Most random reads`.
 */
name: Message, 
/**
 * SI base units.
 */
value: number, 
/**
 * Of what.
 */
unit: Unit, 
/**
 * 95 % interval.
 */
ci95: [number, number] | null, 
/**
 * `4k random read T4 QD32`.
 */
load: Message, 
/**
 * Index of the step it comes from.
 */
step: number, };

/**
 * How a figure is worded.
 */
export type FigureRelation = "=" | "~" | "<" | "<=" | ">" | ">=" | "between";

/**
 * A published figure and what the simulated platform gives.
 */
export type FigureRow = { 
/**
 * Id in the catalogue.
 */
id: string, 
/**
 * Publication.
 */
article: string, 
/**
 * What is counted.
 */
metric: PublishedMetric, 
/**
 * Unit of `published` and `predicted`.
 */
unit: Unit, 
/**
 * The published value.
 */
published: number, 
/**
 * Upper end where a range is published.
 */
published_max: number | null, 
/**
 * How the publication words it.
 */
relation: FigureRelation, 
/**
 * By the simulated platform; `None` where no step stands for the figure.
 */
predicted: number | null, 
/**
 * (predicted - published) / published, percent; 0 inside a published range.
 */
error_pct: number | null, 
/**
 * Whether a parameter was fitted to it or to another figure of the same step.
 */
fitted: boolean, 
/**
 * Arithmetic on the published figures that this one contradicts.
 */
contradiction: Message | null, 
/**
 * Whether it counts: measured, and a rate, mean latency or use of the CPU.
 */
counted: boolean, 
/**
 * The step: `4k random read T16 QD2`.
 */
step: string | null, 
/**
 * `sim:MACHINE/PART`.
 */
target: string | null, 
/**
 * Conditions that the article does not state.
 */
assumed: string | null, 
/**
 * Why it is far off, or why nothing stands for it.
 */
reason: string | null, };

/**
 * Files that are each worked on once, as a whole.
 */
export type FileLoad = { 
/**
 * What is done to each.
 */
op: FileOp, 
/**
 * Files of each thread, in a folder of its own.
 */
files_per_thread: number, 
/**
 * What each file holds; 0: nothing.
 */
bytes_per_file: number, 
/**
 * Of [`FileOp::Stat`]: by which name.
 */
stat_by?: StatBy, };

/**
 * What is done to each file. In a record a file that is made counts as a write, one that is looked at as a read, one that is
 * removed as a trim.
 */
export type FileOp = "create" | "stat" | "delete";

/**
 * Which of its targets a thread's next I/O goes to, as fio's `file_service_type` has it.
 */
export type FileService = { 
/**
 * How the next target is chosen.
 */
choice: ServiceChoice, 
/**
 * I/Os on a target before the next is chosen, at least 1; without meaning where each is served to its end.
 */
ios: number, 
/**
 * Served among so many at a time: the next comes in when one is done with. `None`: among all.
 */
open_files?: number, };

/**
 * The command of fio for the same load.
 */
export type FioCommand = { 
/**
 * Index of the step.
 */
step: number, 
/**
 * Command line.
 */
command: string, };

/**
 * Entry of fio's results that a job belongs to.
 */
export type FioEntry = { 
/**
 * Name of the job: `name`, or its section.
 */
name: string, 
/**
 * Number of its group, from 0; a group begins at a wall and at `new_group`.
 */
group: number, 
/**
 * True where the results of the group are one entry (`group_reporting`).
 */
is_grouped: boolean, 
/**
 * Description of the job (`description`).
 */
description?: string, 
/**
 * Options of the job as they were given, and their values, `1` for a key that stood alone; empty where the step has
 * several jobs.
 */
options?: Array<[string, string]>, 
/**
 * Defaults of all jobs likewise.
 */
globals?: Array<[string, string]>, };

/**
 * A section of an fio job file, to be run by fio itself. It stands in the role of a step with the engine
 * [`crate::EngineName::Fio`], whose workload and load say of the job what Fathom understands of it.
 */
export type FioJob = { 
/**
 * fio's word of its engine.
 */
ioengine: string, 
/**
 * The keys in force, each as a line of a job file; without those that name files, which `place` stands for.
 */
lines: Array<string>, 
/**
 * What it works on.
 */
place: FioPlace, };

/**
 * What a job of fio works on.
 */
export type FioPlace = { "kind": "all" } | { "kind": "own_files", 
/**
 * Files per job.
 */
files_per_job: number, } | { "kind": "folder", 
/**
 * Files and folders that all its jobs make together, at most.
 */
files: number, 
/**
 * What they hold together, at most.
 */
bytes: number, } | { "kind": "nothing" };

/**
 * A thread starts an I/O only while its part of all I/Os of the group is not above its weight's part of all weights.
 */
export type Flow = { 
/**
 * Which group, among the loads that run at once.
 */
id: number, 
/**
 * Weight of each thread, at least 1.
 */
weight: number, 
/**
 * Wait before the next look when it is above its part, with nothing in flight; 0: looks again at once.
 */
sleep_ns: number, };

/**
 * Flushes of a device over the window (/proc/diskstats, fields 16 and 17 after the name).
 */
export type FlushDelta = { 
/**
 * Completed.
 */
ios: number, 
/**
 * Their time, summed.
 */
time_ns: number, };

/**
 * One latency of the goal, asked of one kind of load.
 */
export type GoalView = { 
/**
 * Which latency: the mean or p99.
 */
figure: ComparedFigure, 
/**
 * The most that it may be.
 */
most_ns: number, 
/**
 * The steps of this kind of load that carry the goal, in the order of the plan.
 */
steps: Array<number>, 
/**
 * The highest load that keeps it with its whole interval each time it was measured: of those that were offered as a
 * rate, or of the closed loops where no rate keeps it. `None`: none does.
 */
kept_step: number | null, };

/**
 * A load that at least two groups were put under.
 */
export type GroupedLoad = { 
/**
 * Its steps, of all groups with their repeats.
 */
steps: Array<number>, 
/**
 * Whether the group with most IOPS gives more than the one with least beyond doubt, over all loads of the run;
 * `None` where one of the two has no interval.
 */
are_apart: boolean | null, };

/**
 * One look.
 */
export type HealthSampleView = { 
/**
 * Seconds since the start of the measured window.
 */
at_s: number, 
/**
 * Temperature.
 */
celsius: number | null, 
/**
 * The drive was hot or slowed down: mark it.
 */
hot: boolean, 
/**
 * Bytes hosts wrote since the first look.
 */
host_written_bytes: number | null, 
/**
 * Bytes written to the media since the first look.
 */
nand_written_bytes: number | null, };

/**
 * Who was asked.
 */
export type HealthSource = "nvme" | "hwmon";

/**
 * Differences over the measured window, the whole host.
 */
export type HostDelta = { 
/**
 * Time from the first reading of the counters to the last one: what they are rates over.
 */
window_ns: number, 
/**
 * Length of the window that the I/Os of the step were counted over, which the readings enclose; 0 in records made
 * before it was kept, where both are the same.
 */
measured_ns: number, 
/**
 * Time from before the first reading of the disks to after the last one: what `disks` may hold; 0 in records made
 * before it was kept.
 */
disks_ns: number, 
/**
 * How much of the step's window was over before the first reading, which a busy host may make late: what the
 * counters may lack.
 */
missed_ns: number, 
/**
 * Per CPU: (cpu number, time).
 */
cpus: Array<[number, CpuTime]>, 
/**
 * Time of all CPUs together over a window before the run, while Fathom did nothing. Readers subtract it, scaled
 * to `window_ns`; it is not subtracted here.
 */
idle_baseline: CpuTime, 
/**
 * Length of the baseline window; 0 when none was taken.
 */
idle_baseline_window_ns: number, 
/**
 * Interrupts in the baseline window, to be subtracted alike.
 */
idle_baseline_interrupts: number, 
/**
 * Context switches in the baseline window, to be subtracted alike.
 */
idle_baseline_context_switches: number, 
/**
 * Threads of the run, io_uring's among them.
 */
threads: Array<ThreadCpu>, 
/**
 * Kernel threads of the host that used a hundredth of a CPU and more, whoever they work for.
 */
kernel_threads: Array<KernelThreadCpu>, 
/**
 * Time that a CPU limit of the control group stopped threads of this process, summed over CPUs; 0 without a limit.
 */
throttled_ns?: number, 
/**
 * CPU time of other programs. `None`: the kernel shows no processes, several ranks were merged, or an old record.
 */
other_programs?: ProgramsCpu, 
/**
 * CPU time of other programs in the baseline window.
 */
idle_baseline_programs?: ProgramsCpu, 
/**
 * Interrupts.
 */
interrupts: number, 
/**
 * Context switches.
 */
context_switches: number, 
/**
 * Devices behind the targets.
 */
disks: Array<DiskDelta>, 
/**
 * Devices that those are built on: members of an array, what lies below dm-crypt or LVM.
 */
members: Array<DiskDelta>, 
/**
 * Vectors of the drives behind the targets; empty when the kernel shows none, or a CPU came or went.
 */
vectors: Array<VectorDelta>, 
/**
 * What the drives behind the targets said of their health; empty where none tells.
 */
drives: Array<DriveSeries>, 
/**
 * (CPU, lowest CPU of its core) where siblings share cores; empty where each CPU is a core of its own.
 */
core_of: Array<[number, number]>, 
/**
 * What each CPU did, interval by interval.
 */
cpu_series: CpuSeries, 
/**
 * CPU time of the sampler itself between the two readings; part of `cpus`. Readers subtract it as system time, which
 * nearly all of it is.
 */
sampler_ns: number, 
/**
 * Per interval, per CPU: busy share in [0, 1]. `[interval][cpu]`, in the order of `cpus`; of several hosts those of the
 * first ones alone, as many as can be shown.
 */
cpu_busy_by_interval: Array<Array<number>>, 
/**
 * Bytes of the targets' files found in the page cache after the step although O_DIRECT was asked; `None`: not looked.
 */
page_cache_bytes: number | null, 
/**
 * Bytes that the file system gave to the targets' files during the step, warm-up included: writes into space that they
 * did not have. `None`: no target is a file, or not looked.
 */
allocated_bytes: number | null, 
/**
 * Network file systems that the targets lie on.
 */
network?: Array<NetworkDelta>, };

/**
 * A setting of the host that a step runs under.
 */
export type HostSetting = { 
/**
 * `scheduler`, `nr_requests`, `governor`...
 */
name: string, 
/**
 * The value that was given.
 */
value: string, };

/**
 * Facts that an import adds to a step.
 */
export type ImportedLoad = { 
/**
 * Engine of the program that measured, where Fathom has no such engine.
 */
engine?: string, 
/**
 * Parts of the load that the file does not say.
 */
unknown?: Array<LoadPart>, 
/**
 * True for figures of reads, writes and trims together (fio's `unified_rw_reporting=mixed`).
 */
is_unified?: boolean, };

/**
 * Failed I/Os of one kind.
 */
export type IoFailure = { 
/**
 * Which operation.
 */
op: Op, 
/**
 * Positive errno; 0 for a read that met the end of the file.
 */
errno: number, 
/**
 * What the drive itself answered, where the engine sees it: the NVMe status in words and numbers. `errno` is then
 * what the kernel's block layer would have made of it.
 */
drive_status?: Message, 
/**
 * How often.
 */
count: number, 
/**
 * Offset of the first.
 */
first_offset_bytes: number, };

/**
 * Order and sizes of a thread's I/Os beyond mix, pattern and block sizes. The default adds nothing to them.
 */
export type IoOrder = { 
/**
 * Bytes between the end of an I/O and the next of a sequential pattern (`rw=read:8k`); negative goes backwards.
 */
stride_bytes?: number, 
/**
 * I/Os between two new places of a random pattern (`rw=randread:8`).
 */
runs?: Runs, 
/**
 * Share of I/Os of a random pattern at random places, in percent; the rest follow the I/O before.
 */
random_pct?: number, 
/**
 * Random places are multiples of it from the start of the region, and sequential I/Os begin where the last one ended;
 * `None`: of the largest block, or of an operation's smallest where something else of this order is set.
 */
align_bytes?: number, 
/**
 * Sizes of writes, where they differ from those of reads.
 */
write_sizes?: Array<BlockSize>, 
/**
 * Sizes of trims, where they differ from those of reads.
 */
trim_sizes?: Array<BlockSize>, 
/**
 * A write of the same block follows each trim (`rw=trimwrite`). Limits of bytes and I/Os count the trims alone, and are so
 * many of each.
 */
trims_first?: boolean, 
/**
 * Sizes are drawn from a range in place of the block sizes, of which there is one then: the largest.
 */
range?: SizeRange, 
/**
 * Zones of a random pattern, from the start of the region on; empty: none.
 */
zones?: Array<AccessZone>, 
/**
 * Blocks of a random pattern by a list.
 */
list?: BlockList, 
/**
 * Zones that I/O goes through one after the other, with gaps.
 */
strided?: StridedZones, 
/**
 * Bytes that a thread moves in one pass; `None`: as many as its region has.
 */
pass_bytes?: number, 
/**
 * I/Os of a thread in one pass at most.
 */
pass_ios?: number, 
/**
 * Each thread has a region as large as the step's, that of thread i so many bytes later i times; `None`: threads of a
 * sequential pattern divide the region.
 */
thread_offset_bytes?: number, 
/**
 * Random writes come in the places that bring a drive to the state of long random writes.
 */
sprandom?: SpRandom, 
/**
 * I/Os come from a trace: nothing else of the order counts then.
 */
replay?: Replay, 
/**
 * I/Os are whole files, each worked on once: nothing else of the order counts then.
 */
files?: FileLoad, 
/**
 * Which of its targets a thread's next I/O goes to; `None`: each has a share of the depth, or where it does not divide they
 * take turns.
 */
service?: FileService, };

/**
 * CPU time of the kernel's own threads of one name over the window: one thread (`md0_raid5`, `jbd2/sda1-8`), or all
 * workers that served one work queue (`kcryptd/253:0`, `loop0`).
 */
export type KernelThreadCpu = { 
/**
 * Name of the thread or of the work queue.
 */
name: string, 
/**
 * Threads that used a tenth of a CPU and more, one at least.
 */
threads: number, 
/**
 * Time on a CPU, all threads together.
 */
busy_ns: number, 
/**
 * Time that they were ready to run while something else had the CPU; 0 where the kernel does not tell.
 */
waited_ns: number, };

/**
 * The first point that gives less than nine tenths of its proportion, with its whole interval.
 */
export type KneeView = { 
/**
 * Its step.
 */
step: number, 
/**
 * Its place on the axis.
 */
at: number, 
/**
 * Where the ladder bends: after the last point that is in proportion for sure, at the latest at the knee.
 */
between: [number, number], 
/**
 * The part that limits it from there on; `None` where no step names one.
 */
takes_over: LimitName | null, };

/**
 * What a label can say beside workload and load.
 */
export type LabelPart = "engine" | "mode" | "registration" | "placement" | "drives" | "ranks" | "cache" | "compression" | "dedupe" | "size" | "offset" | "new_file" | "verify" | "arrivals" | "settings" | "submit_batch" | "complete_batch" | "complete_max" | "quick" | "round" | { "pass": { 
/**
 * From 1.
 */
number: number, 
/**
 * Number of passes in all.
 */
of: number, } } | "part" | "stream";

/**
 * What a ladder has more and more of.
 */
export type LadderAxis = "queue_depth" | "rate" | "threads" | "devices" | "ranks";

/**
 * One load of a ladder.
 */
export type LadderPoint = { 
/**
 * Its step: of rounds the last, of repeats the one with the median IOPS.
 */
step: number, 
/**
 * Place on the axis.
 */
at: number, 
/**
 * IOPS over those of as many times the first point, a share; `None` for rates, which are asked for.
 */
efficiency: number | null, 
/**
 * Its 95 % interval; `None` for the first point, which is its measure, and without intervals of the rates.
 */
efficiency_ci95: [number, number] | null, };

/**
 * A ladder by its steps. Those over the queue depth and over the rate hold each load of the run once, also where a
 * load stands alone; those over threads, drives and ranks have at least two points.
 */
export type LadderView = { 
/**
 * What its steps have more and more of.
 */
axis: LadderAxis, 
/**
 * Rising.
 */
points: Array<LadderPoint>, 
/**
 * Where it stops growing in proportion; `None`: nowhere for sure.
 */
knee: KneeView | null, 
/**
 * The step with the least that gives 95 % of the most of the ladder; `None` for rates and single points.
 */
enough: number | null, 
/**
 * Whether its last point may lie below proportion although no point does for sure.
 */
may_bend: boolean, 
/**
 * Median size of the error of predicted IOPS over its steps, percent; `None` where nothing was predicted.
 */
iops_error_pct_median: number | null, };

/**
 * The latencies that a load must not exceed: a [`Goal`] of such terms alone. `None`: not asked; one is.
 */
export type LatencyGoal = { 
/**
 * Mean at most.
 */
mean_ns?: number, 
/**
 * 99th percentile at most.
 */
p99_ns?: number, };

/**
 * Each thread searches the deepest queue, up to that of its load, at which so many I/Os keep to a latency.
 */
export type LatencyTarget = { 
/**
 * What the latency is to be at most.
 */
lat_ns: number, 
/**
 * Each depth is tried for so long.
 */
window_ns: number, 
/**
 * So many of a million I/Os are to keep to it.
 */
within_ppm: number, 
/**
 * Whether the load goes on once the depth is found, and follows the latency, rather than ending after one more window.
 */
runs_on: boolean, };

/**
 * Latency figures. A quantile is `None` when fewer than 100 samples lie beyond it; `needs` then says how many I/Os more.
 */
export type LatencyView = { 
/**
 * Samples behind the figures (all I/Os, or a sample of them for slat and clat).
 */
samples: number, 
/**
 * Mean.
 */
mean: number, 
/**
 * Standard deviation.
 */
stddev: number, 
/**
 * Smallest.
 */
min: number, 
/**
 * Largest.
 */
max: number, 
/**
 * Median.
 */
p50: number | null, 
/**
 * 90th percentile.
 */
p90: number | null, 
/**
 * 95th percentile.
 */
p95: number | null, 
/**
 * 99th percentile.
 */
p99: number | null, 
/**
 * 99.9th percentile.
 */
"p99.9": number | null, 
/**
 * 99.99th percentile.
 */
"p99.99": number | null, 
/**
 * 99.999th percentile.
 */
"p99.999": number | null, 
/**
 * 95 % intervals of the mean (`mean`) and the quantiles that have one, by name.
 */
ci95: { [key in string]: [number, number] }, 
/**
 * More I/Os (and seconds at this rate) that a missing quantile needs, by name.
 */
needs: { [key in string]: NeedView }, };

/**
 * Part of the system that can be the limit. Names as in the JSON contract.
 */
export type LimitName = "queue_depth" | "device" | "link" | "uplink" | "core" | "all_cores" | "cpu_taken" | "irq_core" | "kernel_thread" | "file_system" | "raid" | "memory" | "page_cache" | "flush" | "network" | "server" | "client" | "rate" | "unknown";

/**
 * What limited a step.
 */
export type LimitView = { 
/**
 * Which part.
 */
name: LimitName, 
/**
 * How probable it is that this part and no other holds the step; `None` where none is named, and in documents of
 * versions before.
 */
probability: number | null, 
/**
 * The same in a word.
 */
confidence: Confidence, 
/**
 * How the device changed since the step that this one is set against, where measuring that step again proves it.
 */
state_change?: StateChange, 
/**
 * One sentence.
 */
sentence: Message, 
/**
 * The numbers behind it.
 */
evidence: Array<EvidenceView>, 
/**
 * What would help, and by how much; may be empty.
 */
would_help: Array<Message>, };

/**
 * What a PCIe link carried during a step.
 */
export type LinkLoad = { 
/**
 * PCI function at its lower end.
 */
address: string, 
/**
 * As trained: `Gen4 x4`.
 */
link: string, 
/**
 * What one direction can carry after coding and packets.
 */
usable_bytes_per_s: number, 
/**
 * Towards the processor.
 */
read_bytes_per_s: number, 
/**
 * Towards the drives.
 */
write_bytes_per_s: number, 
/**
 * The larger of the two over `usable_bytes_per_s`, in [0, 1].
 */
load_share: number, };

/**
 * How much is asked at once.
 */
export type Load = { 
/**
 * Threads: of each target or of the step, as `spread` says.
 */
threads: number, 
/**
 * Which targets a thread drives.
 */
spread?: Spread, 
/**
 * I/Os in flight per thread, over all the targets that it drives (the most, when `rate` is set).
 */
queue_depth: number, 
/**
 * I/Os handed to the kernel per call at most; `None`: the engine chooses, up to 16 when a
 * call per I/O would slow the thread, one by one when the device sets the pace.
 */
batch_submit: number | null, 
/**
 * Completions waited for per call at least; `None`: the engine's default.
 */
batch_complete_min: number | null, 
/**
 * Completions taken per call at most, with a stamp for each I/O; `None`: all that are ready.
 */
batch_complete_max?: number | null, 
/**
 * `None`: closed loop.
 */
rate: Rate | null, 
/**
 * Rates of single operations. With both set, `rate` is their sum and each operation arrives at its own rate. With one
 * set, the loop is closed and that operation is limited to its rate.
 */
op_rates?: OpRates | null, 
/**
 * What holds threads back beside that.
 */
pacing?: Pacing, };

/**
 * Part of a load that a file may leave out.
 */
export type LoadPart = "operations" | "order" | "threads" | "depth" | "engine" | "direct";

/**
 * One workload of a loop over its measurement window; over all rounds where there is none.
 */
export type LoopCell = { 
/**
 * Its step in the first round of the window.
 */
step: number, 
/**
 * Mean of the rounds.
 */
mean: number, 
/**
 * Its 95 % interval from the rounds; `None` of fewer than two.
 */
ci95: [number, number] | null, };

/**
 * A loop whose steps are repeated until the one that is looked at is steady.
 */
export type LoopView = { 
/**
 * Its number in the plan.
 */
loop_id: number, 
/**
 * Name of the ladder that made it (`iops`, `wsat`...), when the study names its ladders.
 */
test: string | null, 
/**
 * First step of the workload that is looked at: the determination table is about it. `None`: the plan looks at none.
 */
tracked: number | null, 
/**
 * Rounds that were measured.
 */
rounds: number, 
/**
 * Unit of the cells.
 */
unit: Unit, 
/**
 * Every workload of a round.
 */
cells: Array<LoopCell>, };

/**
 * A rank whose part is missing.
 */
export type LostRank = { 
/**
 * Its number.
 */
rank: number, 
/**
 * Name of its host.
 */
host: string, 
/**
 * What happened.
 */
why: Message, 
/**
 * Bytes that it had moved when it was heard of last.
 */
bytes_done: number, };

/**
 * A simulated machine as a run keeps it: with this text the run can be repeated anywhere.
 */
export type MachineText = { 
/**
 * What stands between `sim:` and the part: a shipped machine's name, or the path of a file.
 */
name: string, 
/**
 * The machine file.
 */
text: string, };

/**
 * The state of an array of Linux md (`md/sync_action`, `md/degraded`).
 */
export type MdState = { 
/**
 * What goes over its members; `None`: nothing.
 */
sync: MdSync | null, 
/**
 * Members that it lacks.
 */
lost: number, };

/**
 * What md does with all of an array, by the kernel's words.
 */
export type MdSync = "resync" | "recover" | "check" | "repair" | "reshape";

/**
 * Where the kernel takes the memory of a step's threads from (set_mempolicy(2)).
 */
export type MemoryPolicy = { "kind": "inherited" } | { "kind": "local" } | { "kind": "bind", 
/**
 * At least one.
 */
nodes: Array<number>, } | { "kind": "interleave", 
/**
 * At least one.
 */
nodes: Array<number>, } | { "kind": "prefer", 
/**
 * Its number.
 */
node: number, };

/**
 * Verdict on one figure of a side against that of the reference.
 */
export type Merit = "better" | "worse" | "same" | "unsure";

/**
 * What is said: an id with named arguments. Made by [`crate::msg!`]; the front has the words for each id.
 *
 * `Display` shows id and arguments, for logs and for programmers.
 */
export type Message = string;

/**
 * The figure tracked over rounds.
 */
export type Metric = "iops" | "bytes_per_s" | "lat_mean";

/**
 * Variant of an engine.
 */
export type Mode = "interrupt" | "iopoll" | "sqpoll";

/**
 * How much more a quantile needs.
 */
export type NeedView = { 
/**
 * I/Os.
 */
ios: number, 
/**
 * Seconds at the measured rate.
 */
seconds: number, };

/**
 * A mounted network file system that targets lie on, over the window.
 */
export type NetworkDelta = { 
/**
 * Where it is mounted.
 */
mount_point: string, 
/**
 * What it is.
 */
kind: NetworkKind, 
/**
 * Calls to the server, those that were made; empty where the client does not count them.
 */
rpcs: Array<RpcDelta>, 
/**
 * Times that the client had to connect again; `None`: not counted.
 */
reconnects: number | null, 
/**
 * What the way to the server takes; `None`: not known where the server is.
 */
round_trips: RoundTrips | null, 
/**
 * The device that leads to it; `None`: not known.
 */
link: NetworkLinkDelta | null, 
/**
 * TCP segments that this host sent again, whoever they were for; `None`: not counted.
 */
tcp_retransmissions: number | null, };

/**
 * A file system whose files lie on other hosts.
 */
export type NetworkKind = "nfs" | "smb" | "sshfs" | "ceph" | "gluster" | "lustre" | "gpfs" | "beegfs" | "orangefs" | "9p";

/**
 * The network device that leads to the server, over the window.
 */
export type NetworkLinkDelta = { 
/**
 * Kernel name.
 */
device: string, 
/**
 * Bits per second in each direction, as its driver says; `None`: it does not.
 */
bits_per_s: number | null, 
/**
 * Bytes received, whoever they were for.
 */
received_bytes: number, 
/**
 * Bytes sent.
 */
sent_bytes: number, };

/**
 * State of a file that is made for a step, before the first step that uses it.
 */
export type NewFile = "written" | "allocated" | "sparse";

/**
 * A command with its reason.
 */
export type NextCommand = { 
/**
 * As typed in a shell.
 */
command: string, 
/**
 * What it shows.
 */
why: Message, };

/**
 * What one I/O does.
 */
export type Op = "read" | "write" | "trim" | "sync";

/**
 * Share of each operation, in percent; the three add up to 100.
 */
export type OpMix = { 
/**
 * In [0, 100].
 */
read_pct: number, 
/**
 * In [0, 100].
 */
write_pct: number, 
/**
 * In [0, 100].
 */
trim_pct: number, };

/**
 * Rates of reads and of writes, each independent of the other and of the mix.
 */
export type OpRates = { 
/**
 * Reads per second over all threads and targets of the step; `None`: no limit.
 */
read_iops: number | null, 
/**
 * Writes per second, likewise.
 */
write_iops: number | null, 
/**
 * Distribution of the gaps.
 */
process: RateProcess, };

/**
 * How the open loop went.
 */
export type OpenLoop = { 
/**
 * I/Os per second intended.
 */
intended_iops: number, 
/**
 * Mean delay from intended to actual start, over the first and second half of the window.
 */
submit_delay_ns_mean_halves: [number, number], 
/**
 * I/Os due but not started when the window closed.
 */
backlog_end_ios: number, 
/**
 * Whether the backlog grew: latencies then mean nothing.
 */
unsustainable: boolean, };

/**
 * What Fathom itself cost.
 */
export type Overhead = { 
/**
 * User time of the loop per I/O with the `null` engine under the same load, calibrated on this host.
 */
loop_ns_per_io: number, 
/**
 * Largest error of a start because one clock reading serves a batch; mean over batches. 0 with `paranoid`, and in a
 * closed loop, where an I/O starts when its slot is reaped.
 */
batch_stamp_error_ns_mean: number, 
/**
 * Mean I/Os submitted per system call.
 */
ios_per_submit: number, };

/**
 * Fathom's own verdict: warm-up cut, level changes, drift with its interval.
 */
export type OwnSteadyView = { 
/**
 * Whether it was steady after its warm-up.
 */
reached: boolean, 
/**
 * As [`SteadyView::why`].
 */
why: WhyUnsteady | null, 
/**
 * The verdict as a sentence.
 */
sentence: Message, 
/**
 * Points judged (intervals, or intervals of all rounds).
 */
points: number, 
/**
 * Points at the beginning that are warm-up.
 */
warmup_points: number, 
/**
 * Where the level changes after the warm-up, as positions among the points; each begins a new level.
 */
change_points: Array<number>, 
/**
 * Drift over the window that the margin applies to, percent of the mean.
 */
drift_pct_per_window: number, 
/**
 * Its 95 % interval.
 */
drift_ci95_pct: [number, number] | null, 
/**
 * Largest drift over that window still called steady, percent either way.
 */
margin_pct: number, 
/**
 * Point at which a steady state was left again; `None` when it was not.
 */
left_at: number | null, };

/**
 * What holds a thread back beside its queue depth and its rate. The default holds nothing back.
 */
export type Pacing = { 
/**
 * Pauses between I/Os.
 */
think?: Think, 
/**
 * Share of the I/Os among the loads that run at once.
 */
flow?: Flow, 
/**
 * A latency to which each thread keeps by the depth of its queue.
 */
target?: LatencyTarget, };

/**
 * What a pair of rates does with the goal.
 */
export type PairOutcome = "kept" | "missed" | "not_held" | "unknown";

/**
 * One pair of rates.
 */
export type PairView = { 
/**
 * Index of its step.
 */
step: number, 
/**
 * Reads offered per second.
 */
reads_per_s: number, 
/**
 * Writes offered per second.
 */
writes_per_s: number, 
/**
 * What it does with the goal.
 */
outcome: PairOutcome, };

/**
 * A fitted parameter.
 */
export type Parameter = { 
/**
 * Shipped machines that have it.
 */
machines: Array<string>, 
/**
 * Its place in the machine file: `engine default: user`.
 */
parameter: string, 
/**
 * Its value as the machine file has it.
 */
value: string, 
/**
 * Figures it was fitted to, by id; at least two.
 */
fitted_to: Array<string>, };

/**
 * One of `of` equal parts of a region.
 */
export type Part = { 
/**
 * From 0.
 */
index: number, 
/**
 * Number of parts in all.
 */
of: number, 
/**
 * Whether the step's region is the part already, not the whole.
 */
is_cut?: boolean, };

/**
 * One load through several paths of I/O.
 */
export type PathsView = { 
/**
 * A step of each path, in the order of the plan.
 */
steps: Array<number>, 
/**
 * Those that no other beats in both IOPS and CPU per I/O, the cheapest first; empty where no cost is known.
 */
front: Array<number>, };

/**
 * In which order blocks are touched.
 */
export type Pattern = { "kind": "random" } | { "kind": "random_repeat" } | { "kind": "sequential" } | { "kind": "zipf", 
/**
 * Exponent, > 0 and != 1 is not required.
 */
theta: number, } | { "kind": "unknown" } | { "kind": "hotspot", 
/**
 * In [1, 99].
 */
access_pct: number, 
/**
 * In [1, 99].
 */
space_pct: number, };

/**
 * Why a step is run. Only `Measure` steps carry headline figures.
 */
export type Phase = "purge" | "fill" | "precondition" | "settle" | "measure" | "probe";

/**
 * A chart of an article, drawn again.
 */
export type Picture = { 
/**
 * Publication.
 */
article: string, 
/**
 * What it shows.
 */
title: string, 
/**
 * Name of the x axis.
 */
x: string, 
/**
 * Metrics drawn.
 */
shows: Array<PublishedMetric>, 
/**
 * Lines or groups of bars.
 */
series: Array<PictureSeries>, };

/**
 * One point of a chart.
 */
export type PicturePoint = { 
/**
 * Its place on the x axis.
 */
x: string, 
/**
 * The step.
 */
step: string, 
/**
 * Value by metric.
 */
values: { [key in PublishedMetric]?: number }, 
/**
 * Published figures that belong to the point.
 */
published: Array<Published>, };

/**
 * One line of a chart.
 */
export type PictureSeries = { 
/**
 * What tells it from the others.
 */
name: string, 
/**
 * Its points, in order.
 */
points: Array<PicturePoint>, };

/**
 * Where threads run.
 */
export type Placement = { "kind": "unpinned" } | { "kind": "cores" } | { "kind": "smt" } | { "kind": "local" } | { "kind": "remote" } | { "kind": "cpus", "cpus": Array<number> } | { "kind": "nodes", "cpus": { 
/**
 * Their numbers.
 */
nodes: Array<number>, } };

/**
 * A placement without its list of CPUs: its word in study files, tables and the document.
 */
export type PlacementKind = "unpinned" | "cores" | "smt" | "local" | "remote" | "cpus" | "nodes";

/**
 * What will be done, in order. Everything that runs comes from a plan, also `fathom io`.
 */
export type Plan = { 
/**
 * Which study.
 */
study: StudyHead, 
/**
 * The text it was made from (TOML, fio job file, or the command line), kept for the report.
 */
source: string, 
/**
 * Steps in the order they run.
 */
steps: Array<Step>, 
/**
 * Remarks for the user about how the source was read.
 */
notes: Array<Message>, 
/**
 * Targets that a fio job file names by fio's own rule (`JOB.N.M` in its directory): files of the job, which it may
 * overwrite.
 */
job_files?: Array<TargetId>, 
/**
 * The simulated machine that its `sim:` targets are parts of, once it runs.
 */
machine?: MachineText, 
/**
 * The processes on one host or many that run it at once; `None`: one alone.
 */
ranks?: RanksPlan, };

/**
 * How much of its time a thread that polls found nothing: its CPU is busy all the same, and could do so much more.
 */
export type Polling = { 
/**
 * Time in which it only looked.
 */
waited_ns: number, 
/**
 * Of all the time since its first I/O.
 */
lasted_ns: number, };

/**
 * How targets are brought into their state before a step measures.
 */
export type Precondition = "none" | "same" | "snia" | "quick";

/**
 * A prediction made before the step ran.
 */
export type PredictedView = { 
/**
 * I/Os per second.
 */
iops: number, 
/**
 * Mean latency.
 */
lat_ns_mean: number, 
/**
 * How far the prediction lies from what was measured: predicted / measured - 1, percent; `None` without figures.
 */
iops_error_pct: number | null, 
/**
 * The same for the mean latency.
 */
lat_error_pct: number | null, 
/**
 * When it was made, RFC 3339.
 */
made: string | null, };

/**
 * A prediction as a whole; the figures stand with their steps.
 */
export type PredictionView = { 
/**
 * When it was made, RFC 3339: before the first predicted step began.
 */
made: string, 
/**
 * The short steps it was made from.
 */
screens: Array<ScreenView>, 
/**
 * Steps that were predicted and measured.
 */
steps: number, 
/**
 * Median size of the error of predicted IOPS over these steps, percent.
 */
iops_error_pct_median: number | null, 
/**
 * The same of the mean latency.
 */
lat_error_pct_median: number | null, };

/**
 * What the kernel is told of a step's I/O: its priorities, and whether it may stay in the page cache. The default says nothing:
 * I/O has the priority of the process.
 */
export type Priorities = { 
/**
 * Of the threads, and so of all I/O that has none of its own.
 */
thread?: Priority, 
/**
 * Shares of the reads.
 */
reads?: Array<PriorityShare>, 
/**
 * Shares of the writes.
 */
writes?: Array<PriorityShare>, 
/**
 * Whether buffered I/O leaves nothing in the page cache (RWF_DONTCACHE).
 */
is_uncached?: boolean, };

/**
 * A priority.
 */
export type Priority = { 
/**
 * First of all.
 */
class: PriorityClass, 
/**
 * Within the class, from 0, the first, to [`PRIORITY_LEVEL_MAX`].
 */
level: number, 
/**
 * What the drive is told beside it, such as the number of a command duration limit; 0: nothing.
 */
hint: number, };

/**
 * Which I/O the kernel serves first.
 */
export type PriorityClass = "realtime" | "best_effort" | "idle";

/**
 * A share of the reads or of the writes that have a priority of their own.
 */
export type PriorityShare = { 
/**
 * Of the I/Os of this size; `None`: of all.
 */
bytes?: number, 
/**
 * In [1, 100]; those of one size add up to 100 at most.
 */
share_pct: number, 
/**
 * What they have.
 */
priority: Priority, };

/**
 * CPU time of all other programs over a window, ns.
 */
export type ProgramsCpu = { 
/**
 * User time.
 */
user_ns: number, 
/**
 * System time.
 */
system_ns: number, };

/**
 * Steady state determination table after SNIA PTS. All values in the unit of the tracked variable.
 */
export type PtsView = { 
/**
 * What is tracked.
 */
variable: TrackedFigure, 
/**
 * Whether range and slope were both within their limits.
 */
reached: boolean, 
/**
 * First and last round of the window, counted from 1; the last five rounds when it was not reached.
 */
window: [number, number] | null, 
/**
 * Mean of the window.
 */
average: number, 
/**
 * Largest data excursion allowed: 20 % of the average.
 */
range_allowed: number, 
/**
 * Data excursion measured: largest minus smallest.
 */
range: number, 
/**
 * Largest slope excursion allowed: 10 % of the average.
 */
excursion_allowed: number, 
/**
 * Slope excursion measured: |slope| x 4.
 */
excursion: number, 
/**
 * Slope of the least-squares line per round.
 */
slope: number, 
/**
 * Its value at round 0, so that y = intercept + slope x round.
 */
intercept: number, 
/**
 * The line as people read it: `y = 10234 - 12.3 x`.
 */
line: string, 
/**
 * `rounds 4..8` or `NOT ACHIEVED`.
 */
determination: Message, 
/**
 * Drift over all rounds, percent of their mean per round: what the window of five cannot see.
 */
drift_pct_per_round: number, };

/**
 * A published figure as a mark in a chart.
 */
export type Published = { 
/**
 * Id in the catalogue.
 */
id: string, 
/**
 * What is counted.
 */
metric: PublishedMetric, 
/**
 * The published value.
 */
value: number, 
/**
 * Upper end where a range is published.
 */
value_max: number | null, };

/**
 * What a published figure is. Files of the catalogue name it in the unit it was printed in; read from them, the
 * value is in [`PublishedMetric::unit`].
 */
export type PublishedMetric = "iops" | "iops_per_core" | "bytes_per_s" | "bytes_per_s_as_printed" | "bytes_per_s_column_as_printed" | "lat_mean_ns" | "lat_typical_ns" | "lat_p50_ns" | "lat_p99_ns" | "lat_p99.99_ns" | "lat_p99.999_ns" | "cpu_pct" | "cpu_pct_job" | "cpu_pct_core_min" | "cpu_pct_core_max" | "cores_busy" | "cores_used" | "cores_for_1m_iops" | "cores_per_device" | "cores_total" | "cores_per_cpu" | "ccd_count" | "numa_nodes_per_socket" | "memory_channels" | "pcie_lanes" | "devices" | "devices_at_plateau" | "controllers" | "threads" | "outstanding_per_device" | "crossover_queue_depth" | "write_penalty" | "ratio" | "tps" | "tps_peak" | "tpm" | "tpm_peak" | "power_w" | "frequency_hz" | "run_s" | "capacity_bytes" | "cache_bytes" | "memory_bytes" | "data_bytes" | "footprint_pct" | "overprovisioning_pct";

/**
 * By which means targets are given back to the state of new ones.
 */
export type PurgeMeans = "best" | "format" | "sanitize" | "discard";

/**
 * How a target was purged.
 */
export type PurgeMethod = "nvme_format" | "nvme_sanitize" | "discard" | "punch_hole" | "absent";

/**
 * What a purge did to one target.
 */
export type PurgeReport = { 
/**
 * The target, as the step names it.
 */
target: TargetId, 
/**
 * By which means.
 */
method: PurgeMethod, 
/**
 * Bytes purged; 0 when absent.
 */
bytes: number, 
/**
 * For people: what was done, or why it was not.
 */
detail: Message, };

/**
 * Latency figures without samples (imported from fio's plain JSON). Nanoseconds.
 */
export type QuotedLatency = { 
/**
 * Number of I/Os behind the figures.
 */
count: number, 
/**
 * Mean.
 */
mean_ns: number, 
/**
 * Standard deviation.
 */
stddev_ns: number, 
/**
 * Smallest.
 */
min_ns: number, 
/**
 * Largest.
 */
max_ns: number, 
/**
 * (quantile in (0,1), value).
 */
quantiles: Array<[number, number]>, };

/**
 * The clock of a rank beside that of rank 0, by Cristian's method: the offset is right to within half of the shortest
 * way there and back.
 */
export type RankClock = { 
/**
 * What it shows less what rank 0's shows at the same moment.
 */
offset_ns: number, 
/**
 * How far that may be wrong at most.
 */
bound_ns: number, };

/**
 * What hosts that share a load should have alike, of one of them.
 */
export type RankMachine = { 
/**
 * Its name.
 */
host: string, 
/**
 * Model of its CPUs; empty where the kernel gives none.
 */
cpu_model: string, 
/**
 * CPUs online.
 */
cpus: number, 
/**
 * Main memory.
 */
memory_bytes: number, 
/**
 * Kernel release.
 */
kernel: string, 
/**
 * Frequency governor of its first CPU.
 */
governor: string | null, 
/**
 * Clock source of its kernel.
 */
clocksource: string | null, };

/**
 * One rank's part of a step.
 */
export type RankRecord = { 
/**
 * Its number.
 */
rank: number, 
/**
 * Name of its host.
 */
host: string, 
/**
 * Its clock beside rank 0's.
 */
clock: RankClock, 
/**
 * Start of its window after the earliest one.
 */
start_ns: number, 
/**
 * Length of its window.
 */
runtime_ns: number, 
/**
 * Completed I/Os of its window.
 */
ios: number, 
/**
 * Their bytes.
 */
bytes: number, 
/**
 * Failed I/Os.
 */
errors: number, 
/**
 * Completed I/Os of the intervals that the figures of the step hold.
 */
counted_ios: number, 
/**
 * Their bytes.
 */
counted_bytes: number, 
/**
 * Latency of all its I/Os; `None` without any.
 */
lat: QuotedLatency | null, 
/**
 * Completed I/Os, interval by interval of the step.
 */
interval_ios: Array<number>, 
/**
 * Their bytes.
 */
interval_bytes: Array<number>, 
/**
 * What the CPUs of its host did in its window, whoever they worked for; `None`: not sampled.
 */
cpu: CpuTime | null, 
/**
 * Number that the first CPU of its host has in the step's record, where CPUs of several hosts follow each other.
 */
first_cpu: number | null, };

/**
 * The ranks that a plan is run by.
 */
export type RanksPlan = { 
/**
 * How many.
 */
count: number, 
/**
 * What each has of the targets.
 */
targets_are: TargetsAre, };

/**
 * The ranks of a step.
 */
export type RanksRecord = { 
/**
 * Those whose figures the step has, by their numbers.
 */
ranks: Array<RankRecord>, 
/**
 * Those whose figures it lacks.
 */
lost: Array<LostRank>, 
/**
 * Their hosts, each once.
 */
machines?: Array<RankMachine>, 
/**
 * From the first start of a window to the last, by corrected clocks.
 */
start_skew_ns: number, 
/**
 * How far that may be wrong at most, by what is known of the clocks.
 */
start_skew_bound_ns: number, 
/**
 * Time in which all of them ran.
 */
together_ns: number, 
/**
 * Whether the figures of the step are those of that time alone, since some ended well before others.
 */
is_cut: boolean, };

/**
 * An arrival rate: makes the load open loop.
 */
export type Rate = { 
/**
 * Intended I/Os per second over all threads and targets of the step.
 */
iops: number, 
/**
 * Distribution of the gaps.
 */
process: RateProcess, };

/**
 * Rates relative to the most that a closed loop of reads alone, and one of writes alone, gave before in the same run.
 */
export type RatePair = { 
/**
 * Reads, in percent of the most reads per second.
 */
read_pct: number, 
/**
 * Writes, in percent of the most writes per second.
 */
write_pct: number, };

/**
 * Distribution of open-loop arrivals.
 */
export type RateProcess = "fixed" | "poisson" | "recorded";

/**
 * A rate relative to the highest IOPS that a closed loop with the same work gave before it in the same run.
 */
export type RateShare = { 
/**
 * In percent of these IOPS; above 100 the load is more than they.
 */
pct: number, 
/**
 * Distribution of the gaps.
 */
process: RateProcess, };

/**
 * What `rw` (`readwrite`) says.
 */
export type ReadWrite = "read" | "write" | "randread" | "randwrite" | "rw" | "randrw" | "trim" | "randtrim" | "trimwrite" | "randtrimwrite" | "filecreate" | "filestat" | "filedelete";

/**
 * The member by which a rebuild came to its end.
 */
export type RebuildFailure = { 
/**
 * Its place.
 */
member: number, 
/**
 * errno.
 */
errno: number, };

/**
 * I/Os on members by which a member is rebuilt.
 */
export type RebuildIos = { 
/**
 * I/Os.
 */
reads: number, 
/**
 * Bytes.
 */
read_bytes: number, 
/**
 * I/Os.
 */
writes: number, 
/**
 * Bytes.
 */
written_bytes: number, };

/**
 * A member that was rebuilt while a step ran, from before its first I/O to after its last.
 */
export type RebuildRecord = { 
/**
 * Bytes a second that were asked for; `None`: as many as can be.
 */
asked_bytes_per_s: number | null, 
/**
 * Bytes of the member that were done.
 */
done_bytes: number, 
/**
 * Bytes of the member that are in the array.
 */
member_bytes: number, 
/**
 * How long it took: of one that ended before the step, until it was seen to have.
 */
took_ns: number, 
/**
 * What of the members' I/Os the rebuild was; `None` of Linux md, which does not tell it from the load's.
 */
ios?: RebuildIos | null, 
/**
 * Why it ended before its end, if a member failed.
 */
failure?: RebuildFailure | null, };

/**
 * A member that was rebuilt beside the load of a step.
 */
export type RebuildView = { 
/**
 * Bytes of the member a second that it was held to; `None`: it went as fast as it could.
 */
asked_bytes_per_s: number | null, 
/**
 * Bytes of the member that were rebuilt a second.
 */
bytes_per_s: number, 
/**
 * Seconds that the whole member takes at this speed; `None`: nothing was done.
 */
whole_s: number | null, 
/**
 * It was at its end before the load was: the figures of the load are of both.
 */
ended_first: boolean, 
/**
 * 99th percentile of the load's latency meanwhile, ns.
 */
p99_ns: number | null, 
/**
 * The step of the same load on the whole array; `None` where that was not measured.
 */
whole_step: number | null, 
/**
 * Its 99th percentile, ns.
 */
whole_p99_ns: number | null, 
/**
 * The rate of the load meanwhile over that on the whole array.
 */
rate_ratio: number | null, };

/**
 * A published result that the catalogue holds.
 */
export type Reference = { 
/**
 * Name in the catalogue.
 */
id: string, 
/**
 * What was measured: `Intel Optane P4800X, Windows Server 2016`.
 */
subject: string, 
/**
 * Who published it where: author, title, date.
 */
source: string, 
/**
 * Where to read it.
 */
url: string | null, 
/**
 * Its figures.
 */
points: Array<ReferencePoint>, };

/**
 * One published figure with the load it belongs to. `None`: the source does not say.
 */
export type ReferencePoint = { 
/**
 * What it is.
 */
metric: PublishedMetric, 
/**
 * In the unit of the metric.
 */
value: number, 
/**
 * fio's word: `randread`.
 */
op: ReadWrite | null, 
/**
 * Share of reads.
 */
read_pct: number | null, 
/**
 * Block size.
 */
block_size_bytes: number | null, 
/**
 * Per target.
 */
threads: number | null, 
/**
 * Per thread.
 */
queue_depth: number | null, 
/**
 * In flight over all drives, where the source says so.
 */
outstanding: number | null, 
/**
 * Number of drives.
 */
devices: number | null, 
/**
 * Where the threads ran.
 */
placement: PlacementKind | null, 
/**
 * Group or configuration within the source.
 */
group: string | null, 
/**
 * What speaks against it: it contradicts another of its figures, is read from a chart... Empty: nothing.
 */
doubt: Message, };

/**
 * The part of the target that is touched.
 */
export type Region = { 
/**
 * First byte.
 */
offset_bytes: number, 
/**
 * Length; `None`: to the end of a device, or the default file size.
 */
size_bytes: number | null, };

/**
 * The chunks that repeat in written data.
 */
export type Repeats = { "kind": "few" } | { "kind": "working_set", 
/**
 * In [1, 100].
 */
region_pct: number, 
/**
 * Whether all threads and all loads that run at once repeat the same chunks, rather than each its own.
 */
is_shared: boolean, };

/**
 * A trace whose I/Os a step does, in their order.
 */
export type Replay = { 
/**
 * Where the trace lies.
 */
path: string, 
/**
 * Whether each I/O begins when it did as it was recorded; else as soon as a slot is free.
 */
is_timed: boolean, 
/**
 * Speed against the recorded one, in percent.
 */
speed_pct: number, 
/**
 * Whether all of it goes to one target, whichever files it names; else each file has its own target.
 */
is_redirected: boolean, 
/**
 * Reads, writes and trims in it; 0 until it was read.
 */
ios: number, 
/**
 * Syncs in it.
 */
syncs: number, 
/**
 * From the first entry to the last as recorded.
 */
duration_ns: number, };

/**
 * The table and what it adds up to.
 */
export type Reproduction = { 
/**
 * Version of this form.
 */
schema: number, 
/**
 * The publications, in the order of their cells.
 */
articles: Array<Article>, 
/**
 * Virtual time of each step.
 */
window: Window, 
/**
 * One row per published figure, in the order of the cells; those that no step stands for last in their article.
 */
figures: Array<FigureRow>, 
/**
 * Charts of the articles, drawn again.
 */
pictures: Array<Picture>, 
/**
 * Every fitted parameter.
 */
parameters: Array<Parameter>, 
/**
 * Counts.
 */
summary: Summary, };

/**
 * Ties between steps. All empty for a step that stands alone.
 */
export type Role = { 
/**
 * Name of the ladder that made the step (`iops`, `latency`...), when the study names its ladders.
 */
test?: string, 
/**
 * Entry of fio's results, where a job of fio made the step.
 */
job?: FioEntry, 
/**
 * What fio is given, where it is fio that runs the step.
 */
by_fio?: FioJob, 
/**
 * Facts of an imported load that the other fields of the step do not say.
 */
imported?: ImportedLoad, 
/**
 * Round of a loop that is repeated until it is steady.
 */
round?: Round, 
/**
 * How the targets were brought into their state.
 */
conditioning?: Conditioning, 
/**
 * Place in an interleaved comparison.
 */
block?: Block, 
/**
 * Place among steps that explain another one beside the plan.
 */
turn?: Turn, 
/**
 * Place among steps that run at once.
 */
stream?: Stream, 
/**
 * The stream that this step beside the plan does once more, alone.
 */
alone?: Alone, 
/**
 * Settings of the host in force during the step, beside those found.
 */
settings?: Array<HostSetting>, 
/**
 * Drives asked for; more than the step has targets: it cannot be run.
 */
devices?: number, 
/**
 * The ranks that take part; `None`: all of those that run the plan.
 */
ranks?: TakePart, 
/**
 * Region as a share of each target's capacity, until the capacity is known.
 */
footprint_pct?: number, 
/**
 * Offset of the region in percent of what a target holds, rounded up to a block.
 */
offset_pct?: number, 
/**
 * Bytes of a pass in percent of the region.
 */
pass_pct?: number, 
/**
 * Part of the region, of so many equal ones, that a conditioning step writes.
 */
part?: Part, 
/**
 * Means of a purge; `None`: discard, as every purge did before there was a choice.
 */
purge?: PurgeMeans, 
/**
 * Rate as a share of the IOPS of a closed loop before it; `Load::rate` holds the rate once that is measured.
 */
rate_share?: RateShare, 
/**
 * How the rate changes with time; empty: it stays.
 */
stages?: Array<Stage>, 
/**
 * Rates of reads and of writes; `Load::rate` holds their sum, and the mix their shares, once both are known.
 */
rate_pair?: RatePair, 
/**
 * Latencies of which the verdict names the highest load that keeps them.
 */
latency_goal?: LatencyGoal, 
/**
 * What ends once the first of its threads has done all it had to do; `None`: each thread does all it has to.
 */
ends?: Ends, 
/**
 * Whether its files must be there: none is made for it.
 */
must_exist?: boolean, 
/**
 * Whether a file of no given size that is made for it takes all that its file system has free, but for a reserve.
 */
fills_space?: boolean, 
/**
 * State, before the step, of a file that is made for it.
 */
new_file?: NewFile, 
/**
 * File that the I/Os of the step are written down in, for a replay; of several threads `.0`, `.1` and so on behind it.
 */
trace_to?: string, 
/**
 * What the step's label says beside its workload and load, in this order.
 */
label_parts?: Array<LabelPart>, };

/**
 * One round of a loop. The steps of all rounds are in the plan; those after the round that was steady are not run.
 */
export type Round = { 
/**
 * Number of the loop, unique in the plan.
 */
loop_id: number, 
/**
 * From 0.
 */
index: number, 
/**
 * Most rounds.
 */
max: number, 
/**
 * What is looked at to call the loop steady; `None`: this step of the round is not looked at.
 */
metric: Metric | null, };

/**
 * What the way to the server takes, without what the server does: TCP connections to its port, asked for by Fathom once a
 * second, which the server's kernel takes or refuses by itself.
 */
export type RoundTrips = { 
/**
 * How many were answered.
 */
count: number, 
/**
 * How many were not.
 */
failed: number, 
/**
 * The quickest.
 */
min_ns: number, 
/**
 * The median one.
 */
median_ns: number, };

/**
 * Calls of one kind that a client made to its server over the window (NFS: `/proc/self/mountstats`). Times are sums.
 */
export type RpcDelta = { 
/**
 * As the kernel names it: `READ`, `WRITE`, `COMMIT`.
 */
name: string, 
/**
 * Calls.
 */
calls: number, 
/**
 * Times that they were sent: what is above the calls was sent again.
 */
transmissions: number, 
/**
 * Major timeouts.
 */
timeouts: number, 
/**
 * Bytes sent, with headers.
 */
sent_bytes: number, 
/**
 * Bytes received, with headers.
 */
received_bytes: number, 
/**
 * Time that they waited in the client before they were sent.
 */
queue_ns: number, 
/**
 * Time from sending to the answer: network and server.
 */
round_trip_ns: number, 
/**
 * Time from the call to its end: all of it.
 */
execute_ns: number, };

/**
 * Head of a run.
 */
export type RunInfo = { 
/**
 * Number in the lab.
 */
id: number, 
/**
 * Name of the study.
 */
study: string, 
/**
 * Question of the study.
 */
question: Message, 
/**
 * How it stands.
 */
state: RunState, 
/**
 * RFC 3339, UTC; `None` for an import whose file does not say.
 */
started: string | null, 
/**
 * RFC 3339, UTC.
 */
finished: string | null, 
/**
 * Wall time from start to finish, seconds.
 */
elapsed_s: number | null, 
/**
 * The command as typed.
 */
command: string, 
/**
 * The plan as executed, with its source text.
 */
plan: Plan, 
/**
 * The same steps as fio commands, one per step that fio can do: `(step index, command)`.
 */
fio_commands: Array<FioCommand>, };

/**
 * How long a step measures.
 */
export type RunLength = { 
/**
 * Wait before the warm-up: a stream that begins after the others of its set.
 */
delay_ns?: number, 
/**
 * Warm-up that is run but not counted.
 */
ramp_ns: number, 
/**
 * Least measured time.
 */
floor_ns: number, 
/**
 * Most measured time. Equal to the floor: a fixed length.
 */
budget_ns: number, 
/**
 * Stop between floor and budget once the 95 % interval of IOPS is within this share of it (0.01 = 1 %).
 */
iops_rel_half_width: number, 
/**
 * Same for p99 of latency (0.05 = 5 %).
 */
p99_rel_half_width: number, 
/**
 * Stop after each block was touched this many times per thread, if set (`Random` and `Sequential` only).
 */
passes: number | null, };

/**
 * How a run stands.
 */
export type RunState = "running" | "finished" | "interrupted" | "failed";

/**
 * I/Os that follow each new place of a random pattern.
 */
export type Runs = { 
/**
 * I/Os from one new place to the next, at least 2.
 */
ios: number, 
/**
 * Whether the others go to the place itself once more, rather than behind the I/O before.
 */
in_place: boolean, };

/**
 * A short step that a prediction was made from.
 */
export type ScreenView = { 
/**
 * For people.
 */
label: string, 
/**
 * I/Os in flight over all threads and targets.
 */
in_flight: number, 
/**
 * I/Os per second.
 */
iops: number, 
/**
 * Mean latency.
 */
lat_ns_mean: number, };

/**
 * Figures per interval; all arrays have the same length.
 */
export type SeriesView = { 
/**
 * Start of each interval from the start of the window, seconds.
 */
start_s: Array<number>, 
/**
 * I/Os per second.
 */
iops: Array<number>, 
/**
 * Median latency; `None` without samples.
 */
p50_ns: Array<number | null>, 
/**
 * p99; `None` with fewer than 10 samples beyond it (enough for a picture, not for a headline).
 */
p99_ns: Array<number | null>, 
/**
 * Busy share in [0, 1]. `[interval][cpu]`; empty when not sampled.
 */
cpu_busy: Array<Array<number>>, 
/**
 * Whether a drive showed itself hot or slowed down by heat: mark the interval. Drives are looked at once a second,
 * so a mark reaches from the look before to the look after. Empty where no drive tells.
 */
hot?: Array<boolean>, };

/**
 * How a thread chooses among its targets.
 */
export type ServiceChoice = { "kind": "round_robin" } | { "kind": "random" } | { "kind": "sequential" } | { "kind": "zipf", 
/**
 * Exponent in thousandths, above 0.
 */
theta_thousandths: number, };

/**
 * How the window of a step in virtual time is shorter than the one that was asked for. The record holds its real length.
 */
export type ShortenedWindow = { 
/**
 * Length of the window that was asked for, ns.
 */
asked_ns: number, 
/**
 * What ran before the window, until nothing depended on the beginning any more, ns.
 */
warm_up_ns: number, 
/**
 * Why it could be shorter.
 */
why: WhyShortened, };

/**
 * One side of a comparison.
 */
export type Side = { 
/**
 * `A`, `B`, `C`...
 */
name: string, 
/**
 * `run 7`, or the setting that makes the side: `placement=cores`.
 */
title: Message, 
/**
 * Number of the run in the lab; of several the first.
 */
run: number, 
/**
 * Numbers of all runs of the side; empty in older documents.
 */
runs: Array<number>, 
/**
 * Its study.
 */
study: string, 
/**
 * RFC 3339, UTC; `None` for an import whose file does not say.
 */
started: string | null, 
/**
 * How it stands.
 */
state: RunState, 
/**
 * The command as typed.
 */
command: string, };

/**
 * Sizes from `min_bytes` to `max_bytes`: multiples of the least one, or any.
 */
export type SizeRange = { 
/**
 * Smallest size, above 0.
 */
min_bytes: number, 
/**
 * Largest size.
 */
max_bytes: number, 
/**
 * Whether sizes are bytes that need not be multiples of the smallest.
 */
unaligned: boolean, };

/**
 * fio's `sprandom`: a pass writes the physical capacity of a drive once, so that its erase blocks are as valid as random
 * writes leave them in the end.
 */
export type SpRandom = { 
/**
 * Parts of the capacity that are written one after the other, at least 1.
 */
regions: number, 
/**
 * Capacity that the drive has beyond what it shows, in parts of a million of that.
 */
spare_ppm: number, };

/**
 * Verdict on the speed of a side against the reference.
 */
export type Speed = "faster" | "slower" | "same" | "unsure";

/**
 * Which targets a thread drives.
 */
export type Spread = "each_target" | "targets" | "all_targets";

/**
 * Which runs tell the spread from run to run.
 */
export type SpreadSource = "runs" | "ledger";

/**
 * The spread from run to run that an interval holds.
 */
export type SpreadUsed = { 
/**
 * Whose it is.
 */
source: SpreadSource, 
/**
 * Standard deviation between runs, percent of the figure.
 */
pct: number, 
/**
 * Runs that tell it.
 */
runs: number, 
/**
 * Degrees of freedom of the interval.
 */
freedom: number, };

/**
 * One stage. Its rates are shares of the step's rate, so that a step whose rate is a share of a closed loop has stages as well.
 */
export type Stage = { 
/**
 * A multiple of [`STAGE_UNIT_NS`].
 */
length_ns: number, 
/**
 * Rate at its beginning, in millionths of the step's rate; 0: nothing is due.
 */
from_ppm: number, 
/**
 * Rate at its end; between them it changes evenly.
 */
to_ppm: number, };

/**
 * What one stage asked for and got.
 */
export type StageView = { 
/**
 * From the beginning of the measured window, s.
 */
start_s: number, 
/**
 * Length, s.
 */
length_s: number, 
/**
 * Rate asked for at its beginning, I/Os per second.
 */
asked_from_iops: number, 
/**
 * Rate asked for at its end.
 */
asked_to_iops: number, 
/**
 * I/Os that completed in it.
 */
ios: number, 
/**
 * The same per second.
 */
iops: number, 
/**
 * Whether what was due in it and what earlier stages left over completed in it, but for 5 %.
 */
is_kept: boolean, 
/**
 * I/Os that were due by its end and not completed.
 */
backlog_ios: number, 
/**
 * Response from the due time, of the I/Os that completed in it; `None` where it did not keep its rate or nothing completed.
 */
lat_ns: LatencyView | null, 
/**
 * Where an earlier stage asked for more: how long after the beginning of this one the latencies were higher than an
 * undisturbed stage's, s. `None`: nothing to recover from, or no stage to compare with.
 */
recovery_s: number | null, 
/**
 * Whether it recovered within the stage; false beside a `recovery_s` that is the whole stage.
 */
is_recovered: boolean, };

/**
 * By which name a file is looked at.
 */
export type StatBy = "path" | "folder";

/**
 * How a device changed between steps: the same step was measured again and gave something else.
 */
export type StateChange = "slower" | "faster";

/**
 * Steadiness: of the rounds where the step was settled in rounds, else of the intervals of its window.
 */
export type SteadyView = { 
/**
 * Whether it was steady: where there are rounds by the specification's rule, unless the measured window left that
 * state again; else by Fathom's own.
 */
reached: boolean, 
/**
 * Why not.
 */
why: WhyUnsteady | null, 
/**
 * Rounds run, or intervals looked at.
 */
rounds: number, 
/**
 * Intervals that still look like warm-up.
 */
warmup_intervals: number, 
/**
 * Drift over the step's own window, percent of the mean per minute; `None` where only rounds were judged, or less than a second.
 */
drift_pct_per_minute: number | null, 
/**
 * Its 95 % interval.
 */
drift_ci95: [number, number] | null, 
/**
 * Steady state determination table after SNIA PTS; `None` without rounds.
 */
pts: PtsView | null, 
/**
 * Fathom's own verdict in full; `None` with too little data.
 */
own: OwnSteadyView | null, 
/**
 * The tracked variable round by round, for the convergence plot; empty without rounds.
 */
series: Array<number>, };

/**
 * One cell of the plan, measured once. Everything an engine needs to know is in here.
 */
export type Step = { 
/**
 * Position in the plan, from 0.
 */
index: number, 
/**
 * For people, e.g. `4k random read T1 QD32`.
 */
label: string, 
/**
 * What the step is for.
 */
phase: Phase, 
/**
 * Name of the group the targets are judged as.
 */
group: string, 
/**
 * At least one.
 */
targets: Array<TargetId>, 
/**
 * What is done.
 */
workload: Workload, 
/**
 * How much at once.
 */
load: Load, 
/**
 * By which means.
 */
engine: EngineSpec, 
/**
 * On which CPUs.
 */
placement: Placement, 
/**
 * Where its threads' memory lies.
 */
memory?: MemoryPolicy, 
/**
 * For how long.
 */
length: RunLength, 
/**
 * Seed of offsets, operation draws, arrival times and data.
 */
seed: string | number, 
/**
 * Its ties to other steps of the plan.
 */
role?: Role, };

/**
 * What became of a step.
 */
export type StepState = "measured" | "refused" | "skipped" | "failed" | "imported";

/**
 * One step with its judged figures.
 */
export type StepView = { 
/**
 * Position in the plan.
 */
index: number, 
/**
 * Name of the step, the same in every language: `4k random read T1 QD32`.
 */
label: string, 
/**
 * The label in words.
 */
title: Message, 
/**
 * The same of the loop that the step is a round of, or of the pass it is a part of: without the number.
 */
loop_title?: Message, 
/**
 * The same without threads and queue depth, for tables that have columns for them; empty in older documents.
 */
workload_title: Message, 
/**
 * What the step was for.
 */
phase: Phase, 
/**
 * Group of the targets.
 */
group: string, 
/**
 * Ties to the rest of the plan: test, round, conditioning, block of a comparison, settings in force.
 */
role?: Role, 
/**
 * As named by the user.
 */
targets: Array<string>, 
/**
 * What became of it.
 */
state: StepState, 
/**
 * Why, when refused or failed.
 */
reason: Message | null, 
/**
 * Remedy, when refused or failed.
 */
help: Message | null, 
/**
 * By which means I/O was issued.
 */
engine: EngineName, 
/**
 * In which mode of it.
 */
mode: Mode, 
/**
 * Whether I/O buffers were to be registered (io_uring).
 */
fixed_buffers: boolean, 
/**
 * Whether files were to be registered (io_uring).
 */
fixed_files: boolean, 
/**
 * Where the threads were to run.
 */
placement: PlacementKind, 
/**
 * CPUs the threads were bound to; empty: unpinned.
 */
cpus: Array<number>, 
/**
 * fio's word: `randread`.
 */
op: ReadWrite, 
/**
 * Share of reads.
 */
read_pct: number, 
/**
 * In which order blocks were touched: `random`, `sequential`, `zipf:1.2`...
 */
pattern: string, 
/**
 * Largest block of the split.
 */
block_size_bytes: number, 
/**
 * Whether the page cache was bypassed.
 */
direct: boolean, 
/**
 * Footprint, when known.
 */
footprint_bytes: number | null, 
/**
 * Of each target or of the step, as `spread` says.
 */
threads: number, 
/**
 * Which targets a thread drives.
 */
spread?: Spread, 
/**
 * Per thread.
 */
queue_depth: number, 
/**
 * Number of targets.
 */
devices: number, 
/**
 * Open loop: intended rate.
 */
rate_iops: number | null, 
/**
 * RFC 3339, UTC.
 */
started: string | null, 
/**
 * Start of the measured window from the start of the run; `None` for imported runs.
 */
run_offset_s: number | null, 
/**
 * Length of the measured window.
 */
runtime_s: number, 
/**
 * Start of the step to first I/O, milliseconds.
 */
setup_ms: number, 
/**
 * Completed I/Os.
 */
ios: number, 
/**
 * Failed I/Os.
 */
errors: number, 
/**
 * I/Os per second.
 */
iops: number, 
/**
 * 95 % interval, of the long run or of the window alone as `iops_ci95_blind_beyond_s` says; `None` where none would
 * hold as often as it says.
 */
iops_ci95: [number, number] | null, 
/**
 * Why there is none.
 */
iops_ci95_why_none: Message | null, 
/**
 * Length of a window that would give one, about, in seconds; `None` where there is one, or no length would.
 */
iops_ci95_needs_s: number | null, 
/**
 * The interval is that of the window alone: events that come less often than once in this many seconds may have been
 * missed. `None`: it is that of a long run, because the window took three minutes or more.
 */
iops_ci95_blind_beyond_s: number | null, 
/**
 * Bytes per second.
 */
bytes_per_s: number, 
/**
 * From the moment the slot was free to the reaping (open loop: from the intended start), all operations. `None` for an unsustainable rate.
 */
lat_ns: LatencyView | null, 
/**
 * The host's wait: slot free (open loop: actual start) -> submitted.
 */
slat_ns: LatencyView | null, 
/**
 * Submitted -> reaped.
 */
clat_ns: LatencyView | null, 
/**
 * Queue depth over all threads and targets, asked for and given; `None` where it was not counted.
 */
depth: DepthView | null, 
/**
 * Open loop: from the actual start.
 */
service_ns: LatencyView | null, 
/**
 * Reads alone.
 */
read: DirectionView | null, 
/**
 * Writes alone.
 */
write: DirectionView | null, 
/**
 * Trims alone.
 */
trim: DirectionView | null, 
/**
 * Syncs between the writes (fsync, fdatasync, NVMe Flush): `ios` and `iops` count them, they move no bytes and are no
 * part of the totals.
 */
syncs: DirectionView | null, 
/**
 * What was to make the writes durable.
 */
durability: Durability, 
/**
 * Order and sizes beyond pattern and block size.
 */
order?: IoOrder, 
/**
 * What each process had, of a step that several ran at once.
 */
ranks?: RanksRecord, 
/**
 * What order, durability and pacing are called, in fio's words and names of calls; empty for a plain load.
 */
load_words: string, 
/**
 * What held threads back beside depth and rate.
 */
pacing?: Pacing, 
/**
 * Whether the page cache was emptied before.
 */
drop_cache?: boolean, 
/**
 * Which I/O the kernel was to serve first.
 */
priorities?: Priorities, 
/**
 * Host CPU cost; `None` for imported runs.
 */
cpu: CpuView | null, 
/**
 * What limited it.
 */
limit: LimitView, 
/**
 * The most each part of the system could give, lowest first.
 */
ceilings: Array<CeilingView>, 
/**
 * What the PCIe links above the targets carried, from the processor down.
 */
links: Array<LinkLoad>, 
/**
 * Steadiness over the window; `None` with too few intervals.
 */
steady: SteadyView | null, 
/**
 * Made beforehand.
 */
predicted: PredictedView | null, 
/**
 * Latency over the quantile, as points for an axis of nines, cut where samples end.
 */
percentile_curve: Array<CurvePoint>, 
/**
 * Per interval.
 */
series: SeriesView, 
/**
 * Laws checked.
 */
checks: Array<CheckView>, 
/**
 * Engine features.
 */
features: Array<FeatureUse>, 
/**
 * What arrays in user space did on their members.
 */
arrays?: Array<ArrayRecord>, 
/**
 * How each target was purged, by a step that purges.
 */
purges?: Array<PurgeReport>, 
/**
 * Workers.
 */
workers: Array<ThreadRecord>, 
/**
 * Kernel's counters over the window.
 */
host_delta: HostDelta | null, 
/**
 * Own cost.
 */
overhead: Overhead | null, 
/**
 * Clock.
 */
clock: ClockUse | null, 
/**
 * Health of the drives behind the targets: temperature, bytes written, write amplification, throttling.
 */
drive_health?: Array<DriveHealthView>, 
/**
 * Each target for itself, when there are several.
 */
by_target?: Array<TargetView>, 
/**
 * What failed.
 */
failures: Array<IoFailure>, 
/**
 * Verification.
 */
verify: VerifyReport | null, 
/**
 * Open loop.
 */
open_loop: OpenLoop | null, 
/**
 * Stages of a load that changes with time.
 */
stages?: Array<StageView>, 
/**
 * As values.
 */
warnings: Array<Warning>, 
/**
 * The same as sentences, same order.
 */
warning_texts: Array<Message>, };

/**
 * A step's place among those that run at once with it. They follow each other in the plan.
 */
export type Stream = { 
/**
 * Number of the set, unique in the plan.
 */
set: number, 
/**
 * From 0.
 */
index: number, 
/**
 * Number of streams in the set, at least 2.
 */
of: number, 
/**
 * What the user calls it: the section of a job file, a letter.
 */
name: string, };

/**
 * The sum over a set of streams. Each of them is a step of the document as well.
 */
export type StreamSetView = { 
/**
 * Its number in the plan.
 */
set: number, 
/**
 * The streams that were measured.
 */
streams: Array<StreamView>, 
/**
 * I/Os per second of all.
 */
iops: number, 
/**
 * Bytes per second of all.
 */
bytes_per_s: number, 
/**
 * Window of the longest, s.
 */
runtime_s: number, 
/**
 * CPU time of the host meanwhile, per I/O of all streams; `None` where they did not run equally long.
 */
cpu: CpuView | null, };

/**
 * One stream of a set.
 */
export type StreamView = { 
/**
 * Index of its step.
 */
step: number, 
/**
 * What the user calls it.
 */
name: string, 
/**
 * I/Os per second.
 */
iops: number, 
/**
 * Bytes per second.
 */
bytes_per_s: number, };

/**
 * fio's `zonemode=strided`: so many bytes in a zone, then on to the next.
 */
export type StridedZones = { 
/**
 * Bytes moved in a zone before the next one.
 */
zone_bytes: number, 
/**
 * Length of a zone.
 */
range_bytes: number, 
/**
 * Bytes between the end of a zone and the next.
 */
skip_bytes: number, };

/**
 * Name, question and origin of a study.
 */
export type StudyHead = { 
/**
 * `quick`, `pinning`...; file stem for user plans; `io` for a step by hand.
 */
name: string, 
/**
 * The question the verdict answers, in the words of the study's own file; empty where it asks none.
 */
question: string, 
/**
 * Time that steps leave goes to probes of limits that are not settled.
 */
settle?: boolean, 
/**
 * Steps that need what this machine lacks are skipped: they are no failure of the run.
 */
skip_lacking?: boolean, };

/**
 * Counts over the figures that count and do not contradict themselves.
 */
export type Summary = { 
/**
 * Figures with a prediction.
 */
figures: number, 
/**
 * Of them within 10 %.
 */
within_10_pct: number, 
/**
 * Of them beyond 25 %.
 */
beyond_25_pct: number, 
/**
 * Of them beyond 25 % without a reason.
 */
unexplained: number, 
/**
 * Figures of steps that no parameter was fitted to.
 */
held_out: number, 
/**
 * Of them within 15 %.
 */
held_out_within_15_pct: number, 
/**
 * Figures that count but have no prediction.
 */
without_prediction: number, 
/**
 * Figures that contradict themselves; not counted above.
 */
contradicted: number, };

/**
 * The pairs of rates that a group was put under, and the edge of those that keep the goal.
 */
export type SurfaceView = { 
/**
 * Name of the group.
 */
group: string, 
/**
 * What the pairs were to keep; `None`: that the rates are kept up with.
 */
goal: LatencyGoal | null, 
/**
 * Pairs that were measured, in the order of the plan. What they decide for others was not run.
 */
pairs: Array<PairView>, 
/**
 * Steps of the kept pairs that no other kept one exceeds in both rates, from the fewest writes on.
 */
edge: Array<number>, };

/**
 * A sync after every so many writes of a thread. It is issued when they have completed, and covers them.
 */
export type SyncEvery = { 
/**
 * By which call.
 */
kind: SyncKind, 
/**
 * Completed writes of the thread before each sync, at least 1.
 */
writes: number, };

/**
 * The call that makes completed writes durable. Through passthrough both are the NVMe Flush command; a mapped file is
 * synced by the call for its file.
 */
export type SyncKind = "fsync" | "fdatasync";

/**
 * The ranks that take part in a step where not all need; the others wait and are counted nowhere.
 */
export type TakePart = { 
/**
 * How many were asked for.
 */
count: number, 
/**
 * Their numbers, rising. Empty until the hosts are known, and where there are fewer than asked for: then the step
 * cannot be run.
 */
ranks?: Array<number>, };

/**
 * Which target: its name in the plan, as the user gave it. Plans, records and labs speak of targets by this name alone;
 * what it is today (a path, a drive that the kernel renumbered, a simulated one) is known to whoever runs the steps.
 */
export type TargetId = string;

/**
 * What one target of several gave.
 */
export type TargetView = { 
/**
 * As named by the user.
 */
target: string, 
/**
 * Completed I/Os.
 */
ios: number, 
/**
 * I/Os per second.
 */
iops: number, 
/**
 * Bytes per second.
 */
bytes_per_s: number, 
/**
 * Failed I/Os.
 */
errors: number, 
/**
 * Mean latency; `None` without a completed I/O.
 */
lat_mean_ns: number | null, };

/**
 * Which part of the targets each rank has.
 */
export type TargetsAre = "per_rank" | "partitioned" | "shared";

/**
 * A pause of a thread after so many I/Os, begun when none of them is in flight any more.
 */
export type Think = { 
/**
 * Length of a pause.
 */
pause_ns: number, 
/**
 * Part of it that keeps the CPU busy.
 */
spin_ns: number, 
/**
 * I/Os from one pause to the next, at least 1.
 */
ios: number, };

/**
 * CPU time of one thread over the window.
 */
export type ThreadCpu = { 
/**
 * Name of the thread as the kernel has it (`iou-sqp-123`, `iou-wrk-123`, `fathom-w0`).
 */
name: string, 
/**
 * Whether it is a kernel thread working for the run (iou-sqp, iou-wrk; md in records before `kernel_threads`).
 */
kernel: boolean, 
/**
 * User time.
 */
user_ns: number, 
/**
 * System time.
 */
system_ns: number, 
/**
 * Time it was ready to run while something else had its CPU; 0 where the kernel does not tell.
 */
waited_ns: number, };

/**
 * One worker thread.
 */
export type ThreadRecord = { 
/**
 * Number of the worker, from 0.
 */
index: number, 
/**
 * Targets it worked on. Records of before 23 November 2026 have one, as `target`.
 */
targets: Array<TargetId>, 
/**
 * CPUs it was allowed on; empty: all.
 */
cpus_allowed: Array<number>, 
/**
 * CPUs it was seen on at interval ends, ascending.
 */
cpus_seen: Array<number>, 
/**
 * How often the scheduler moved it to another CPU while it worked; `None` where the kernel does not tell.
 */
migrations: number | null, 
/**
 * Time of the window that it paused because its load says so (thinktime, flow), with nothing in flight.
 */
paused_ns?: number, 
/**
 * Completed I/Os.
 */
ios: number, 
/**
 * Full passes over its blocks.
 */
passes: number, 
/**
 * Most I/Os in flight at once.
 */
in_flight_max: number, 
/**
 * How much of its time it only looked for completions, where it polls by itself.
 */
polling?: Polling, };

/**
 * Why a drive counts as slowed down by heat.
 */
export type ThrottleSign = "level" | "transition" | "critical_warning" | "warning_temperature";

/**
 * What is tracked over the rounds of a step.
 */
export type TrackedFigure = "iops" | "bytes_per_s" | "lat_mean_ns";

/**
 * How far the figures of a run can be trusted, as a whole.
 */
export type Trust = { 
/**
 * In a word.
 */
level: TrustLevel, 
/**
 * Its main reasons, the worst first, at most two; then what the intervals are of, where that is their windows alone. Empty
 * when nothing speaks against the figures and the windows were long.
 */
reasons: Array<Message>, 
/**
 * What would mend the worst of them; `None` where nothing is to be mended, or nothing would.
 */
mend: Message | null, };

/**
 * How far figures can be trusted.
 */
export type TrustLevel = "simulated" | "not_measured" | "not_judged" | "good" | "usable" | "poor";

/**
 * Place in a block of four short steps A B B A: the step that is explained (A) and a probe (B) take turns, so that what
 * drifts meanwhile changes both alike.
 */
export type Turn = { 
/**
 * Index of the step that is explained.
 */
explains: number, 
/**
 * Index of the first step of the block.
 */
block: number, 
/**
 * Whether it is the probe; otherwise it is the step that is explained, once more.
 */
is_probe: boolean, };

/**
 * The unit of a figure. One list for evidence, tiles, comparisons and charts; the words are those of the JSON contract.
 * Aliases are words of schema 1.
 */
export type Unit = "iops" | "bytes_per_s" | "bytes" | "block_bytes" | "ns" | "duration_ns" | "ns_per_io" | "iops_per_core" | "pct" | "change_pct" | "change" | "times" | "pct_per_minute" | "cores" | "count" | "per_io" | "celsius" | "hertz" | "ppm" | "watts" | "s" | "per_s";

/**
 * A step without a partner.
 */
export type Unmatched = { 
/**
 * Side that has it.
 */
side: string, 
/**
 * Its label.
 */
label: string, 
/**
 * Why it was not compared.
 */
why: Message, 
/**
 * Whether the reference measured it and the other side tried and could not: refused or failed.
 */
lost: boolean, };

/**
 * Interrupts of one vector of a drive over the window.
 */
export type VectorDelta = { 
/**
 * Number in /proc/interrupts.
 */
irq: number, 
/**
 * Driver's device: `nvme0`, `virtio1`.
 */
device: string, 
/**
 * I/O queue; `None` for administration and other purposes.
 */
queue: number | null, 
/**
 * Interrupts.
 */
count: number, 
/**
 * (CPU, interrupts) where there were any.
 */
by_cpu: Array<[number, number]>, };

/**
 * An answer with its evidence.
 */
export type Verdict = { 
/**
 * What was asked.
 */
question: Message, 
/**
 * The answer at a first look.
 */
brief: Brief, 
/**
 * The answer in full.
 */
answer: Message, 
/**
 * Sentences that carry the numbers.
 */
evidence: Array<Message>, 
/**
 * What would help, and by how much; may be empty.
 */
would_help: Array<Message>, 
/**
 * What limits the trust in the answer; may be empty.
 */
caveats: Array<Message>, 
/**
 * Four to six figures the study is about.
 */
figures: Array<Figure>, };

/**
 * How written data is proven on the way back.
 */
export type Verify = "crc32c" | "crc32c_written";

/**
 * Outcome of data verification.
 */
export type VerifyReport = { 
/**
 * Blocks read back.
 */
blocks_checked: number, 
/**
 * Sectors of different generations within one block.
 */
torn: number, 
/**
 * A good block that belongs to another offset.
 */
misplaced: number, 
/**
 * A good block of an older generation.
 */
stale: number, 
/**
 * Checksum wrong.
 */
corrupt: number, 
/**
 * No block of ours there.
 */
foreign: number, 
/**
 * The first few findings.
 */
examples: Array<Message>, };

/**
 * Something a reader of the figures must know.
 */
export type Warning = { "kind": "engine_overhead", 
/**
 * Percent of the mean latency.
 */
share_pct: number, } | { "kind": "feature_missing", 
/**
 * Which.
 */
feature: FeatureName, 
/**
 * The reason.
 */
reason: Message, } | { "kind": "littles_law", 
/**
 * IOPS x mean latency.
 */
computed: number, 
/**
 * The depth.
 */
in_flight: number, } | { "kind": "diskstats_disagree", 
/**
 * Devices.
 */
devices: Array<string>, 
/**
 * Our I/Os.
 */
ours: number, 
/**
 * Kernel's I/Os.
 */
kernel: number, } | { "kind": "member_lost", 
/**
 * The array.
 */
array: TargetId, 
/**
 * The member.
 */
member: TargetId, 
/**
 * Why.
 */
errno: number, } | { "kind": "array_syncing", 
/**
 * Kernel name of the array.
 */
device: string, 
/**
 * What it did.
 */
action: MdSync, } | { "kind": "array_degraded", 
/**
 * Kernel name of the array.
 */
device: string, 
/**
 * How many.
 */
lost: number, } | { "kind": "reads_of_unwritten_space", 
/**
 * Share of the region that has no blocks, percent.
 */
unwritten_pct: number, } | { "kind": "page_cache", 
/**
 * Bytes found cached.
 */
cached_bytes: number, } | { "kind": "small_footprint", 
/**
 * Bytes.
 */
footprint_bytes: number, } | { "kind": "wide_interval", 
/**
 * Half width of the 95 % interval, percent of the mean.
 */
half_width_pct: number, } | { "kind": "not_steady", 
/**
 * Percent of the mean per minute.
 */
drift_pct_per_minute: number, } | { "kind": "rate_unsustainable", 
/**
 * Asked.
 */
intended_iops: number, 
/**
 * Got.
 */
achieved_iops: number, } | { "kind": "replay_late", 
/**
 * Mean delay from the recorded begin to the actual one.
 */
late_ns: number, 
/**
 * Mean time between two I/Os of the trace.
 */
gap_ns: number, } | { "kind": "io_errors", 
/**
 * Number of I/Os that failed.
 */
count: number, 
/**
 * errno of the first.
 */
errno: number, } | { "kind": "noisy_host", 
/**
 * Percent stolen by the hypervisor.
 */
steal_pct: number, 
/**
 * Cores busy with other work, before the run or during the step, whichever is more.
 */
other_busy_cores: number, } | { "kind": "throttled", 
/**
 * Kernel name of the drive.
 */
device: string, 
/**
 * What says so.
 */
sign: ThrottleSign, 
/**
 * Highest temperature seen.
 */
celsius_max: number | null, } | { "kind": "migrated", 
/**
 * Thread.
 */
thread: number, } | { "kind": "clock_drift", 
/**
 * Parts per million.
 */
ppm: number, } | { "kind": "verify_failed", 
/**
 * Bad blocks.
 */
blocks: number, } | { "kind": "slow_member", 
/**
 * The target, as the plan names it.
 */
target: TargetId, 
/**
 * Its IOPS as a share of the median of the targets, percent.
 */
share_pct: number, } | { "kind": "cut_short", 
/**
 * Share that was done, percent.
 */
done_pct: number, } | { "kind": "interrupted" } | { "kind": "note", 
/**
 * The remark.
 */
text: Message, };

/**
 * Why a step in virtual time ended before the time that was asked for.
 */
export type WhyShortened = "figures_known" | "many_ios" | "drives_aged";

/**
 * Why a step is not called steady.
 */
export type WhyUnsteady = "not_achieved" | "warm_up_too_long" | "beginning_differs" | "level_changes" | "drifts" | "cannot_tell";

/**
 * Virtual time of each step, and the seed.
 */
export type Window = { 
/**
 * Warm-up that is not counted, ms.
 */
ramp_ms: number, 
/**
 * Measured, ms.
 */
runtime_ms: number, 
/**
 * Seed of addresses and service times.
 */
seed: number, };

/**
 * What is done to the targets.
 */
export type Workload = { 
/**
 * Shares of read, write and trim.
 */
mix: OpMix, 
/**
 * Order of offsets.
 */
pattern: Pattern, 
/**
 * Sizes and their shares; never empty. An offset is a multiple of the largest size of the split.
 */
block_sizes: Array<BlockSize>, 
/**
 * Part of the target.
 */
region: Region, 
/**
 * Content of writes.
 */
data: DataPattern, 
/**
 * Bytes that written data repeats over and over; empty: data is as `data` says.
 */
fill?: Array<number>, 
/**
 * Data verification, if asked.
 */
verify: Verify | null, 
/**
 * Bypass the page cache (O_DIRECT). Default true.
 */
direct: boolean, 
/**
 * Empty the page cache of the targets before the step, so that a buffered load begins cold.
 */
drop_cache?: boolean, 
/**
 * Which I/O the kernel serves first.
 */
priorities?: Priorities, 
/**
 * What makes the writes durable.
 */
durability: Durability, 
/**
 * Order and sizes beyond pattern and block sizes.
 */
order?: IoOrder, };

/**
 * `queue/write_cache` of a device.
 */
export type WriteCache = "back" | "through";

/**
 * Whether a write returns only when it is durable.
 */
export type WriteThrough = "none" | "dsync" | "sync";

/**
 * How large an access zone is.
 */
export type ZoneSpace = { "pct": number } | { "bytes": number | null };
