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

/** Latency of a pair's reads, writes or both. */
export function pairLatency(step: StepView, of: Of, name: Shown): number | null {
  const lat = of === "all" ? step.lat_ns : of === "read" ? step.read?.lat_ns : step.write?.lat_ns;
  return latency(lat ?? null, name);
}
