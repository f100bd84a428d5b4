/**
 * The JSON document of a run, as the binary writes it (fathom-lab, `document.rs`). Names are serde's.
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
}

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
  steady: SteadyView | null;
  predicted: PredictedView | null;
  percentile_curve: CurvePoint[];
  series: SeriesView;
  checks: CheckView[];
  features: FeatureUse[];
  workers: ThreadRecord[];
  host_delta: HostDelta | null;
  overhead: Overhead | null;
  clock: ClockUse | null;
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
}

export interface EvidenceView {
  name: string;
  value: number;
  unit: string;
}

export interface SteadyView {
  reached: boolean;
  rounds: number;
  warmup_intervals: number;
  drift_pct_per_minute: number;
  drift_ci95: [number, number] | null;
}

export interface PredictedView {
  iops: number;
  lat_ns_mean: number;
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
}

export interface CheckView {
  name: string;
  ok: boolean | null;
  sentence: string;
}

export interface FeatureUse {
  name: string;
  used: boolean;
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

/** The schema this viewer was written for. */
export const SCHEMA = 1;

/**
 * Reads the document from its JSON text. Seeds are kept as text, because `JSON.parse` would round them; the pattern
 * cannot meet anything inside a JSON string, where the quote before the colon would carry a backslash.
 */
export function parseDocument(json: string): Document {
  if (json.trim() === "" || json.trim() === "<!--fathom-document-->") {
    throw new DocumentError("This page holds no run. Reports are written by `fathom report RUN`.");
  }
  const value = JSON.parse(json.replace(/"seed":\s*(\d+)/g, '"seed":"$1"')) as Document;
  if (value.schema !== SCHEMA) {
    throw new DocumentError(`This page reads documents of schema ${SCHEMA}, the run was written with schema ${value.schema}.`);
  }
  return value;
}
