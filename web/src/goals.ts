/** Latency against the rate of a workload, closed and offered, with the goal that was asked for. Pure. */

import { family, hasFigures, opKind, opWord, representatives, type Ladders, type OpKind } from "./curves";
import type { Document, GoalView, Quantile, StepView } from "./document";
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
  /** All loads that carry it, by their rates, also those that were not sustained. */
  steps: StepView[];
}

/** Outcome of a load for a goal, by the rule of the answer: the whole interval of the latency within it or beyond it. */
export function outcomeOf(s: StepView, goal: Goal): "kept" | "missed" | "unknown" {
  if (s.open_loop?.unsustainable) return "missed";
  const ci = s.lat_ns?.ci95[goal.name];
  if (!ci) return "unknown";
  return ci[1] <= goal.mostNs ? "kept" : ci[0] > goal.mostNs ? "missed" : "unknown";
}

/** Deepest closed loop that keeps the goal each time it was measured; loads above the first that misses it do not count. */
export function deepestLoop(goal: Goal): StepView | null {
  const sorted = goal.steps.filter((s) => s.rate_iops === null).sort((a, b) => a.threads * a.queue_depth - b.threads * b.queue_depth);
  const miss = sorted.findIndex((s) => outcomeOf(s, goal) === "missed");
  const isSame = (a: StepView, b: StepView): boolean => a.threads === b.threads && a.queue_depth === b.queue_depth;
  const kept = sorted.slice(0, miss < 0 ? undefined : miss).filter((s) => sorted.every((other) => !isSame(s, other) || outcomeOf(other, goal) === "kept"));
  return kept[kept.length - 1] ?? null;
}

/** True where a step is the highest load known to keep a goal, but the next higher load of its kind is inconclusive. */
export function isLowerBound(doc: Pick<Document, "steps" | "goals">, step: number | null): boolean {
  const kept = doc.steps.find((s) => s.index === step);
  if (!kept) return false;
  return doc.goals.filter((g) => g.kept_step === step).map((g) => goalFrom(doc, g)).some((goal) => {
    const next = goal.steps.find((s) => (s.rate_iops === null) === (kept.rate_iops === null) && rateOf(s) > rateOf(kept));
    return next !== undefined && outcomeOf(next, goal) === "unknown";
  });
}

function goalFrom(doc: Pick<Document, "steps">, g: GoalView): Goal {
  const steps = doc.steps.filter((s) => g.steps.includes(s.index)).sort((a, b) => rateOf(a) - rateOf(b));
  return { name: g.figure === "lat_mean" ? "mean" : "p99", mostNs: g.most_ns, kept: steps.find((s) => s.index === g.kept_step) ?? null, steps };
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
    set.goals = (doc.goals ?? []).filter((g) => g.steps.some((i) => shown.has(i))).map((g) => goalFrom(doc, g));
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
