/** Reads at one rate beside writes at another: what the pairs showed. Pure. */

import { latency } from "./curves";
import type { Document, PairView, StepView, SurfaceView } from "./document";
import type { Shown } from "./goals";

/** Whose latency is shown. */
export type Of = "all" | "read" | "write";

/** A measured pair. */
export interface Pair {
  view: PairView;
  step: StepView;
}

/** The pairs of a group and the corners of the region that keeps the goal. */
export interface Surface {
  group: string;
  goal: SurfaceView["goal"];
  pairs: Pair[];
  /** Writes and reads per second, from no writes on; empty where nothing keeps it. */
  region: [number, number][];
}

/** The surfaces of a run, each with the steps that it stands on. */
export function surfacesOf(doc: Pick<Document, "steps" | "surfaces">): Surface[] {
  const byIndex = new Map(doc.steps.map((s) => [s.index, s]));
  return doc.surfaces.map((s) => {
    const pairs = s.pairs.flatMap((view) => {
      const step = byIndex.get(view.step);
      return step ? [{ view, step }] : [];
    });
    const edge = s.edge.flatMap((index) => pairs.find((p) => p.view.step === index)?.view ?? []);
    return { group: s.group, goal: s.goal, pairs, region: regionOf(edge) };
  });
}

/** All pairs of rates below those of the edge, as a staircase. */
function regionOf(edge: readonly PairView[]): [number, number][] {
  const corners: [number, number][] = [];
  let left = 0;
  for (const pair of edge) {
    corners.push([left, pair.reads_per_s], [pair.writes_per_s, pair.reads_per_s]);
    left = pair.writes_per_s;
  }
  return corners.length === 0 ? [] : [...corners, [left, 0]];
}

/** Rates within this share of the highest one are of one row or column: the measured rates of a grid differ a little. */
const SAME_RATE = 0.02;

/** Middles between a rate and its neighbours among the rates of a grid; nothing is below zero. */
function cellAround(rate: number, rates: readonly number[]): [number, number] {
  const near = SAME_RATE * Math.max(...rates);
  const [below, above] = [rates.filter((r) => r < rate - near), rates.filter((r) => r > rate + near)];
  const [low, high] = [below.length === 0 ? 0 : (Math.max(...below) + rate) / 2, above.length === 0 ? rate : (Math.min(...above) + rate) / 2];
  return [low, high];
}

/** A cell of the region: the ranges of its writes and reads. */
export interface Cell {
  writes: [number, number];
  reads: [number, number];
}

/** Cells around the pairs in the region that are not known to keep the goal, although a pair with higher rates keeps it. */
export function gapsOf(s: Surface): Cell[] {
  const writes = s.pairs.map((q) => q.view.writes_per_s);
  const reads = s.pairs.map((q) => q.view.reads_per_s);
  const [nearWrites, nearReads] = [SAME_RATE * Math.max(...writes), SAME_RATE * Math.max(...reads)];
  const kept = s.pairs.filter((q) => q.view.outcome === "kept");
  const isInside = (q: Pair): boolean => kept.some((k) => q.view.writes_per_s <= k.view.writes_per_s + nearWrites && q.view.reads_per_s <= k.view.reads_per_s + nearReads);
  return s.pairs.filter((q) => q.view.outcome !== "kept" && isInside(q)).map((q) => ({ writes: cellAround(q.view.writes_per_s, writes), reads: cellAround(q.view.reads_per_s, reads) }));
}

/** Latency of a pair's reads, writes or both. */
export function pairLatency(step: StepView, of: Of, name: Shown): number | null {
  const lat = of === "all" ? step.lat_ns : of === "read" ? step.read?.lat_ns : step.write?.lat_ns;
  return latency(lat ?? null, name);
}
