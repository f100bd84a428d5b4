/** Latency against the rate of a workload, closed and offered, with the goal that was asked for. Pure. */

import { family, hasFigures, latency, opKind, opWord, representatives, type Ladders, type OpKind } from "./curves";
import type { Quantile, StepView } from "./document";
import { joined } from "./text";

export type Shown = Quantile | "mean";

/** One workload: what it gave in a closed loop, and at the rates it was offered. */
export interface GoalSet {
  title: string;
  kind: OpKind;
  /** By what was in flight. */
  closed: StepView[];
  /** By the rate that was offered. */
  offered: StepView[];
}

/** Fewer points than these make no picture. */
export const POINTS_MIN = 3;

/** The workloads of a run that answers for latencies: `qos`, and any with a goal. */
export function goalSets(doc: Ladders & { run: { study: string } }): GoalSet[] {
  const usable = representatives(doc).filter((s) => hasFigures(s) && s.lat_ns !== null);
  if (doc.run.study !== "qos" && !usable.some((s) => s.role?.latency_goal)) return [];
  const sets = new Map<string, GoalSet>();
  const groups = new Set(usable.map((s) => s.group)).size;
  for (const s of usable) {
    const title = joined(groups > 1 ? s.group : "", family(s), opWord(s));
    const set = sets.get(title) ?? { title, kind: opKind(s), closed: [], offered: [] };
    sets.set(title, set);
    (s.rate_iops === null ? set.closed : set.offered).push(s);
  }
  for (const set of sets.values()) {
    set.closed.sort((a, b) => a.threads * a.queue_depth - b.threads * b.queue_depth);
    set.offered.sort((a, b) => (a.rate_iops ?? 0) - (b.rate_iops ?? 0));
  }
  return [...sets.values()].filter((set) => Math.max(set.closed.length, set.offered.length) >= POINTS_MIN);
}

/** Where a step stands on the axis of rates: what was offered, or what a closed loop gave. */
export function rateOf(s: StepView): number {
  return s.rate_iops ?? s.iops;
}

/** The goal for this latency; `null`: none was set for it. */
export function goalOf(set: GoalSet, name: Shown): number | null {
  const goal = [...set.closed, ...set.offered].map((s) => s.role?.latency_goal).find((g) => g !== undefined);
  return (name === "p99" ? goal?.p99_ns : name === "mean" ? goal?.mean_ns : undefined) ?? null;
}

/** Whether a step keeps a goal with its whole interval. */
export function keeps(s: StepView, name: Shown, goal: number): boolean {
  const value = latency(s.lat_ns, name);
  return value !== null && (s.lat_ns?.ci95[name]?.[1] ?? value) <= goal;
}

/** The highest rate that keeps the goal; `null`: none does. */
export function safeRate(set: GoalSet, name: Shown): number | null {
  const goal = goalOf(set, name);
  if (goal === null) return null;
  const rates = [...set.closed, ...set.offered].filter((s) => keeps(s, name, goal)).map(rateOf);
  return rates.length === 0 ? null : Math.max(...rates);
}
