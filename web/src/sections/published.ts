/** The switch for published figures, and which of them belong to what was measured. */

import { opKind } from "../curves";
import type { Document, Json, Reference, ReferencePoint, StepView } from "../document";
import { el, select } from "../dom";
import { fitting, isRandom, kindOf } from "../published";
import { text } from "../text";
import { findFact } from "./answer";

/** Names of the drives of a run, as their makers call them. */
function modelsOf(host: Json): string[] {
  const targets = host !== null && typeof host === "object" && !Array.isArray(host) ? host["targets"] : undefined;
  return (Array.isArray(targets) ? targets : []).map((target) => findFact(target, ["model"])).filter((m) => typeof m === "string");
}

/** Words of a name that tell models apart: those with a digit, without capacities and years. */
function modelWords(name: string): string[] {
  return name.toLowerCase().split(/[^a-z0-9.]+/).filter((w) => /[a-z]/.test(w) && /\d{3}/.test(w));
}

/** True for a reference about one of these models. */
export function isSameModel(subject: string, models: readonly string[]): boolean {
  const known = new Set(modelWords(subject));
  return models.flatMap(modelWords).some((w) => known.has(w));
}

/** Whether a published load on one drive (or, without `single`, on any number) has the operation, order and block size of one of the steps. */
export function fitsLoad(steps: readonly StepView[], anyDevices = false): (p: ReferencePoint) => boolean {
  const key = (kind: string, random: boolean, block: number | null): string => `${kind} ${random} ${block}`;
  const known = new Set(steps.filter((s) => s.pattern !== "unknown").map((s) => key(opKind(s), s.pattern !== "sequential", s.block_size_bytes)));
  return (p) => known.has(key(kindOf(p), isRandom(p), p.block_size_bytes)) && (anyDevices || (p.devices ?? 1) === 1) && (anyDevices || p.queue_depth !== null);
}

/** A list of the references with figures that fit, `all` and `none`; and who published what is shown. Those of the run's own model are shown at once. */
export function publishedPick(doc: Pick<Document, "references" | "host">, fits: (p: ReferencePoint) => boolean, changed: () => void): { node: HTMLElement | null; note: HTMLElement; chosen: () => Reference[] } {
  const t = text.published;
  const usable = fitting(doc.references ?? [], fits);
  const models = modelsOf(doc.host);
  let name = usable.find((r) => isSameModel(r.subject, models))?.subject ?? "none";
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
