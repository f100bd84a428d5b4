/** From steps to the points of the pictures. Pure: no DOM, no chart. */

import { QUANTILES, type CurvePoint, type Document, type Figure, type KneeView, type LadderView, type LatencyView, type LoadPart, type Quantile, type ReadWrite, type StepView } from "./document";
import { blockSize, figureParts, NONE } from "./format";
import { joined, text, word } from "./text";

/** What an operation is, for colours and words. */
export type OpKind = "read" | "write" | "mixed" | "trim";

/** What each of fio's words does, and in which order of the blocks. */
const OPS: Record<ReadWrite, { kind: OpKind; random: boolean }> = {
  read: { kind: "read", random: false },
  randread: { kind: "read", random: true },
  write: { kind: "write", random: false },
  randwrite: { kind: "write", random: true },
  rw: { kind: "mixed", random: false },
  randrw: { kind: "mixed", random: true },
  trim: { kind: "trim", random: false },
  randtrim: { kind: "trim", random: true },
  trimwrite: { kind: "trim", random: false },
  randtrimwrite: { kind: "trim", random: true },
  filecreate: { kind: "write", random: false },
  filestat: { kind: "read", random: false },
  filedelete: { kind: "trim", random: false },
};

/** Kind of an operation. */
export function opKind(step: { op: ReadWrite }): OpKind {
  return OPS[step.op].kind;
}

/** Whether blocks are touched in random order, by fio's word. */
export function isRandomOp(op: ReadWrite): boolean {
  return OPS[op].random;
}

/** `read`, `70/30 mixed`, and behind it what else names the load: `write + fdatasync`, `read thinktime 2ms`. */
export function opWord(s: { op: ReadWrite; read_pct: number; load_words: string }): string {
  // Whole files: their word is fio's, and says it.
  if (s.op.startsWith("file")) return joined(s.op, s.load_words);
  const kind = opKind(s);
  const operations = kind === "mixed" ? text.line.mixed(s.read_pct, 100 - s.read_pct) : word(kind);
  return joined(operations, s.load_words);
}

/** A pattern with its parameter: `random`, `zipf:1.2`. */
export function patternWord(pattern: string): string {
  if (pattern === "unknown") return text.line.unknownOrder;
  const [name = "", parameter] = pattern.split(":");
  return parameter === undefined ? word(name) : `${word(name)}:${parameter}`;
}

/** True for a run that was measured elsewhere: no command measures it again. */
export function isImported(doc: Pick<Document, "trust">): boolean {
  return doc.trust?.level === "not_judged";
}

/** True for a part of an imported load that its file does not say. */
export function isUnknown(s: StepView, part: LoadPart): boolean {
  return s.role?.imported?.unknown?.includes(part) ?? false;
}

/** Threads of a step; `?` where an import does not say. */
export function threadsWord(s: StepView): string {
  return isUnknown(s, "threads") ? "?" : String(s.threads);
}

/** Queue depth of a step; `>=16` where an import says no more. */
export function depthWord(s: StepView): string {
  return isUnknown(s, "depth") ? `>=${s.queue_depth}` : String(s.queue_depth);
}

/** Whether a step carries figures. */
export function hasFigures(step: StepView): boolean {
  return (step.state === "measured" || step.state === "imported") && step.phase === "measure" && step.ios > 0;
}

/** Figure that the headline names; the first one where it names none. */
export function headlineFigure(doc: Pick<Document, "verdict">): Figure | undefined {
  const [first] = doc.verdict;
  const figures = doc.verdict.flatMap((v) => v.figures);
  const words = (first?.brief.headline ?? "").split(" ");
  return figures.find((f) => words.includes(figureParts(f.value, f.unit).number)) ?? figures[0];
}

/** True for steps of one load, in whichever round or repeat. */
export function isSameLoad(a: StepView, b: StepView): boolean {
  return called(a, DIMENSIONS) === called(b, DIMENSIONS) && family(a) === family(b) && a.queue_depth === b.queue_depth && a.rate_iops === b.rate_iops;
}

/** Step of the figure that the headline names. */
export function headlineStep(doc: Pick<Document, "steps" | "verdict">): StepView | undefined {
  const figure = headlineFigure(doc);
  return doc.steps.find((s) => s.index === figure?.step && hasFigures(s));
}

/** True for a step that answers for the latency of the sync that makes its writes durable. */
export function isOfSync(s: StepView): boolean {
  return s.durability.sync !== null && (s.syncs?.lat_ns ?? null) !== null;
}

/** Latency that a step answers for: of the sync, else of its I/Os. */
export function answeredLatency(s: StepView): LatencyView | null {
  return isOfSync(s) ? (s.syncs?.lat_ns ?? null) : s.lat_ns;
}

/** Points of the percentile curve of that latency. Of a sync the document has single quantiles. */
export function answeredTail(s: StepView): [number, number][] {
  if (!isOfSync(s)) return tailPoints(s.percentile_curve, lastNines(s));
  return QUANTILES.flatMap((q): [number, number][] => { const ns = latency(answeredLatency(s), q); return ns === null ? [] : [[nines(Number(q.slice(1)) / 100), ns]]; });
}

/** A ladder over queue depth or rate: one line of a picture. */
export interface Line {
  /** Unique among the lines of a run. */
  key: string;
  /** What this line's steps share and other lines do not. */
  label: string;
  /** The label without the threads and their placement: lines of one such name are a set that is read together. */
  set: string;
  /** What the picture it belongs to shares: pattern and block size. */
  family: string;
  kind: OpKind;
  threads: number;
  /** By queue depth (or rate, in an open loop), ascending. */
  steps: StepView[];
  /** Range in which it stops growing in proportion; `null`: nowhere for sure. */
  knee: KneeView | null;
  /** Step with the least load that gives 95 % of the most. */
  enough: StepView | undefined;
  /** Number of the colour of its engine, in a run of several engines. */
  tone?: number;
}

/** A range whose end is more than this many times its start does not locate a knee. */
const KNEE_RANGE_MAX = 4;

/** True when the range of a knee is narrow enough to be drawn. */
export function isKneeLocated(knee: KneeView): boolean {
  return knee.between[1] <= KNEE_RANGE_MAX * knee.between[0];
}

/** A line of a picture that has no ladder behind it. */
export function plainLine(label: string, kind: OpKind, steps: StepView[]): Line {
  return { key: label, label, set: "", family: "", kind, threads: 0, steps, knee: null, enough: undefined };
}

/** How many ranks took part in a step; 1 for a run of one process. */
export function rankCount(s: StepView): number {
  return s.ranks ? s.ranks.ranks.length + s.ranks.lost.length : (s.role?.ranks?.count ?? 1);
}

/** `io_uring`, `io_uring iopoll`. */
export function engineWord(s: StepView): string {
  if (isUnknown(s, "engine")) return NONE;
  const imported = s.role?.imported?.engine;
  if (imported !== undefined) return imported;
  return s.mode === "interrupt" ? s.engine : `${s.engine} ${s.mode}`;
}

/** Engine, mode, and unregistered resources. */
export function enginePath(s: StepView): string {
  return joined(engineWord(s), s.engine === "io_uring" ? text.line.registration(s.fixed_buffers, s.fixed_files) : "");
}

/** Paths of a run in the order of its plan: each has one colour in all pictures. */
export function enginePaths(doc: { steps: readonly StepView[] }): string[] {
  return [...new Set(doc.steps.filter(hasFigures).map(enginePath))];
}

type Dimension = { name: string; of: (s: StepView) => string };

/** What names a line, in the order labels have it. */
export const DIMENSIONS: readonly Dimension[] = [
  { name: "group", of: (s) => s.group },
  { name: "devices", of: (s) => text.line.targets(s.devices) },
  { name: "ranks", of: (s) => text.line.ranks(rankCount(s)) },
  { name: "op", of: (s) => opWord(s) },
  { name: "threads", of: (s) => `T${s.threads}` },
  { name: "engine", of: engineWord },
  { name: "registration", of: (s) => (s.engine === "io_uring" ? text.line.registration(s.fixed_buffers, s.fixed_files) : "") },
  { name: "placement", of: (s) => word(s.placement) },
  { name: "direct", of: (s) => word(s.direct ? "direct" : "buffered") },
  { name: "loop", of: (s) => (s.rate_iops === null ? text.line.closed : text.line.open) },
  { name: "settings", of: (s) => (s.role?.settings ?? []).map((x) => `${String(x["name"] ?? "")}=${String(x["value"] ?? "")}`).join(" ") },
];

/** `4k random`: what the steps of one picture share. */
export function family(step: StepView): string {
  return `${blockSize(step.block_size_bytes)} ${patternWord(step.pattern)}`;
}

/** Every load of the run once, in the order of the plan: the steps of the ladders. */
export function representatives(doc: Ladders): StepView[] {
  const loads = doc.ladders.filter(isOfLoads).flatMap((l) => stepsOf(doc, l));
  return loads.sort((a, b) => a.index - b.index);
}

/** What ladders are read from. */
export type Ladders = Pick<Document, "steps" | "ladders">;

/** The ladders that hold each load of a run once; the others hold some of them again. */
function isOfLoads(ladder: LadderView): boolean {
  return ladder.axis === "queue_depth" || ladder.axis === "rate";
}

/** The steps of a ladder, in its order. */
export function stepsOf(doc: Ladders, ladder: LadderView): StepView[] {
  const byIndex = new Map(doc.steps.map((s) => [s.index, s]));
  return ladder.points.flatMap((p) => byIndex.get(p.step) ?? []);
}

/** Step with the least load that gives 95 % of the most, where its load is not the most that was tried. */
export function enoughOf(ladder: LadderView, steps: readonly StepView[]): StepView | undefined {
  const found = steps.findIndex((s) => s.index === ladder.enough);
  return found === steps.length - 1 ? undefined : steps[found];
}

export function called(step: StepView, by: readonly Dimension[]): string {
  return by.map((d) => d.of(step)).filter((x) => x !== "").join(" ");
}

/** The ladders over queue depth and rate as lines, each named by what tells it from the others. */
export function lines(doc: Ladders): Line[] {
  const usable = representatives(doc);
  const varying = DIMENSIONS.filter((d) => new Set(usable.map(d.of)).size > 1);
  const naming = varying.length > 0 ? varying : DIMENSIONS.filter((d) => d.name === "op" || d.name === "threads");
  const named = naming.some((d) => d.name === "op") ? naming : [...DIMENSIONS.filter((d) => d.name === "op"), ...naming];
  const paths = enginePaths(doc);
  const byEngine = paths.length > 1 && new Set(usable.map(opKind)).size === 1;
  return doc.ladders.filter(isOfLoads).flatMap((ladder) => {
    const steps = stepsOf(doc, ladder);
    const [first] = steps;
    if (!first) return [];
    return [{
      key: `${ladder.axis} ${first.index}`,
      label: called(first, named),
      set: called(first, named.filter((d) => d.name !== "threads" && d.name !== "placement")),
      family: family(first),
      kind: opKind(first),
      threads: first.threads,
      steps,
      knee: ladder.knee,
      enough: enoughOf(ladder, steps),
      ...(byEngine ? { tone: paths.indexOf(enginePath(first)) } : {}),
    }];
  });
}

/** Families of the lines; those with the longest ladder first, because they are what the pictures are for. */
export function families(all: readonly Line[]): string[] {
  const depth = new Map<string, number>();
  for (const line of all) depth.set(line.family, Math.max(depth.get(line.family) ?? 0, line.steps.length));
  return [...depth.entries()].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

/** The line a reader most likely wants: longest ladder, then the one the plan begins with. */
export function mainLine(all: readonly Line[]): Line | undefined {
  return [...all].sort((a, b) => b.steps.length - a.steps.length)[0];
}


/** At most `most` of the lines, those with the most IOPS, in their own order. */
export function strongest(all: readonly Line[], most: number): Line[] {
  if (all.length <= most) return [...all];
  const kept = new Set(
    [...all].sort((a, b) => Math.max(...b.steps.map((s) => s.iops)) - Math.max(...a.steps.map((s) => s.iops))).slice(0, most),
  );
  return all.filter((line) => kept.has(line));
}

/** A latency figure of a step, by name. */
export function latency(lat: LatencyView | null, name: Quantile | "mean"): number | null {
  if (!lat) return null;
  const value = lat[name];
  return value !== null && Number.isFinite(value) && value > 0 ? value : null;
}

/** Where a quantile lies on an axis of nines: 0.9 -> 1, 0.99 -> 2. */
export function nines(q: number): number {
  return -Math.log10(1 - q);
}

/** Where the median lies on the axis of nines. */
export const P50_NINES = Math.log10(2);

/** The quantile at a place on the axis of nines, as people name it: 3 -> `p99.9`. */
export function ninesName(x: number): string {
  if (x < 0.005) return "p0";
  if (Math.abs(x - P50_NINES) < 1e-6) return "p50";
  const q = (1 - 10 ** -x) * 100;
  return `p${Number(q.toFixed(Math.max(0, Math.ceil(x) - 1) + (Number.isInteger(x) ? 0 : 1)))}`;
}

/**
 * Shifts labels apart that would lie on each other: offsets for marks at `ys`, so that no two are nearer than `gap` and
 * none lies beyond `low` or `high`. The order of the marks is kept.
 */
export function apart(ys: readonly number[], gap: number, low: number, high: number): number[] {
  const order = ys.map((_, i) => i).sort((a, b) => (ys[a] ?? 0) - (ys[b] ?? 0));
  const placed: number[] = [];
  for (const i of order) placed.push(Math.max(ys[i] ?? 0, low, (placed[placed.length - 1] ?? -Infinity) + gap));
  let limit = high;
  for (let k = placed.length - 1; k >= 0; k--) {
    placed[k] = Math.min(placed[k] ?? 0, limit);
    limit = (placed[k] ?? 0) - gap;
  }
  const offsets = ys.map(() => 0);
  order.forEach((i, k) => (offsets[i] = (placed[k] ?? 0) - (ys[i] ?? 0)));
  return offsets;
}

/** How many intervals of a step are whole: the rate of a last one that the end cut short is of a moment, not of an interval. */
export function wholeIntervals(s: StepView): number {
  const starts = s.series.start_s;
  const [last = 0, before = 0] = [starts[starts.length - 1], starts[starts.length - 2]];
  return starts.length > 1 && s.runtime_s - last < (last - before) / 2 ? starts.length - 1 : starts.length;
}

/** Which points have room for a name, `wide` by `high`: the last first, then those before that meet none that is named. */
export function roomy(points: readonly { x: number; y: number }[], wide: number, high: number): boolean[] {
  const named = points.map(() => false);
  for (let i = points.length - 1; i >= 0; i--) {
    const here = points[i];
    named[i] = here !== undefined && Number.isFinite(here.x + here.y) && !points.some((other, k) => named[k] === true && Math.abs(other.x - here.x) < wide && Math.abs(other.y - here.y) < high);
  }
  return named;
}

/** Top and step of an axis from zero that holds `x`. */
export function zeroScale(x: number): { max: number; interval: number } {
  if (!(x > 0)) return { max: 1, interval: 1 };
  const base = 10 ** Math.floor(Math.log10(x) + 1e-9);
  for (const [max, interval] of [[1, 0.2], [1.2, 0.2], [1.5, 0.5], [2, 0.5], [2.5, 0.5], [3, 0.5], [4, 1], [5, 1], [6, 1], [8, 2], [10, 2]] as const) {
    if (x <= max * base * 1.0001) return { max: max * base, interval: interval * base };
  }
  return { max: 10 * base, interval: 2 * base };
}

/** Marks of a logarithmic axis from 1-2-5 to 1-2-5 around the values; decades alone when there are many. */
export function logMarks(values: readonly number[]): number[] {
  const positive = values.filter((v) => v > 0 && Number.isFinite(v));
  if (positive.length === 0) return [1, 10];
  const [low, high] = [Math.min(...positive), Math.max(...positive)];
  const all: number[] = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) for (const m of [1, 2, 5]) all.push(m * 10 ** e);
  const first = Math.max(0, all.filter((m) => m <= low * 1.0001).length - 1);
  const last = all.findIndex((m) => m >= high * 0.9999);
  const marks = all.slice(first, last === -1 ? undefined : Math.max(last, first + 1) + 1);
  const ends = [marks[0], marks[marks.length - 1]];
  return marks.length <= 8 ? marks : marks.filter((m) => ends.includes(m) || Number.isInteger(Math.round(Math.log10(m) * 1e6) / 1e6));
}

/** Marks of a logarithmic axis that holds the values that exist. */
export function logMarksOf(values: readonly (number | null)[]): number[] {
  return logMarks(values.filter((v): v is number => v !== null));
}

/** Points of a percentile curve on the axis of nines up to `last`: ascending, latencies never falling, nothing below zero. */
export function tailPoints(curve: readonly CurvePoint[], last = Infinity): [number, number][] {
  const points: [number, number][] = [];
  let highest = 0;
  for (const p of [...curve].sort((a, b) => a.q - b.q)) {
    if (!(p.q > 0 && p.q < 1) || !(p.ns > 0) || nines(p.q) > last + 1e-6) continue;
    highest = Math.max(highest, p.ns);
    points.push([nines(p.q), highest]);
  }
  return points;
}

/** The deepest quantile that a curve reaches and what the next one would take. */
export interface TailCut {
  step: StepView;
  reached: Quantile | null;
  next: Quantile | null;
  seconds: number | null;
}

/** Where a step's figures end, from which quantiles the document leaves out. */
export function tailCut(step: StepView, names: readonly Quantile[]): TailCut {
  let reached: Quantile | null = null;
  for (const name of names) {
    const lat = answeredLatency(step);
    if (latency(lat, name) === null) {
      return { step, reached, next: name, seconds: lat?.needs[name]?.seconds ?? null };
    }
    reached = name;
  }
  return { step, reached, next: null, seconds: null };
}

/** Where the curve of a step ends on the axis of nines: at the deepest quantile that it has, as the words below it say. */
export function lastNines(step: StepView): number {
  const { reached, next } = tailCut(step, QUANTILES);
  if (next === null) return Infinity;
  return reached === null ? 0 : nines(Number(reached.slice(1)) / 100);
}

/** Returns `n` entries spread evenly, the first, the last and `kept` among them. */
export function spread<T>(items: readonly T[], n: number, kept?: T): T[] {
  if (items.length <= n || n < 2) return items.slice(0, Math.max(n, 0) || items.length);
  const last = items.length - 1;
  const places = Array.from({ length: n }, (_, i) => Math.round((i * last) / (n - 1)));
  const at = kept === undefined ? -1 : items.indexOf(kept);
  if (at >= 0 && !places.includes(at)) places[Math.min(n - 2, Math.max(1, Math.round((at * (n - 1)) / last)))] = at;
  return places.sort((a, b) => a - b).map((place) => items[place] as T);
}

/** Word for a limit name of the document: `queue_depth` -> `queue depth`. */
export function limitWord(name: string): string {
  return word(name);
}
