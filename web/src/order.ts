/** Order and filter of the table of steps. Pure. */

import { answeredLatency, latency } from "./curves";
import type { StepView } from "./document";
import { cpuPerIo } from "./paths";

export type SortKey = "index" | "threads" | "queue_depth" | "iops" | "ci" | "bytes_per_s" | "mean" | "p50" | "p99" | "p99.9" | "max" | "cpu" | "limit";

/** Whether the first click on a column sorts upwards: what is good when large comes largest first. */
export function ascending(key: SortKey): boolean {
  return key !== "iops" && key !== "bytes_per_s";
}

function value(s: StepView, key: SortKey): number | string | null {
  const judged = s.state === "measured" || s.state === "imported";
  switch (key) {
    case "index":
    case "threads":
    case "queue_depth":
      return s[key];
    case "iops":
    case "bytes_per_s":
      return judged ? s[key] : null;
    case "ci":
      return s.iops_ci95 && s.iops > 0 ? (s.iops_ci95[1] - s.iops_ci95[0]) / s.iops : null;
    case "max":
      return answeredLatency(s)?.max ?? null;
    case "cpu":
      return cpuPerIo(s);
    case "limit":
      return judged ? s.limit.name : null;
    default:
      return latency(answeredLatency(s), key);
  }
}

/** Sorted copy; steps without the figure come last whichever way it is sorted, equal ones keep the plan's order. */
export function sortSteps(steps: readonly StepView[], key: SortKey, up: boolean): StepView[] {
  return [...steps].sort((a, b) => {
    const [x, y] = [value(a, key), value(b, key)];
    if (x === null || y === null) return x === y ? a.index - b.index : x === null ? 1 : -1;
    const order = typeof x === "string" || typeof y === "string" ? String(x).localeCompare(String(y)) : x - y;
    return (up ? order : -order) || a.index - b.index;
  });
}

/** Whether a step has every word of the filter in what it is called. Words are taken whole where they end in a digit, so that QD3 is not QD32. */
export function matches(step: StepView, filter: string, alias = ""): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter((w) => w !== "");
  if (words.length === 0) return true;
  const said = [
    step.label, alias, step.op, step.state, step.phase, step.group, step.engine, step.mode, step.placement, step.pattern,
    `t${step.threads}`, `qd${step.queue_depth}`, step.limit.name.replace(/_/g, " "), ...step.targets, ...step.warnings.map((w) => w.kind.replace(/_/g, " ")), step.reason ?? "",
  ].join(" ").toLowerCase();
  return words.every((w) => (/\d$/.test(w) ? new RegExp(`${w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?!\\d)`).test(said) : said.includes(w)));
}
