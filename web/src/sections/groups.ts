/** Groups of drives under the same loads: side by side, then latency over IOPS, then the table. */

import { groupSets } from "../cells";
import type { Document, Quantile } from "../document";
import { el, select, smallTable } from "../dom";
import { count3, figure, time } from "../format";
import { POINTS_MIN } from "../goals";
import { groupRows, isNotToldApart, type GroupRow } from "../groups";
import { dotMarks, dots, dotsPx, type Metric } from "../pictures/groups";
import { pathTone } from "../palette";
import { groups, GROUPS_PX } from "../pictures/study";
import { pairsOf } from "../published";
import { picture } from "../stage";
import { text, word } from "../text";
import { block, legendOf } from "./block";
import { fitsLoad, publishedPick } from "./published";

const METRICS: readonly Metric[] = ["iops", "mean", "p99", "p99.9"];

/** Every workload with its loads from light to heavy; what the groups are not told apart by is one line. */
function groupDots(doc: Document): HTMLElement[] {
  const { names, rows } = groupRows(doc);
  if (rows.length === 0) return [];
  const t = text.study;
  const same = rows.filter((r) => isNotToldApart(doc, r));
  const told = rows.filter((r) => !same.includes(r));
  let metric: Metric = "iops";
  const name = (m: Metric): string => (m === "iops" ? word("iops") : m === "mean" ? word("lat_mean") : m);
  const byWorkload = [...new Set(told.map((r) => r.workload))].map((w) => told.filter((r) => r.workload === w));
  // Workloads with a load or two stand in one picture, after the others.
  const panels = [...byWorkload.filter((of) => of.length >= POINTS_MIN), byWorkload.filter((of) => of.length < POINTS_MIN).flat()].filter((of) => 2 * of.length >= POINTS_MIN);
  const title = (of: readonly GroupRow[]): string => `${new Set(of.map((r) => r.workload)).size > 1 ? (panels.length > 1 ? t.singles : t.workloads) : (of[0]?.workload ?? "")}${text.comma}${name(metric)}`;
  const charts = panels.map((of) => ({ of, chart: picture(title(of), null, dotsPx(of), (p, w) => dots(names, of, metric, dotMarks(told, metric), p, w)) }));
  const pick = select(t.groupAxis, METRICS.map((m) => ({ value: m, label: name(m) })), metric, (v) => {
    metric = v as Metric;
    charts.forEach(({ of, chart }) => chart.update(title(of)));
  });
  const load = (r: GroupRow): string => `${r.workload} ${r.threads}x${r.depth}`;
  return [
    el("div.picks", {}, pick, legendOf(names.map((n, i) => ({ label: n, tone: (p) => pathTone(i, p) })), true)),
    el("div", { class: charts.length > 1 ? "pair" : "" }, ...charts.map((c) => c.chart.node)),
    el("p.note", {}, [t.groupLoads, same.length > 0 ? t.notTold(same.map(load).join(text.comma)) : ""].filter((x) => x !== "").join(" ")),
  ];
}

/** Curves and table of the groups. */
function groupCurves(doc: Document): HTMLElement[] {
  const every = groupSets(doc);
  const [start] = every;
  if (!start) return [];
  // Fewer loads make no curve: such workloads have their dots, and stand in the table.
  const sets = every.filter((s) => s.lines.some((l) => l.steps.length >= POINTS_MIN));
  const t = text.study;
  let name: Quantile | "mean" = "mean";
  const fits = fitsLoad(sets.flatMap((s) => s.lines.flatMap((l) => l.steps)), true);
  const published = publishedPick({ ...doc, references: (doc.references ?? []).filter((r) => pairsOf([r], fits).length > 0) }, fits, () => charts.forEach((c) => c.chart.update()));
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
  const table = el("details", {}, el("summary", {}, t.groupTable), smallTable([text.picture.workload, t.group, t.load, "IOPS", word("bytes_per_s"), text.picture.mean, text.detail.stddev, "max"], rows, 3));
  if (sets.length === 0) return [table];
  return [el("div.picks", {}, pick, published.node), el("div", { class: sets.length > 1 ? "pair" : "" }, ...charts.map((c) => c.chart.node)), ...(published.note ? [published.note] : []), table];
}

export function groupBlock(doc: Document): HTMLElement | null {
  const parts = [...groupDots(doc), ...groupCurves(doc)];
  return parts.length === 0 ? null : block(text.study.groups, ...parts);
}
