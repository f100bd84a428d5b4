/** Published figures of the same study, as marks beside the measured points. Pure: no DOM, no chart. */

import { isRandomOp, opKind, type OpKind } from "./curves";
import type { Reference, ReferencePoint } from "./document";
import { say } from "./text";

/** A published figure that belongs into a picture. */
export interface Mark {
  /** Who published it of what. */
  by: string;
  /** `T16 QD2`, as far as the source says. */
  load: string;
  kind: OpKind;
  value: number;
  doubt: string;
  point: ReferencePoint;
  reference: Reference;
}

/** Kind of the operation of a published figure; reads where the source does not say. */
export function kindOf(p: ReferencePoint): OpKind {
  return opKind({ op: p.op ?? "read" });
}

/** Whether a published load is in random order, by fio's word. */
export function isRandom(p: ReferencePoint): boolean {
  return p.op !== null && isRandomOp(p.op);
}

function loadOf(p: ReferencePoint): string {
  const parts = [p.threads === null ? "" : `T${p.threads}`, p.queue_depth === null ? "" : `QD${p.queue_depth}`, (p.devices ?? 1) > 1 ? `D${p.devices}` : ""];
  return parts.filter((x) => x !== "").join(" ");
}

/** Points of some references with one metric that belong into a picture. */
export function marks(references: readonly Reference[], metric: string, fits: (p: ReferencePoint) => boolean): Mark[] {
  return references.flatMap((reference) =>
    reference.points
      .filter((p) => p.metric === metric && fits(p))
      .map((point) => ({ by: reference.subject, load: loadOf(point), kind: kindOf(point), value: point.value, doubt: say(point.doubt), point, reference })),
  );
}

/** Rate and mean latency that were published for the same load, as one point. */
export function pairsOf(references: readonly Reference[], fits: (p: ReferencePoint) => boolean): { mark: Mark; latency: number }[] {
  const key = (p: ReferencePoint): string => JSON.stringify([p.op, p.read_pct, p.block_size_bytes, p.threads, p.queue_depth, p.outstanding ?? null, p.devices, p.placement]);
  return references.flatMap((reference) => {
    const means = new Map(reference.points.filter((p) => p.metric === "lat_mean_ns").map((p) => [key(p), p.value]));
    return marks([reference], "iops", fits).flatMap((mark) => {
      const latency = means.get(key(mark.point));
      return latency === undefined ? [] : [{ mark, latency }];
    });
  });
}

/** References with a point that fits. */
export function fitting(references: readonly Reference[], fits: (p: ReferencePoint) => boolean): Reference[] {
  return references.filter((r) => r.points.some(fits));
}
