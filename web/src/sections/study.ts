/** The pictures that a study is about, chosen by what its steps vary. */

import { engineSets, groupSets, predicted, scaleLines, settled, type ScaleLine } from "../cells";
import { hasFigures, lines, logMarksOf, type Line } from "../curves";
import type { Document, Quantile, ReferencePoint, StepView } from "../document";
import { el, section, select, smallTable } from "../dom";
import { count3, figure, time } from "../format";
import { cost as costOption, lineLooks } from "../options";
import { palette } from "../palette";
import { engines, errorText, groups, GROUPS_PX, percentilePanel, predictedOverMeasured, RUN_PX, scaling, SCALING_PX, settling, SETTLE_PX, stretches, trackedUnit, wholeRun } from "../pictures/study";
import { opKind } from "../curves";
import { marks, pairsOf } from "../published";
import { picture } from "../stage";
import { joined, say, text, word } from "../text";
import { comparison } from "./comparison";
import { costLegend } from "./cost";
import { fitsLoad, publishedPick } from "./published";

/** More curves than these cannot be told apart. */
const LINES_MAX = 6;

/** Names of lines with their colours, where labels beside the lines have no room. */
export function keys(all: readonly Line[], always = false): HTMLElement {
  const [day, night] = [lineLooks(all, palette(false)), lineLooks(all, palette(true))];
  return el(always ? "ul.legend.always" : "ul.legend", {}, ...all.map((l, i) => {
    const mark = el("i");
    mark.style.setProperty("--day", day[i]?.color ?? "");
    mark.style.setProperty("--night", night[i]?.color ?? "");
    return el("li", {}, mark, l.label);
  }));
}

function block(title: string, ...children: (Node | string | null)[]): HTMLElement {
  return el("div.block", {}, el("h3", {}, title), ...children);
}

/** Curves and table of the groups. */
function groupBlock(doc: Document): HTMLElement | null {
  const every = groupSets(doc);
  const [start] = every;
  if (!start) return null;
  // One load makes no curve: such workloads stand in the table, which is then open.
  const sets = every.filter((s) => s.lines.some((l) => l.steps.length > 1));
  const t = text.study;
  let name: Quantile | "mean" = "mean";
  const fits = fitsLoad(sets.flatMap((s) => s.lines.flatMap((l) => l.steps)), true);
  const published = publishedPick((doc.references ?? []).filter((r) => pairsOf([r], fits).length > 0), fits, Math.max(...sets.flatMap((s) => s.lines.flatMap((l) => l.steps.map((x) => x.iops)))), () => charts.forEach((c) => c.chart.update()));
  const charts = sets.map((set) => {
    const own = fitsLoad(set.lines.flatMap((l) => l.steps), true);
    return { set, chart: picture(t.groupCurve(set.title, text.picture.mean), null, GROUPS_PX, (p, w) => groups(set, name, p, w, name === "mean" ? pairsOf(published.chosen(), own) : [])) };
  });
  const pick = select(text.picture.quantile, ["mean", "p50", "p99", "p99.9"].map((q) => ({ value: q, label: q === "mean" ? text.picture.mean : q })), name, (v) => {
    name = v as Quantile | "mean";
    charts.forEach(({ set, chart }) => chart.update(t.groupCurve(set.title, v === "mean" ? text.picture.mean : v)));
  });
  const rows = every.flatMap((set) =>
    set.lines.flatMap((l) =>
      l.steps.map((s) => [set.title, l.label, `${s.threads}x${s.queue_depth}`, count3(s.iops), figure(s.bytes_per_s, "bytes_per_s"), time(s.lat_ns?.mean), time(s.lat_ns?.stddev), time(s.lat_ns?.max)]),
    ),
  );
  return block(
    t.groups,
    el("div.picks", {}, pick, published.node),
    keys(start.lines),
    el("div", { class: sets.length > 1 ? "pair" : "" }, ...charts.map((c) => c.chart.node)),
    published.note,
    el("details", { open: sets.length < every.length }, el("summary", {}, t.groupTable), smallTable([text.picture.workload, t.group, t.load, "IOPS", word("bytes_per_s"), text.picture.mean, text.detail.stddev, "max"], rows, 3)),
  );
}

/** Rate and cost of one load through several engines. */
function engineBlock(doc: Document): HTMLElement | null {
  const sets = engineSets(doc);
  const [start] = sets;
  if (!start) return null;
  let set = start;
  const t = text.study;
  const rate = picture(t.engineRate(set.title), null, () => 46 + 26 * set.steps.length, (p, w) => engines(set, p, w));
  const cpu = picture(text.cost.title, null, () => 46 + 26 * set.steps.length, (p, w) => (set.steps.every((s) => s.cpu !== null) ? costOption(set.steps, p, w, true) : null));
  const pick = sets.length > 1 ? select(t.load, sets.map((s) => ({ value: s.title, label: s.title })), set.title, (v) => {
    set = sets.find((s) => s.title === v) ?? set;
    rate.update(t.engineRate(set.title));
    cpu.update();
  }) : null;
  return block(t.engines, pick ? el("div.picks", {}, pick) : null, el("div.pair", {}, rate.node, el("div", {}, cpu.node, costLegend())));
}

function scaleBlock(doc: Document): HTMLElement | null {
  const all = scaleLines(doc);
  // Groups under a matrix of threads and depths have their own curves.
  if (all.length === 0 || groupSets(doc).length > 0) return null;
  const t = text.study;
  const blocks = (["devices", "threads"] as const).flatMap((axis) => {
    const of = all.filter((l) => l.axis === axis);
    if (of.length === 0) return [];
    const shown: ScaleLine[] = of.slice(0, LINES_MAX);
    const named = shown.map((l) => ({ key: l.label, label: l.label, set: "", family: "", kind: l.kind, threads: 0, steps: l.steps, knee: l.knee }));
    const rows = of.map((l) => {
      const last = l.steps[l.steps.length - 1] as StepView;
      return [l.label, `${l.steps[0]?.[axis]} → ${last[axis]}`, `${Math.round(100 * (l.efficiency[l.efficiency.length - 1] ?? NaN))} %`, l.knee ? `${l.knee[axis]}` : "–", l.knee ? word(l.knee.limit.name) : word(last.limit.name)];
    });
    const fits = (q: ReferencePoint): boolean => axis === "devices" && q.devices !== null && q.metric === "iops" && fitsLoad(of.flatMap((l) => l.steps), true)(q);
    const published = publishedPick(doc.references ?? [], fits, Math.max(...of.flatMap((l) => l.steps.map((s) => s.iops))), () => chart.update());
    const chart = picture(t.scaling(t.axes[axis]), t.scalingNote, SCALING_PX, (p, w) => scaling(shown, p, w, marks(published.chosen(), "iops", fits)));
    return [el("div", {}, published.node ? el("div.picks", {}, published.node) : null, keys(named), chart.node, published.note, of.length > shown.length ? el("p.note", {}, text.picture.capped(shown.length, of.length)) : null, smallTable([t.line, t.axes[axis], t.efficiency, t.knee, text.steps.columns.limit], rows, 1))];
  });
  return block(t.scale, ...blocks);
}

/** What the loop of a step is called. */
function unnumbered(step: StepView): string {
  return say(step.loop_title ?? step.label);
}

/** How the tracked figure came to rest, with the determination table. */
function settleBlock(doc: Document): HTMLElement | null {
  const all = settled(doc.steps);
  const [start] = all;
  if (!start) return null;
  const t = text.study;
  let step = start;
  const chart = picture(unnumbered(step), null, SETTLE_PX, (p) => (step.steady?.pts ? settling(step.steady.series ?? [], step.steady.pts, p.op[opKind(step)], p) : null));
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
      step.steady?.own ? el("p.note", {}, `${t.own}${text.colon}${say(step.steady.own.sentence)}`) : "",
    );
    chart.update(unnumbered(step));
  };
  show();
  const pick = all.length > 1 ? select(text.time.step, all.map((s) => ({ value: String(s.index), label: unnumbered(s) })), String(step.index), (v) => { step = all.find((s) => s.index === Number(v)) ?? step; show(); }) : null;
  return block(t.settling, pick ? el("div.picks", {}, pick) : null, chart.node, table);
}

/** Small multiples: each percentile over queue depth, all on one scale. */
function percentileBlock(doc: Document): HTMLElement | null {
  const all = lines(doc).filter((l) => l.steps.length >= 3 && l.steps.every((s) => s.rate_iops === null));
  if (doc.run.study !== "qos" || all.length === 0) return null;
  const shown = all.slice(0, LINES_MAX).map((l) => ({ ...l, label: joined(l.family, l.label) }));
  const names: Quantile[] = ["p95", "p99", "p99.9", "p99.99", "p99.999"];
  const usable = names.filter((n) => shown.some((l) => l.steps.some((s) => s.lat_ns?.[n] !== null && s.lat_ns?.[n] !== undefined)));
  const marks = logMarksOf(shown.flatMap((l) => l.steps.flatMap((s) => usable.map((n) => s.lat_ns?.[n] ?? null))));
  return block(text.study.percentiles, keys(shown, true), el("div.triple", {}, ...usable.map((n) => picture(n, null, 210, (p) => percentilePanel(shown, n, marks, p)).node)));
}

/** What was predicted and what was measured. */
function predictionBlock(doc: Document): HTMLElement | null {
  const all = predicted(doc.steps);
  if (all.length === 0) return null;
  const t = text.study;
  const middle = doc.prediction?.iops_error_pct_median ?? null;
  return block(
    t.prediction,
    middle === null ? null : el("p", {}, t.medianError(middle.toFixed(1), doc.prediction?.steps ?? 0)),
    picture(t.predictedOver, t.predictedNote, 330, (p, w) => predictedOverMeasured(all, p, w)).node,
    el(
      "details",
      {},
      el("summary", {}, t.predictionTable),
      smallTable([text.steps.columns.step, t.measuredAxis, t.predictedAxis, t.error, t.latMeasured, t.latPredicted, t.error], all.map((s) => [say(s.label), count3(s.iops), count3(s.predicted?.iops), errorText(s.predicted?.iops_error_pct), time(s.lat_ns?.mean), time(s.predicted?.lat_ns_mean), errorText(s.predicted?.lat_error_pct)])),
    ),
  );
}

/** The run from start to end, when it prepared its targets before it measured. */
export function runBlock(doc: Document): HTMLElement | null {
  const all = stretches(doc.steps);
  if (!all.some((s) => s.step.phase !== "measure") || !all.some((s) => hasFigures(s.step))) return null;
  return block(text.study.wholeRun, picture(text.study.wholeRunTitle, text.study.wholeRunNote, RUN_PX, (p) => wholeRun(all, p)).node);
}

/** Section 3, for studies that have pictures of their own. */
export function study(doc: Document): HTMLElement | null {
  const blocks = [groupBlock(doc), engineBlock(doc), scaleBlock(doc), percentileBlock(doc), settleBlock(doc), predictionBlock(doc), runBlock(doc)].filter((b) => b !== null);
  const sides = doc.comparison ? comparison(doc.comparison, doc) : [];
  if (blocks.length === 0) return sides[0] ?? null;
  const compared = sides[0] ? [...sides[0].children].filter((c) => c.tagName !== "H2") : [];
  return section("study", text.sections.study, ...compared, ...blocks);
}
