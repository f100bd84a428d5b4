/** Which pictures a run asks for, read from what its steps vary. Pure: no DOM, no chart. */

import { family, hasFigures, opKind, opWord, patternWord, representatives, type Line, type OpKind } from "./curves";
import type { ComparedStep, Comparison, StepView } from "./document";
import { blockSize } from "./format";
import { joined, word } from "./text";

/** `io_uring`, `io_uring iopoll`. */
export function engineWord(s: StepView): string {
  return s.mode === "" || s.mode === "interrupt" ? s.engine : `${s.engine} ${s.mode}`;
}

/** Most I/Os in flight that a step asks for. */
export function outstanding(s: { threads: number; queue_depth: number; devices: number }): number {
  return s.threads * s.queue_depth * s.devices;
}

function gathered<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const list = found.get(key(item));
    if (list) list.push(item);
    else found.set(key(item), [item]);
  }
  return found;
}

/** Loads of one workload on both sides, in the order of what is asked at once. */
export interface PairSet {
  title: string;
  kind: OpKind;
  /** One entry per load; `sides` by the name of the side set against A. */
  cells: { load: string; sides: Map<string, ComparedStep> }[];
}

/** The compared steps by workload. */
export function pairSets(c: Comparison): PairSet[] {
  const usable = c.steps.filter((s) => s.metrics.length > 0);
  const groups = new Set(usable.map((s) => s.group));
  const titleOf = (s: ComparedStep): string =>
    [groups.size > 1 ? s.group : "", blockSize(s.load.block_size_bytes), patternWord(s.load.pattern), opWord(s.load), s.load.devices > 1 ? `D${s.load.devices}` : ""].reduce((a, b) => joined(a, b), "");
  return [...gathered(usable, titleOf)].map(([title, steps]) => {
    const oneThread = new Set(steps.map((s) => s.load.threads)).size === 1;
    const name = (s: ComparedStep): string => (oneThread ? `QD${s.load.queue_depth}` : `${s.load.threads}x${s.load.queue_depth}`);
    const sorted = [...steps].sort((a, b) => a.load.threads - b.load.threads || a.load.queue_depth - b.load.queue_depth);
    const cells = [...gathered(sorted, name)].map(([load, of]) => ({ load, sides: new Map(of.map((s) => [s.side, s])) }));
    return { title, kind: opKind(steps[0]?.load ?? { op: "read", read_pct: 100 }), cells };
  });
}

/** A curve of a group under one workload: its points in the order of what is asked at once. */
export interface GroupSet {
  title: string;
  lines: Line[];
}

/** Workloads that were measured on several groups. */
export function groupSets(steps: readonly StepView[]): GroupSet[] {
  const usable = representatives(steps).filter((s) => s.lat_ns !== null);
  if (new Set(usable.map((s) => s.group)).size < 2) return [];
  const workload = (s: StepView): string => joined(family(s), opWord(s));
  return [...gathered(usable, workload)]
    .map(([title, of]) => ({
      title,
      lines: [...gathered(of, (s) => s.group)].map(([group, list]) => ({
        key: `${title}|${group}`,
        label: group,
        set: "",
        family: title,
        kind: opKind(list[0] as StepView),
        threads: 0,
        steps: [...list].sort((a, b) => outstanding(a) - outstanding(b) || a.threads - b.threads),
      })),
    }))
    .filter((set) => set.lines.length > 1);
}

/** One load under several engines. */
export interface EngineSet {
  title: string;
  steps: StepView[];
}

/** Loads that were issued through several engines, those with the most engines first. */
export function engineSets(steps: readonly StepView[]): EngineSet[] {
  const usable = representatives(steps).filter((s) => s.rate_iops === null);
  const load = (s: StepView): string => `${joined(family(s), opWord(s))} T${s.threads} QD${s.engine === "psync" || s.engine === "mmap" ? 1 : s.queue_depth}${s.placement === "unpinned" ? "" : ` ${word(s.placement)}`}`;
  return [...gathered(usable, load)]
    .map(([title, of]) => ({ title, steps: [...gathered(of, engineWord).values()].map((list) => list[0] as StepView) }))
    .filter((set) => set.steps.length > 1)
    .sort((a, b) => b.steps.length - a.steps.length);
}

/** A line over drives or threads, with what proportion would give. */
export interface ScaleLine {
  label: string;
  axis: "devices" | "threads";
  kind: OpKind;
  steps: StepView[];
  /** IOPS of the first point over its count: proportion goes through it. */
  perUnit: number;
  /** First step that is held by something else than the first one. */
  knee: StepView | undefined;
}

/** Lines along which only the number of drives or of threads grows. */
export function scaleLines(steps: readonly StepView[]): ScaleLine[] {
  const usable = representatives(steps).filter((s) => s.rate_iops === null);
  const out: ScaleLine[] = [];
  for (const axis of ["devices", "threads"] as const) {
    const other = axis === "devices" ? "threads" : "devices";
    const name = (s: StepView): string =>
      [family(s), opWord(s), `QD${s.queue_depth}`, axis === "threads" ? "" : `T${s.threads}`, s.placement === "unpinned" ? "" : word(s.placement), axis === "threads" && s.devices > 1 ? `D${s.devices}` : ""].reduce((a, b) => joined(a, b), "");
    for (const [label, of] of gathered(usable, (s) => `${name(s)}|${s[other]}|${engineWord(s)}|${axis === "threads" ? `${s.group}|${s.targets.join(",")}` : ""}`)) {
      const line = [...gathered(of, (s) => String(s[axis])).values()].map((list) => list[0] as StepView).sort((a, b) => a[axis] - b[axis]);
      const first = line[0];
      if (!first || line.length < 3) continue;
      const knee = line.find((s) => s.limit.name !== first.limit.name && s.limit.name !== "unknown");
      out.push({ label: label.split("|")[0] ?? label, axis, kind: opKind(first), steps: line, perUnit: first.iops / first[axis], knee });
    }
  }
  return out;
}

/** Steps with a determination table of steady state and the rounds behind it. */
export function settled(steps: readonly StepView[]): StepView[] {
  return steps.filter((s) => s.steady?.pts && (s.steady.series?.length ?? 0) > 1);
}

/** Steps that were predicted before they ran, with figures to hold against. */
export function predicted(steps: readonly StepView[]): StepView[] {
  return steps.filter((s) => hasFigures(s) && s.predicted !== null);
}

/** Median of some numbers; `null` of none. */
export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const mid = sorted.length >> 1;
  const [low, high] = [sorted[mid - 1], sorted[mid]];
  if (high === undefined) return null;
  return sorted.length % 2 === 1 || low === undefined ? high : (low + high) / 2;
}
