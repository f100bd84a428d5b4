/**
 * The JSON document of a run, as the binary writes it (fathom-judge, `document.rs`). Names are serde's.
 * Times are nanoseconds, rates per second, sizes bytes, unless the name says otherwise. A number that is not finite
 * arrives as `null`, therefore the formatting takes `null` everywhere.
 */

export interface Document {
  fathom: string;
  schema: number;
  run: RunInfo;
  host: Json;
  verdict: Verdict[];
  steps: StepView[];
  /** A run that measured A against B. */
  comparison?: Comparison | null;
  /** Published results of the same study. */
  references?: Reference[];
  /** Sentences of this document in other languages, by their English. */
  sentences?: Record<string, Record<string, string>>;
  /** Language the report was asked for in. */
  lang?: string;
}

export interface Reference {
  id: string;
  subject: string;
  source: string;
  url: string | null;
  points: ReferencePoint[];
}

export interface ReferencePoint {
  metric: string;
  value: number;
  op: string | null;
  read_pct: number | null;
  block_size_bytes: number | null;
  threads: number | null;
  queue_depth: number | null;
  /** In flight over all drives, where the source says so. */
  outstanding?: number | null;
  devices: number | null;
  placement: string | null;
  group: string | null;
  doubt: string;
}

/** Two or more runs, or the sides of one run, set against each other (fathom-judge, `document/comparison.rs`). */
export interface Comparison {
  fathom: string;
  schema: number;
  kind: "comparison";
  sides: Side[];
  environment: Difference[];
  margin_pct: number;
  false_discovery_rate: number;
  answer: string;
  caveats: string[];
  steps: ComparedStep[];
  unmatched: { side: string; label: string; why: string }[];
  sentences?: Record<string, Record<string, string>>;
  lang?: string;
}

export interface Side {
  name: string;
  title: string;
  run: number;
  study: string;
  started: string;
  state: string;
  command: string;
}

export interface Difference {
  area: string;
  what: string;
  values: (string | null)[];
}

export interface ComparedStep {
  label: string;
  group: string;
  load: { op: string; read_pct: number; pattern: string; block_size_bytes: number; threads: number; queue_depth: number; devices: number };
  side: string;
  steps_a: number[];
  steps_b: number[];
  design: string;
  metric: string;
  ratio: number | null;
  ci95: [number, number] | null;
  verdict: string;
  p_value: number | null;
  p_adjusted: number | null;
  metrics: ComparedMetric[];
  notes: string[];
}

export interface ComparedMetric {
  name: string;
  unit: string;
  more_is_better: boolean;
  a: number;
  b: number;
  ratio: number;
  ci95: [number, number] | null;
  verdict: string;
  pairs: number[];
}

/** Published figures beside what simulated machines give (fathom-lab, `reproduce/score.rs`). */
export interface Reproduction {
  schema: number;
  articles: { id: string; title: string; publisher: string; url: string | null; machines: string[] }[];
  figures: FigureRow[];
  pictures: ArticlePicture[];
  parameters: { machines: string[]; parameter: string; value: string; fitted_to: string[] }[];
  summary: {
    figures: number;
    within_10_pct: number;
    beyond_25_pct: number;
    unexplained: number;
    held_out: number;
    held_out_within_15_pct: number;
    without_prediction: number;
    contradicted: number;
  };
  sentences?: Record<string, Record<string, string>>;
  lang?: string;
}

export interface FigureRow {
  id: string;
  article: string;
  metric: string;
  unit: string;
  published: number;
  published_max: number | null;
  relation: string;
  predicted: number | null;
  error_pct: number | null;
  fitted: boolean;
  contradiction: string | null;
  counted: boolean;
  step: string | null;
  target: string | null;
  assumed: string | null;
  reason: string | null;
}

export interface ArticlePicture {
  article: string;
  title: string;
  x: string;
  shows: string[];
  series: { name: string; points: PicturePoint[] }[];
}

export interface PicturePoint {
  x: string;
  step: string;
  values: Record<string, number>;
  published: { id: string; metric: string; value: number; value_max: number | null }[];
}

/** Whatever a page can show. */
export type Shown = Document | Comparison | Reproduction;

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface RunInfo {
  id: number;
  study: string;
  question: string;
  state: string;
  started: string;
  finished: string | null;
  elapsed_s: number | null;
  command: string;
  plan: Plan;
  fio_commands: FioCommand[];
}

export interface FioCommand {
  step: number;
  command: string;
}

export interface Verdict {
  question: string;
  answer: string;
  evidence: string[];
  would_help: string[];
  caveats: string[];
  figures: Figure[];
}

export interface Figure {
  name: string;
  value: number;
  unit: string;
  ci95: [number, number] | null;
  load: string;
  step: number;
}

export interface StepView {
  index: number;
  label: string;
  phase: string;
  group: string;
  /** Ties to the rest of the plan; absent where there are none. */
  role?: {
    test?: string;
    round?: { loop_id: number; index: number; max: number };
    block?: { set_id?: number };
    settings?: { [name: string]: Json }[];
  };
  targets: string[];
  state: string;
  reason: string | null;
  help: string | null;
  engine: string;
  mode: string;
  placement: string;
  cpus: number[];
  op: string;
  read_pct: number;
  pattern: string;
  block_size_bytes: number;
  direct: boolean;
  footprint_bytes: number | null;
  threads: number;
  queue_depth: number;
  devices: number;
  rate_iops: number | null;
  started: string | null;
  run_offset_s?: number | null;
  runtime_s: number;
  setup_ms: number;
  ios: number;
  errors: number;
  iops: number;
  iops_ci95: [number, number] | null;
  bytes_per_s: number;
  lat_ns: LatencyView | null;
  slat_ns: LatencyView | null;
  clat_ns: LatencyView | null;
  service_ns: LatencyView | null;
  read: DirectionView | null;
  write: DirectionView | null;
  trim: DirectionView | null;
  cpu: CpuView | null;
  limit: LimitView;
  ceilings?: CeilingView[];
  links?: LinkLoad[];
  steady: SteadyView | null;
  predicted: PredictedView | null;
  percentile_curve: CurvePoint[];
  series: SeriesView;
  checks: CheckView[];
  features: FeatureUse[];
  purges?: PurgeReport[];
  workers: ThreadRecord[];
  host_delta: HostDelta | null;
  overhead: Overhead | null;
  clock: ClockUse | null;
  drive_health?: DriveHealth[];
  failures: IoFailure[];
  verify: VerifyReport | null;
  open_loop: OpenLoop | null;
  warnings: Warning[];
  warning_texts: string[];
}

/** Names of the quantiles, in the order people read them. */
export const QUANTILES = ["p50", "p90", "p95", "p99", "p99.9", "p99.99", "p99.999"] as const;
export type Quantile = (typeof QUANTILES)[number];

export interface LatencyView extends Record<Quantile, number | null> {
  samples: number;
  mean: number;
  stddev: number;
  min: number;
  max: number;
  ci95: Partial<Record<string, [number, number]>>;
  needs: Partial<Record<string, NeedView>>;
}

export interface NeedView {
  ios: number;
  seconds: number;
}

export interface DirectionView {
  ios: number;
  iops: number;
  bytes_per_s: number;
  short_ios: number;
  lat_ns: LatencyView | null;
}

export interface CpuView {
  busy_cores: number;
  cpus_online: number;
  user_ns_per_io: number;
  system_ns_per_io: number;
  irq_ns_per_io: number;
  kernel_worker_ns_per_io: number;
  interrupts_per_io: number;
  context_switches_per_io: number;
  iops_per_core: number | null;
  baseline_busy_cores: number;
  steal_pct: number;
  busiest_cpu: [number, number] | null;
}

export interface LimitView {
  name: string;
  confidence: string;
  sentence: string;
  evidence: EvidenceView[];
  would_help?: string[];
}

export interface CeilingView {
  name: string;
  iops: number;
  bytes_per_s: number | null;
  sentence: string;
}

export interface LinkLoad {
  address: string;
  link: string;
  usable_bytes_per_s: number;
  read_bytes_per_s: number;
  write_bytes_per_s: number;
  load_share: number;
}

export interface EvidenceView {
  name: string;
  /** The name in words; documents of older versions have none. */
  label?: string;
  value: number;
  unit: string;
}

export interface SteadyView {
  reached: boolean;
  why?: string | null;
  rounds: number;
  warmup_intervals: number;
  drift_pct_per_minute: number | null;
  drift_ci95: [number, number] | null;
  pts?: PtsView | null;
  own?: OwnSteadyView | null;
  series?: number[];
}

/** Steady state determination table after SNIA PTS. */
export interface PtsView {
  variable: string;
  reached: boolean;
  window: [number, number] | null;
  average: number;
  range_allowed: number;
  range: number;
  excursion_allowed: number;
  excursion: number;
  slope: number;
  intercept: number;
  line: string;
  determination: string;
  drift_pct_per_round: number;
}

export interface OwnSteadyView {
  reached: boolean;
  why: string | null;
  sentence: string;
  points: number;
  warmup_points: number;
  change_points: number[];
  drift_pct_per_window: number;
  drift_ci95_pct: [number, number] | null;
  margin_pct: number;
  left_at: number | null;
}

export interface PredictedView {
  iops: number;
  lat_ns_mean: number;
  iops_error_pct?: number | null;
  lat_error_pct?: number | null;
}

export interface CurvePoint {
  q: number;
  ns: number;
}

export interface SeriesView {
  start_s: number[];
  iops: number[];
  p50_ns: (number | null)[];
  p99_ns: (number | null)[];
  cpu_busy: number[][];
  /** Whether a drive was hot or slowed down in the interval; absent where no drive tells. */
  hot?: boolean[];
}

export interface CheckView {
  name: string;
  ok: boolean | null;
  sentence: string;
  /** What likely broke it: `other_load`; missing where that is unknown. */
  cause?: string;
}

export interface FeatureUse {
  name: string;
  used: boolean;
  /** Documents of older versions say only whether it was used. */
  state?: "used" | "unavailable" | "not_asked" | null;
  detail: string;
  /** Threads it holds for; all when left out. */
  threads?: number[];
}

export interface PurgeReport {
  target: string;
  method: "nvme_format" | "nvme_sanitize" | "discard" | "punch_hole" | "absent";
  bytes: number;
  detail: string;
}

export interface ThreadRecord {
  index: number;
  target: string;
  cpus_allowed: number[];
  cpus_seen: number[];
  ios: number;
  passes: number;
  in_flight_max: number;
}

export interface CpuTime {
  user_ns: number;
  system_ns: number;
  irq_ns: number;
  softirq_ns: number;
  steal_ns: number;
  iowait_ns: number;
  idle_ns: number;
}

export interface ThreadCpu {
  name: string;
  kernel: boolean;
  user_ns: number;
  system_ns: number;
}

export interface DiskDelta {
  device: string;
  read_ios: number;
  read_bytes: number;
  read_merges: number;
  write_ios: number;
  write_bytes: number;
  write_merges: number;
  discard_ios: number;
  busy_ns: number;
  weighted_ns: number;
}

export interface HostDelta {
  window_ns: number;
  cpus: [number, CpuTime][];
  idle_baseline: CpuTime;
  idle_baseline_window_ns: number;
  threads: ThreadCpu[];
  interrupts: number;
  context_switches: number;
  disks: DiskDelta[];
  sampler_ns: number;
  cpu_busy_by_interval: number[][];
  page_cache_bytes: number | null;
  /** Interrupts of each storage vector by CPU. */
  vectors?: { irq: number; device: string; queue: number | null; count: number; by_cpu: [number, number][] }[];
}

/** One drive over one step (fathom-judge, `document/health.rs`). */
export interface DriveHealth {
  device: string;
  source: string;
  celsius_first: number | null;
  celsius_last: number | null;
  celsius_max: number | null;
  warning_celsius: number | null;
  critical_celsius: number | null;
  host_written_bytes: number | null;
  nand_written_bytes: number | null;
  write_amplification: number | null;
  throttled: string | null;
  critical_warnings: string[];
  samples: { at_s: number; celsius: number | null; hot: boolean; host_written_bytes: number | null; nand_written_bytes: number | null }[];
}

export interface Overhead {
  loop_ns_per_io: number;
  batch_stamp_error_ns_mean: number;
  ios_per_submit: number;
}

export interface ClockUse {
  source: string;
  read_cost_ns: number;
  drift_ppm: number;
}

export interface IoFailure {
  op: string;
  errno: number;
  count: number;
  first_offset_bytes: number;
}

export interface VerifyReport {
  blocks_checked: number;
  torn: number;
  misplaced: number;
  stale: number;
  corrupt: number;
  foreign: number;
  examples: string[];
}

export interface OpenLoop {
  intended_iops: number;
  submit_delay_ns_mean_halves: [number, number];
  backlog_end_ios: number;
  unsustainable: boolean;
}

export interface Warning {
  kind: string;
  [field: string]: Json;
}

export interface Plan {
  study: { name: string; question: string };
  source: string;
  steps: PlanStep[];
  notes: string[];
  /** The simulated machine that the targets are parts of. */
  machine?: { name: string; text: string } | null;
}

/** Only what the page shows of a planned step. */
export interface PlanStep {
  index: number;
  label: string;
  /** A 64-bit number, kept as text: JavaScript's numbers hold 53 bits. */
  seed: string | number;
  length: {
    ramp_ns: number;
    floor_ns: number;
    budget_ns: number;
    iops_rel_half_width: number;
    p99_rel_half_width: number;
    passes: number | null;
  };
}

/** Error of a document that the page cannot show. */
export class DocumentError extends Error {}

/** The schema this viewer was written for; it reads older ones too. */
export const SCHEMA = 2;

/**
 * Reads the document from its JSON text. Seeds are kept as text, because `JSON.parse` would round them; the pattern
 * cannot meet anything inside a JSON string, where the quote before the colon would carry a backslash.
 */
export function parseDocument(json: string): Shown {
  if (json.trim() === "" || json.trim() === "<!--fathom-document-->") {
    throw new DocumentError("This page holds no run. Reports are written by `fathom report RUN`.");
  }
  const value = JSON.parse(json.replace(/"seed":\s*(\d+)/g, '"seed":"$1"')) as Shown;
  if (!(value.schema <= SCHEMA)) {
    throw new DocumentError(`This page reads documents up to schema ${SCHEMA}, the run was written with schema ${value.schema}.`);
  }
  return value;
}
