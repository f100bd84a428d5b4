/** Latency against rate, and each percentile over queue depth. */

import { lines } from "../curves";
import type { Document, Quantile } from "../document";
import { el, select } from "../dom";
import { goalOf, goalSets, type Shown } from "../goals";
import { GOAL_PX, goalCaption, goalPanel, goalScale } from "../pictures/goal";
import { percentilePanel } from "../pictures/study";
import { logMarksOf } from "../curves";
import { blend, type Palette } from "../palette";
import { picture } from "../stage";
import { joined, text } from "../text";
import { block, keys, legendOf } from "./block";

/** More curves than these cannot be told apart. */
const LINES_MAX = 6;

/** One panel for each workload, all on one scale. */
export function goalBlock(doc: Document): HTMLElement | null {
  const sets = goalSets(doc);
  if (sets.length === 0) return null;
  const t = text.study;
  let name: Shown = sets.some((s) => goalOf(s, "p99") !== undefined) || !sets.some((s) => goalOf(s, "mean") !== undefined) ? "p99" : "mean";
  const charts = sets.map((set) => ({ set, chart: picture(goalCaption(set, name), null, GOAL_PX, (p, w) => goalPanel(set, name, goalScale(sets, name), p, w)) }));
  const pick = select(text.picture.quantile, ["p50", "p99", "p99.9", "p99.99", "mean"].map((q) => ({ value: q, label: q === "mean" ? text.picture.mean : q })), name, (v) => {
    name = v as Shown;
    charts.forEach(({ set, chart }) => chart.update(goalCaption(set, name)));
  });
  const kind = sets[0]?.kind ?? "read";
  const tones = [
    { label: t.closed, tone: (p: Palette): string => p.op[kind] },
    ...(sets.some((s) => s.offered.length > 0) ? [{ label: t.offered, tone: (p: Palette): string => blend(p.op[kind], p.ink, 0.45) }] : []),
  ];
  return block(t.goals, el("div.picks", {}, pick, legendOf(tones, true)), el("div.triple", {}, ...charts.map((c) => c.chart.node)), el("p.note", {}, t.goalsNote));
}

/** Small multiples: each percentile over queue depth, all on one scale. */
export function percentileBlock(doc: Document): HTMLElement | null {
  const all = lines(doc).filter((l) => l.steps.length >= 3 && l.steps.every((s) => s.rate_iops === null));
  if (doc.run.study !== "qos" || all.length === 0) return null;
  const shown = all.slice(0, LINES_MAX).map((l) => ({ ...l, label: joined(l.family, l.label) }));
  const names: Quantile[] = ["p95", "p99", "p99.9", "p99.99", "p99.999"];
  const usable = names.filter((n) => shown.some((l) => l.steps.some((s) => s.lat_ns?.[n] !== null && s.lat_ns?.[n] !== undefined)));
  const marks = logMarksOf(shown.flatMap((l) => l.steps.flatMap((s) => usable.map((n) => s.lat_ns?.[n] ?? null))));
  return block(text.study.percentiles, keys(shown, true), el("div.triple", {}, ...usable.map((n) => picture(n, null, 210, (p) => percentilePanel(shown, n, marks, p)).node)));
}

