/** Which pictures a run asks for, read from what its steps vary. Pure: no DOM, no chart. */

import { called, DIMENSIONS, enginePath, enginePaths, engineWord, enoughOf, family, hasFigures, opKind, opWord, patternWord, plainLine, rankCount, representatives, stepsOf, type Ladders, type Line, type OpKind } from "./curves";
import type { ComparedStep, Comparison, Document, KneeView, PathsView, Spread, StepView } from "./document";
import { blockSize } from "./format";
import { joined, say, text, word } from "./text";

/** The path of a step: engine, mode, and what was left unregistered. */
export function pathWord(s: StepView): string {
  return joined(enginePath(s), s.threads > 1 ? `T${s.threads}` : "");
}

/** Most I/Os in flight that a step asks for. */
export function outstanding(s: { threads: number; queue_depth: number; devices: number; spread?: Spread }): number {
  return s.threads * s.queue_depth * (s.spread ? 1 : s.devices);
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
    return { title, kind: opKind(steps[0]?.load ?? { op: "read" }), cells };
  });
}

/** Names of compared steps. Steps with equal loads also have the name of their test, or a number. */
export function comparedNames(steps: readonly ComparedStep[], run: Pick<Document, "steps"> | null): Map<ComparedStep, string> {
  const testOf = (s: ComparedStep): string => { const test = run?.steps.find((x) => x.index === s.steps_a[0])?.role?.test; return test === undefined ? "" : (text.study.testParts[test] ?? test); };
  const names = new Map<ComparedStep, string>();
  for (const alike of gathered(steps, (s) => `${s.label} ${s.side}`).values()) {
    const tests = alike.map(testOf);
    const isTold = new Set(tests).size === alike.length;
    alike.forEach((s, i) => names.set(s, alike.length === 1 ? say(s.label) : isTold ? `${say(s.label)}${text.comma}${tests[i] ?? ""}` : `${say(s.label)} (${i + 1})`));
  }
  return names;
}

/** A curve of a group under one workload: its points in the order of what is asked at once. */
export interface GroupSet {
  title: string;
  lines: Line[];
}

/** Workloads that were measured on several groups. */
export function groupSets(doc: Ladders): GroupSet[] {
  const usable = representatives(doc).filter((s) => s.lat_ns !== null);
  if (new Set(usable.map((s) => s.group)).size < 2) return [];
  const workload = (s: StepView): string => joined(family(s), opWord(s));
  return [...gathered(usable, workload)]
    .map(([title, of]) => ({
      title,
      lines: [...gathered(of, (s) => s.group)].map(([group, list]) => ({
        ...plainLine(group, opKind(list[0] as StepView), [...list].sort((a, b) => outstanding(a) - outstanding(b) || a.threads - b.threads)),
        key: `${title}|${group}`,
        family: title,
      })),
    }))
    .filter((set) => set.lines.length > 1);
}

/** One load under several engines. */
export interface EngineSet {
  title: string;
  steps: StepView[];
  /** Those that no other beats in both rate and cost, the cheapest first. */
  front: StepView[];
  /** Number of the colour of each step: an engine has one colour in all pictures. */
  tones: number[];
}

const mostInFlight = (set: EngineSet): number => Math.max(...set.steps.map(outstanding));

/** Loads that were issued through several engines: those with the most engines first, then those with the most in flight. */
export function engineSets(doc: { steps: readonly StepView[]; paths?: readonly PathsView[] }): EngineSet[] {
  const byIndex = new Map(doc.steps.map((s) => [s.index, s]));
  const found = (indexes: readonly number[]): StepView[] => indexes.flatMap((i) => byIndex.get(i) ?? []);
  const load = (s: StepView): string => `${joined(family(s), opWord(s))}${text.comma}${text.study.inFlight(s.threads * s.queue_depth)}${s.placement === "unpinned" ? "" : ` ${word(s.placement)}`}`;
  const several = new Set(doc.steps.map((s) => s.group)).size > 1;
  const all = enginePaths(doc);
  return (doc.paths ?? [])
    .flatMap((set) => { const steps = found(set.steps); const [first] = steps; return first ? [{ title: joined(several ? first.group : "", load(first)), steps, front: found(set.front), tones: steps.map((s) => all.indexOf(enginePath(s))) }] : []; })
    .filter((set) => new Set(set.steps.map(engineWord)).size > 1)
    .sort((a, b) => b.steps.length - a.steps.length || mostInFlight(b) - mostInFlight(a));
}

/** What a picture of growth can be drawn over. */
export type ScaleAxis = "devices" | "threads" | "ranks";

/** The place of a step on such an axis. */
export function countOn(s: StepView, axis: ScaleAxis): number {
  return axis === "ranks" ? rankCount(s) : s[axis];
}

/** A ladder over drives, threads or ranks, with what proportion would give. */
export interface ScaleLine {
  label: string;
  axis: ScaleAxis;
  kind: OpKind;
  steps: StepView[];
  /** Of the steps, in their order: IOPS over what proportion to the first would give. */
  efficiency: number[];
  /** Their 95 % intervals. */
  efficiencyCi95: ([number, number] | null)[];
  /** IOPS of the first point over its count: proportion goes through it. */
  perUnit: number;
  /** Range in which it stops growing in proportion; `null`: nowhere for sure. */
  knee: KneeView | null;
  /** Step with the least count that gives 95 % of the most. */
  enough: StepView | undefined;
}

/** Fewer rounds than these make no picture. */
const SETTLED_ROUNDS_MIN = 3;

/** Fewer points than these make no picture of growth. */
const SCALE_POINTS_MIN = 3;

/** Dimensions that each label has already, or that the axis shows. */
const IN_LABEL: Record<ScaleAxis, readonly string[]> = { devices: ["op", "threads", "devices"], threads: ["op", "threads"], ranks: ["op", "threads", "ranks"] };

/** The ladders over drives, threads and ranks, each named by what differs from the others on its axis. */
export function scaleLines(doc: Ladders): ScaleLine[] {
  const ladders = doc.ladders.flatMap((ladder) => {
    const { axis } = ladder;
    const steps = stepsOf(doc, ladder);
    const [first] = steps;
    return (axis === "devices" || axis === "threads" || axis === "ranks") && first && steps.length >= SCALE_POINTS_MIN ? [{ ladder, axis, steps, first }] : [];
  });
  return ladders.map(({ ladder, axis, steps, first }) => {
    const firsts = ladders.filter((l) => l.axis === axis).map((l) => l.first);
    const differing = DIMENSIONS.filter((d) => !IN_LABEL[axis].includes(d.name) && new Set(firsts.map(d.of)).size > 1);
    const [group, others] = [differing.filter((d) => d.name === "group"), differing.filter((d) => d.name !== "group")];
    const label = joined(called(first, group), family(first), opWord(first), axis === "threads" ? "" : `T${first.threads}`, `QD${first.queue_depth}`, called(first, others));
    return { label, axis, kind: opKind(first), steps, efficiency: ladder.points.map((p) => p.efficiency ?? NaN), efficiencyCi95: ladder.points.map((p) => p.efficiency_ci95 ?? null), perUnit: first.iops / countOn(first, axis), knee: ladder.knee, enough: enoughOf(ladder, steps) };
  });
}

/**
 * One step for each loop with a determination table of steady state and the rounds behind it. Every workload of a loop
 * carries the table, which is about one of them: that one stands for the loop.
 */
export function settled(steps: readonly StepView[]): StepView[] {
  const usable = steps.filter((s) => s.steady?.pts && (s.steady.series?.length ?? 0) >= SETTLED_ROUNDS_MIN);
  const loop = (s: StepView): string => { const id = s.role?.round?.loop_id ?? s.role?.conditioning?.loop_id; return id === undefined || id === null ? `step ${s.index}` : `loop ${id}`; };
  return [...gathered(usable, loop).values()].map((of) => of.find((s) => s.role?.round?.metric) ?? (of[0] as StepView));
}

/** Steps that were predicted before they ran, with figures to hold against. */
export function predicted(steps: readonly StepView[]): StepView[] {
  return steps.filter((s) => hasFigures(s) && s.predicted !== null);
}
