/** Arrays beside what their members allow: the loads of a run, each with its levels. Pure. */

import { headlineStep, isRandomOp, opKind, type OpKind } from "./curves";
import type { ArrayView, Document, StepView } from "./document";
import { blockSize } from "./format";
import { joined, say } from "./text";

/** What an array gave under a load. */
export interface ArrayCell {
  view: ArrayView;
  step: StepView;
  /** `raid5`, with its chunk and its group where there are several. */
  name: string;
}

/** A load under which levels are compared: the step of each that gave the most. */
export interface ArrayLoad {
  title: string;
  kind: OpKind;
  /** Whether the figure is bytes per second. */
  isBandwidth: boolean;
  cells: ArrayCell[];
}

/** All steps on arrays, in the order of the plan. */
export function arrayCells(doc: Pick<Document, "steps" | "arrays">): ArrayCell[] {
  const byIndex = new Map(doc.steps.map((s) => [s.index, s]));
  const found = doc.arrays.flatMap((view) => {
    const step = byIndex.get(view.step);
    return step ? [{ view, step }] : [];
  });
  const several = (of: (c: { view: ArrayView; step: StepView }) => unknown): boolean => new Set(found.map(of)).size > 1;
  const [chunks, groups] = [several((c) => c.view.chunk_bytes), several((c) => c.step.group)];
  return found.map((c) => ({ ...c, name: joined(groups ? c.step.group : "", c.view.level, chunks ? blockSize(c.view.chunk_bytes) : "") }));
}

/** The loads that arrays with all their members were put under. */
export function arrayLoads(doc: Pick<Document, "steps" | "arrays">): ArrayLoad[] {
  const loads = new Map<string, ArrayLoad>();
  for (const cell of arrayCells(doc).filter((c) => c.view.missing === 0 && c.view.rebuild === null)) {
    const title = say(cell.view.load);
    const load = loads.get(title) ?? { title, kind: opKind(cell.step), isBandwidth: !isRandomOp(cell.step.op), cells: [] };
    loads.set(title, load);
    const at = load.cells.findIndex((c) => c.name === cell.name);
    if (at < 0) load.cells.push(cell);
    else if ((load.cells[at]?.step.iops ?? 0) < cell.step.iops) load.cells[at] = cell;
  }
  return [...loads.values()];
}

/** The loads with several levels; the load that the headline is about comes first. */
export function comparedLoads(doc: Pick<Document, "steps" | "arrays" | "verdict">): ArrayLoad[] {
  const answer = arrayCells(doc).find((c) => c.step === headlineStep(doc));
  const isAnswer = (load: ArrayLoad): number => Number(answer !== undefined && load.title === say(answer.view.load));
  return arrayLoads(doc).filter((load) => load.cells.length > 1).sort((a, b) => isAnswer(b) - isAnswer(a));
}

/** A rate of the load in the unit of its figure. */
export function inUnit(load: ArrayLoad, cell: ArrayCell, iops: number | null): number | null {
  return iops === null ? null : load.isBandwidth ? iops * cell.step.block_size_bytes : iops;
}

/** What the array gives of what its members allow, 1 for all; `null` where that is not known. */
export function arrayShare(c: ArrayCell): number | null {
  return c.view.ceiling_iops === null ? null : c.step.iops / c.view.ceiling_iops;
}
