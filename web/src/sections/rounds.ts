/** Loops of rounds: the matrix of what they gave, writing until saturated, and how they came to rest. */

import { settled } from "../cells";
import { opKind } from "../curves";
import type { Document, StepView } from "../document";
import { el, select, smallTable } from "../dom";
import { bytesDecimal, figure } from "../format";
import { matrices, saturations } from "../matrix";
import { clippedNote, matrix, matrixPx, saturation, SATURATION_PX } from "../pictures/matrix";
import { errorText, settling, SETTLE_PX, trackedUnit } from "../pictures/study";
import { picture } from "../stage";
import { say, text, word } from "../text";
import { block } from "./block";
import { twoTests } from "./time";

/** What the workloads of a loop gave, block size by mix. */
export function matrixBlock(doc: Document): HTMLElement | null {
  const all = matrices(doc);
  if (all.length === 0) return null;
  const t = text.study;
  return block(t.matrix, ...all.map((m) => picture(m.title, t.matrixNote(word(m.unit === "ns" ? "lat_mean" : m.unit)), matrixPx(m), (p, w) => matrix(m, p, w)).node));
}

/** Rate over what had been written. */
export function saturationBlock(doc: Document): HTMLElement | null {
  const all = saturations(doc);
  if (all.length === 0) return null;
  const t = text.study;
  return block(t.saturation, ...all.flatMap((s) => {
    const written = s.points[s.points.length - 1]?.[0] ?? 0;
    const notes = [t.written(bytesDecimal(written)), s.footprint ? t.timesOver((written / s.footprint).toFixed(1)) : "", clippedNote(s)];
    return [picture(t.saturationTitle(s.title), null, SATURATION_PX, (p) => saturation(s, p)).node, el("p.note", {}, notes.filter((n) => n !== "").join(" · "))];
  }));
}

/** What the loop of a step is called. */
function unnumbered(step: StepView): string {
  const test = step.role?.test;
  const name = test === undefined ? undefined : text.study.tests[test];
  return `${step.role?.round && name !== undefined ? `${name}${text.comma}` : ""}${say(step.loop_title ?? step.label)}`;
}

/** How the tracked figure came to rest, with the determination table. */
export function settleBlock(doc: Document): HTMLElement | null {
  const all = settled(doc.steps);
  const [start] = all;
  if (!start) return null;
  const t = text.study;
  const several = new Set(all.map((s) => s.group)).size > 1;
  let step = start;
  const chart = picture(unnumbered(step), null, SETTLE_PX, (p, w) => (step.steady?.pts ? settling(step.steady.series ?? [], step.steady.pts, p.op[opKind(step)], p, w) : null));
  const table = el("div");
  const show = (): void => {
    const pts = step.steady?.pts;
    if (!pts) return;
    const unit = trackedUnit(pts.variable);
    const v = (x: number): string => figure(x, unit);
    table.replaceChildren(
      smallTable(
        [t.determination, t.allowed, t.found, ""],
        [
          [t.range, v(pts.range_allowed), v(pts.range), pts.range <= pts.range_allowed ? "✓" : el("b.bad", {}, "✗")],
          [t.excursion, v(pts.excursion_allowed), v(pts.excursion), pts.excursion <= pts.excursion_allowed ? "✓" : el("b.bad", {}, "✗")],
        ],
      ),
      el("p.note", {}, [t.window(pts.window ? `${pts.window[0]}–${pts.window[1]}` : "–", v(pts.average)), pts.line, say(pts.determination), t.driftRound(errorText(pts.drift_pct_per_round))].join(" · ")),
      step.steady?.own ? el("p.note", {}, twoTests(step) ?? `${t.own}${text.colon}${say(step.steady.own.sentence)}`) : "",
    );
    chart.update(unnumbered(step));
  };
  show();
  const pick = all.length > 1 ? select(text.time.step, all.map((s) => ({ value: String(s.index), label: several ? `${s.group}${text.comma}${unnumbered(s)}` : unnumbered(s) })), String(step.index), (v) => { step = all.find((s) => s.index === Number(v)) ?? step; show(); }) : null;
  return block(t.settling, pick ? el("div.picks", {}, pick) : null, chart.node, table);
}

