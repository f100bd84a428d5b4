/** Groups of drives under the same loads, side by side. Pure. */

import { family, opKind, opWord, representatives, type Ladders, type OpKind } from "./curves";
import type { Document, StepView } from "./document";
import { joined } from "./text";

/** One load of a workload on each group. */
export interface GroupRow {
  workload: string;
  kind: OpKind;
  threads: number;
  depth: number;
  /** By the name of the group. */
  steps: Map<string, StepView>;
}

/** I/Os in flight on each drive. */
export function inFlight(r: { threads: number; depth: number }): number {
  return r.threads * r.depth;
}

/** The loads that at least two groups were put under: workload by workload, from light to heavy. */
export function groupRows(doc: Ladders): { names: string[]; rows: GroupRow[] } {
  const usable = representatives(doc).filter((s) => s.lat_ns !== null);
  const names = [...new Set(usable.map((s) => s.group))];
  const rows = new Map<string, GroupRow>();
  for (const s of usable) {
    const workload = joined(family(s), opWord(s));
    const key = `${workload}|${s.threads}|${s.queue_depth}`;
    const found = rows.get(key) ?? { workload, kind: opKind(s), threads: s.threads, depth: s.queue_depth, steps: new Map<string, StepView>() };
    found.steps.set(s.group, s);
    rows.set(key, found);
  }
  const workloads = [...new Set([...rows.values()].map((r) => r.workload))];
  const of = [...rows.values()].filter((r) => r.steps.size > 1).sort((a, b) => workloads.indexOf(a.workload) - workloads.indexOf(b.workload) || inFlight(a) - inFlight(b) || a.threads - b.threads);
  return names.length < 2 ? { names, rows: [] } : { names, rows: of };
}

/** Whether the document says that the groups do not differ under this load; where it is not known, they are drawn. */
export function isNotToldApart(doc: Pick<Document, "groups">, r: GroupRow): boolean {
  const steps = [...r.steps.values()].map((s) => s.index);
  return doc.groups.find((load) => steps.some((index) => load.steps.includes(index)))?.are_apart === false;
}
