/** A load that changes with time: what was asked, what came of it, and each stage in figures. */

import { opKind } from "../curves";
import type { Document, StageView, StepView } from "../document";
import { el, smallTable } from "../dom";
import { count3, time } from "../format";
import { overTime, overTimePx } from "../pictures/time";
import { picture } from "../stage";
import { say, text } from "../text";
import { block } from "./block";

function asked(s: StageView): string {
  const [from, to] = [count3(s.asked_from_iops), count3(s.asked_to_iops)];
  return from === to ? to : `${from}–${to}`;
}

function recovery(s: StageView): string {
  if (s.recovery_s === null) return "–";
  const seconds = time(s.recovery_s * 1e9);
  return s.is_recovered ? seconds : `> ${seconds}`;
}

function table(step: StepView): HTMLElement {
  const rows = (step.stages ?? []).map((s, i) => [
    String(i + 1), `${s.start_s.toFixed(1)} s`, `${s.length_s} s`, asked(s), count3(s.iops), time(s.lat_ns?.mean), time(s.lat_ns?.p50), time(s.lat_ns?.p99), time(s.lat_ns?.["p99.9"]),
    s.backlog_ios > 0 ? count3(s.backlog_ios) : "–", recovery(s),
  ]);
  return smallTable(text.study.stageColumns, rows, 1);
}

/** Each step whose load has stages. */
export function stageBlock(doc: Document): HTMLElement | null {
  const steps = doc.steps.filter((s) => (s.stages ?? []).length > 1);
  if (steps.length === 0) return null;
  const parts = steps.flatMap((step) => [picture(say(step.label), null, overTimePx(step), (p, w) => overTime(step, p.op[opKind(step)], p, w)).node, table(step)]);
  return block(text.study.stages, ...parts, el("p.note", {}, text.study.stagesNote));
}
