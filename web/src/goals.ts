/** Latency against the rate of a workload, closed and offered, with the goal that was asked for. Pure. */

import { family, hasFigures, opKind, opWord, representatives, type Ladders, type OpKind } from "./curves";
import type { GoalView, Quantile, StepView } from "./document";
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
  /** What was asked of its latencies, and how far each is kept. */
  goals: Goal[];
}

/** A latency that was asked for. */
export interface Goal {
  name: Shown;
  mostNs: number;
  /** The highest load that keeps it, as the document judges; `null`: none does. */
  kept: StepView | null;
}

/** Fewer points than these make no picture. */
export const POINTS_MIN = 3;

/** The workloads of a run that answers for latencies: `qos`, and any with a goal. */
export function goalSets(doc: Ladders & { run: { study: string }; goals?: readonly GoalView[] }): GoalSet[] {
  const usable = representatives(doc).filter((s) => hasFigures(s) && s.lat_ns !== null && !s.role?.rate_pair);
  if (doc.run.study !== "qos" && !usable.some((s) => s.role?.latency_goal)) return [];
  const sets = new Map<string, GoalSet>();
  const groups = new Set(usable.map((s) => s.group)).size;
  for (const s of usable) {
    const title = joined(groups > 1 ? s.group : "", family(s), opWord(s));
    const set = sets.get(title) ?? { title, kind: opKind(s), closed: [], offered: [], goals: [] };
    sets.set(title, set);
    (s.rate_iops === null ? set.closed : set.offered).push(s);
  }
  for (const set of sets.values()) {
    set.closed.sort((a, b) => a.threads * a.queue_depth - b.threads * b.queue_depth);
    set.offered.sort((a, b) => (a.rate_iops ?? 0) - (b.rate_iops ?? 0));
    const shown = new Set([...set.closed, ...set.offered].map((s) => s.index));
    set.goals = (doc.goals ?? []).filter((g) => g.steps.some((i) => shown.has(i))).map((g) => ({
      name: g.figure === "lat_mean" ? "mean" : "p99", mostNs: g.most_ns, kept: doc.steps.find((s) => s.index === g.kept_step) ?? null,
    }));
  }
  return [...sets.values()].filter((set) => Math.max(set.closed.length, set.offered.length) >= POINTS_MIN);
}

/** Where a step stands on the axis of rates: what was offered, or what a closed loop gave. */
export function rateOf(s: StepView): number {
  return s.rate_iops ?? s.iops;
}

/** The goal for this latency; `undefined`: none was set for it. */
export function goalOf(set: GoalSet, name: Shown): Goal | undefined {
  return set.goals.find((g) => g.name === name);
}
