/** The switch for published figures, and which of them belong to what was measured. */

import { opKind } from "../curves";
import type { Reference, ReferencePoint, StepView } from "../document";
import { el, select } from "../dom";
import { fitting, isRandom, kindOf } from "../published";
import { text } from "../text";

/** Published figures are beside what was measured at once only within this factor of it; others on demand. */
const NEAR = 4;

/** Whether a published load on one drive (or, without `single`, on any number) has the operation, order and block size of one of the steps. */
export function fitsLoad(steps: readonly StepView[], anyDevices = false): (p: ReferencePoint) => boolean {
  const key = (kind: string, random: boolean, block: number | null): string => `${kind} ${random} ${block}`;
  const known = new Set(steps.map((s) => key(opKind(s), s.pattern !== "sequential", s.block_size_bytes)));
  return (p) => known.has(key(kindOf(p), isRandom(p), p.block_size_bytes)) && (anyDevices || (p.devices ?? 1) === 1) && (anyDevices || p.queue_depth !== null);
}

/** Steps that asked for as much at once as a published load, of the same operation and order. */
function besides(steps: readonly StepView[], p: ReferencePoint): StepView[] {
  return steps.filter((s) => p.queue_depth === s.queue_depth && (p.threads === null || p.threads === s.threads) && (p.devices ?? 1) === s.devices && opKind(s) === kindOf(p) && isRandom(p) === (s.pattern !== "sequential") && p.block_size_bytes === s.block_size_bytes);
}

/** A list of the references with figures that fit, `all` and `none`; and who published what is shown. */
export function publishedPick(references: readonly Reference[], steps: readonly StepView[], fits: (p: ReferencePoint) => boolean, changed: () => void): { node: HTMLElement | null; note: HTMLElement; chosen: () => Reference[] } {
  const t = text.published;
  const usable = fitting(references, fits);
  const most = Math.max(0, ...steps.map((s) => s.iops));
  const largest = Math.max(0, ...usable.flatMap((r) => r.points.filter((p) => fits(p) && p.metric === "iops").map((p) => p.value)));
  const isNear = (value: number, measured: number): boolean => value <= NEAR * measured && value >= measured / NEAR;
  let name = isNear(largest, most) && usable.every((r) => r.points.filter((p) => fits(p) && p.metric === "iops").every((p) => besides(steps, p).every((s) => isNear(p.value, s.iops)))) ? "all" : "none";
  const chosen = (): Reference[] => (name === "none" ? [] : name === "all" ? usable : usable.filter((r) => r.subject === name));
  const note = el("p.note");
  const show = (): void => {
    note.textContent = chosen().length === 0 ? "" : t.note([...new Set(chosen().map((r) => t.by(r.subject, r.source)))].join("; "));
    note.hidden = chosen().length === 0;
  };
  show();
  if (usable.length === 0) return { node: null, note, chosen };
  const node = select(t.show, [{ value: "none", label: t.none }, { value: "all", label: text.steps.all }, ...usable.map((r) => ({ value: r.subject, label: r.subject }))], name, (v) => {
    name = v;
    show();
    changed();
  });
  node.classList.add("published");
  return { node, note, chosen };
}
