/** One load through several paths. */

import { engineSets } from "../cells";
import { headlineStep } from "../curves";
import type { Document, StepView } from "../document";
import { el, select } from "../dom";
import { POINTS_MIN } from "../goals";
import { cpuPerIo } from "../paths";
import { cost as costOption, costPx } from "../pictures/cost";
import { front, FRONT_PX, paths, pathsPx } from "../pictures/paths";
import { picture } from "../stage";
import { text } from "../text";
import { block } from "./block";
import { costLegend } from "./cost";

/** Rate, latency and cost of each path, and which of them no other beats. */
export function pathBlock(doc: Document): HTMLElement | null {
  const sets = engineSets(doc).filter((set) => set.steps.length >= POINTS_MIN);
  const [start] = sets;
  if (!start) return null;
  let set = start;
  const t = text.study;
  const all = picture(set.title, t.pathsNote, (w) => pathsPx(set, w), (p, w) => paths(set, p, w));
  const costed = (): StepView[] => set.steps.filter((s) => cpuPerIo(s) !== null);
  const hasFront = (): boolean => costed().length >= POINTS_MIN && set.front.length > 0;
  const best = picture(t.front, t.frontNote, FRONT_PX, (p, w) => (hasFront() ? front(set, p, w) : null));
  const cpu = picture(text.cost.title, null, (w) => costPx(costed().length, w), (p, w) => costOption(costed(), p, w, headlineStep(doc), true));
  const parts = el("div", {}, cpu.node, costLegend());
  const show = (): void => {
    best.node.hidden = !hasFront();
    parts.hidden = costed().length === 0;
  };
  show();
  const pick = sets.length > 1 ? select(t.load, sets.map((s) => ({ value: s.title, label: s.title })), set.title, (v) => {
    set = sets.find((s) => s.title === v) ?? set;
    show();
    all.update(set.title);
    best.update();
    cpu.update();
  }) : null;
  return block(t.engines, pick ? el("div.picks", {}, pick) : null, all.node, el("div.pair", {}, best.node, parts));
}
