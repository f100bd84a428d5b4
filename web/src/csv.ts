/** All steps as CSV (RFC 4180): SI base units in the column names, empty where a figure does not exist. Pure. */

import { isUnknown } from "./curves";
import { QUANTILES, type StepView } from "./document";

type Cell = string | number | boolean | null | undefined;

type Kind = "user_ns_per_io" | "system_ns_per_io" | "irq_ns_per_io" | "kernel_worker_ns_per_io";

/** CPU time per I/O of a kind; empty where the sum of the kinds is not known. */
const cost = (s: StepView, kind: Kind): Cell => (s.cpu?.ns_per_io == null ? null : s.cpu[kind]);

const COLUMNS: readonly [string, (s: StepView) => Cell][] = [
  ["index", (s) => s.index],
  ["label", (s) => s.label],
  ["state", (s) => s.state],
  ["phase", (s) => s.phase],
  ["group", (s) => s.group],
  ["targets", (s) => s.targets.join(" ")],
  ["engine", (s) => (isUnknown(s, "engine") ? null : (s.role?.imported?.engine ?? s.engine))],
  ["mode", (s) => s.mode],
  ["placement", (s) => s.placement],
  ["op", (s) => s.op],
  ["read_pct", (s) => s.read_pct],
  ["pattern", (s) => s.pattern],
  ["block_size_bytes", (s) => s.block_size_bytes],
  ["threads", (s) => (isUnknown(s, "threads") ? null : s.threads)],
  ["queue_depth", (s) => (isUnknown(s, "depth") ? null : s.queue_depth)],
  ["devices", (s) => s.devices],
  ["rate_iops", (s) => s.rate_iops],
  ["runtime_s", (s) => s.runtime_s],
  ["ios", (s) => s.ios],
  ["errors", (s) => s.errors],
  ["iops", (s) => s.iops],
  ["iops_ci95_low", (s) => s.iops_ci95?.[0]],
  ["iops_ci95_high", (s) => s.iops_ci95?.[1]],
  ["bytes_per_s", (s) => s.bytes_per_s],
  ["lat_mean_ns", (s) => s.lat_ns?.mean],
  ["lat_stddev_ns", (s) => s.lat_ns?.stddev],
  ["lat_min_ns", (s) => s.lat_ns?.min],
  ...QUANTILES.map((q): [string, (s: StepView) => Cell] => [`lat_${q}_ns`, (s) => s.lat_ns?.[q]]),
  ["lat_max_ns", (s) => s.lat_ns?.max],
  ["lat_samples", (s) => s.lat_ns?.samples],
  ["busy_cores", (s) => s.cpu?.busy_cores],
  ["user_ns_per_io", (s) => cost(s, "user_ns_per_io")],
  ["system_ns_per_io", (s) => cost(s, "system_ns_per_io")],
  ["irq_ns_per_io", (s) => cost(s, "irq_ns_per_io")],
  ["kernel_worker_ns_per_io", (s) => cost(s, "kernel_worker_ns_per_io")],
  ["interrupts_per_io", (s) => s.cpu?.interrupts_per_io],
  ["context_switches_per_io", (s) => s.cpu?.context_switches_per_io],
  ["limit", (s) => s.limit.name],
  ["steady", (s) => s.steady?.reached],
  ["reason", (s) => s.reason],
  ["warnings", (s) => s.warning_texts.join("; ")],
];

function cell(value: Cell): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  let text = String(value);
  // A label that starts like a formula must stay a text when a spreadsheet opens the file.
  if (/^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** Header and one row per step. */
export function toCsv(steps: readonly StepView[]): string {
  const rows = steps.map((s) => COLUMNS.map(([, of]) => cell(of(s))).join(","));
  return [COLUMNS.map(([name]) => name).join(","), ...rows, ""].join("\r\n");
}
