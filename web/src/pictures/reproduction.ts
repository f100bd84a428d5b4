/** Pictures of the articles redone: predicted over published, and the articles' own charts drawn again. */

import type { EChartsOption } from "echarts";
import { logMarks, zeroScale } from "../curves";
import type { ArticlePicture, FigureRow, PublishedMetric, Unit } from "../document";
import { countTick, figure, timeTick } from "../format";
import { SYMBOLS, row, shortened, tip, type Params } from "../options";
import { shades, type Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";
import { text } from "../text";
import { errorText } from "./study";

/** A published or predicted figure with its unit. */
export function valueText(value: number | null, unit: Unit): string {
  return value === null ? text.reproduction.none : figure(value, unit);
}

/** What is counted, in the language of the page. */
export function metricWord(metric: PublishedMetric): string {
  return text.reproduction.metrics[metric] ?? metric.replace(/_/g, " ");
}

/** Published value of a row: the middle of a range. */
export function publishedOf(r: FigureRow): number {
  return r.published_max === null ? r.published : (r.published + r.published_max) / 2;
}

/** Pictures of predicted over published, each of one unit. */
const GROUPS: readonly { metric: PublishedMetric; units: readonly Unit[] }[] = [
  { metric: "iops", units: ["iops", "iops_per_core"] },
  { metric: "bytes_per_s", units: ["bytes_per_s"] },
  { metric: "lat_mean_ns", units: ["ns"] },
  { metric: "cpu_pct", units: ["pct", "cores"] },
];

/** Units of the metrics that pictures of articles draw. */
const UNITS: Partial<Record<PublishedMetric, Unit>> = { iops: "iops", iops_per_core: "iops_per_core", bytes_per_s: "bytes_per_s", lat_mean_ns: "ns", cpu_pct: "pct", cores_busy: "cores" };

function unitOf(metric: PublishedMetric): Unit {
  return UNITS[metric] ?? "count";
}

function tone(unit: Unit, p: Palette): string {
  return { iops: p.op.read, iops_per_core: p.op.read, ns: p.op.write, bytes_per_s: p.op.mixed }[unit as string] ?? p.op.trim;
}

/** Figures by what they count, those with a prediction only. */
export function scatterGroups(rows: readonly FigureRow[]): { metric: PublishedMetric; rows: FigureRow[] }[] {
  const usable = rows.filter((r) => r.predicted !== null && r.predicted > 0 && r.published > 0 && r.contradiction === null);
  return GROUPS.map(({ metric, units }) => ({ metric, rows: usable.filter((r) => units.includes(r.unit)) })).filter((g) => g.rows.length > 0);
}

/** Predicted over published, both logarithmic, with the band of 10 %. */
export function scatter(rows: readonly FigureRow[], metric: PublishedMetric, p: Palette): EChartsOption {
  const marks = logMarks(rows.flatMap((r) => [publishedOf(r) * 0.88, (r.predicted ?? 0) * 1.13]));
  const [low, high] = [marks[0] ?? 1, marks[marks.length - 1] ?? 10];
  const tick = (v: number): string => (unitOf(metric) === "ns" ? timeTick(v) : countTick(v));
  const shown = marks.length > 9 ? marks.filter((m) => /^1/.test(m.toExponential())) : marks;
  const axis = (name: string, gap: number): object => ({
    ...axisStyle(p), type: "log", min: low, max: high, name, nameLocation: "middle", nameGap: gap, minorTick: { show: false },
    axisTick: { lineStyle: { color: p.muted }, customValues: shown }, splitLine: { lineStyle: { color: p.hairline }, customValues: shown }, axisLabel: { color: p.muted, fontSize: 11.5, hideOverlap: true, customValues: shown, formatter: tick },
  });
  // Both ends lie on the frame: a line that begins outside of it is not drawn.
  const edge = (factor: number): object[] => [{ coord: [Math.max(low, low / factor), Math.max(low, low * factor)], lineStyle: { color: p.muted, width: 1, type: "dashed" } }, { coord: [Math.min(high, high / factor), Math.min(high, high * factor)] }];
  const color = tone(unitOf(metric), p);
  return {
    grid: { left: 62, right: 14, top: 12, bottom: 42 },
    xAxis: axis(text.reproduction.publishedAxis, 26),
    yAxis: axis(text.reproduction.predictedAxis, 46),
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const r = rows[(raw as Params).dataIndex];
        if (!r) return "";
        return tip(r.id, [row("transparent", text.reproduction.published, valueText(publishedOf(r), r.unit)), row(color, text.reproduction.predicted, valueText(r.predicted, r.unit)), row("transparent", text.reproduction.error, errorText(r.error_pct))], [r.step ?? "", r.fitted ? text.reproduction.fitted : ""].filter((x) => x !== "").join(" · "));
      },
    },
    series: [
      {
        type: "scatter", symbolSize: 8, emphasis: { disabled: true },
        data: rows.map((r) => ({ value: [publishedOf(r), r.predicted], itemStyle: { color: r.fitted ? p.paper : color, borderColor: color, borderWidth: 1.6, opacity: 1 } })),
        markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: p.ink, width: 1, type: "solid" }, data: [[{ coord: [low, low] }, { coord: [high, high] }], edge(1.1), edge(0.9)] },
      },
    ],
  } as unknown as EChartsOption;
}

/** Colours of the series of one picture: two by kind of thing, more as shades. */
export function seriesTones(n: number, p: Palette): string[] {
  const base = [p.op.read, p.op.write, p.op.mixed, p.op.trim];
  return n <= base.length ? base.slice(0, n) : shades(p.op.read, p, n);
}

/** One metric of an article's picture: bars where there are few points, lines else; published figures as open diamonds. */
export function articleChart(picture: ArticlePicture, metric: PublishedMetric, p: Palette, width: number): EChartsOption {
  const places = [...new Set(picture.series.flatMap((s) => s.points.map((q) => q.x)))];
  const tones = seriesTones(picture.series.length, p);
  const bars = places.length < 4 || !places.every((x) => /^[\d.]/.test(x));
  const all = picture.series.flatMap((s) => s.points.flatMap((q) => [q.values[metric] ?? 0, ...q.published.filter((m) => m.metric === metric).map((m) => m.value_max ?? m.value)]));
  const unit = unitOf(metric);
  const tick = (v: number): string => (unit === "ns" ? timeTick(v) : countTick(v));
  const of = (s: ArticlePicture["series"][number], x: string) => s.points.find((q) => q.x === x);
  const turned = places.reduce((n, x) => n + 8 * x.length + 12, 0) > width - 70;
  return {
    grid: { left: 60, right: 10, top: 26, bottom: turned ? 84 : 44 },
    xAxis: { ...axisStyle(p), type: "category", data: turned ? shortened(places, 96) : places, name: turned ? "" : picture.x, nameLocation: "middle", nameGap: 26, splitLine: { show: false }, axisTick: { show: false }, axisLabel: { color: p.muted, fontSize: 11.5, interval: 0, rotate: turned ? 40 : 0, hideOverlap: true } },
    yAxis: { ...axisStyle(p), type: "value", min: 0, ...zeroScale(Math.max(0, ...all)), axisLabel: { color: p.muted, fontSize: 11.5, formatter: tick } },
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { type: bars ? "shadow" : "line", shadowStyle: { color: p.muted, opacity: 0.08 }, lineStyle: { color: p.muted } },
      formatter: (raw: unknown) => {
        const x = places[((Array.isArray(raw) ? raw[0] : raw) as Params | undefined)?.dataIndex ?? -1];
        if (x === undefined) return "";
        const rows = picture.series.flatMap((s, i) => {
          const q = of(s, x);
          if (!q) return [];
          const marks = q.published.filter((m) => m.metric === metric).map((m) => row("transparent", `◇ ${text.published.mark}`, `${valueText(m.value, unit)}${m.value_max === null ? "" : `–${valueText(m.value_max, unit)}`}`));
          return [row(tones[i] ?? p.ink, s.name, valueText(q.values[metric] ?? null, unit)), ...marks];
        });
        return tip(x, rows);
      },
    },
    series: picture.series.flatMap((s, i) => {
      const color = tones[i] ?? p.ink;
      const marks = places.map((x) => of(s, x)?.published.find((m) => m.metric === metric) ?? null);
      const diamond = marks.some((m) => m !== null)
        ? [
            bars
              ? barMarks(marks.map((m) => m && (m.value_max === null ? m.value : (m.value + m.value_max) / 2)), i, picture.series.length, color)
              : { type: "scatter", name: `${s.name} ${text.published.mark}`, symbol: "diamond", symbolSize: 11, z: 5, tooltip: { show: false }, itemStyle: { color: "transparent", borderColor: color, borderWidth: 1.8, opacity: 1 }, data: marks.map((m) => m?.value ?? "-") },
          ]
        : [];
      const data = places.map((x) => of(s, x)?.values[metric] ?? "-");
      return [
        bars
          ? { type: "bar", name: s.name, data, barMaxWidth: BAR_PX, barGap: "10%", itemStyle: { color, opacity: 0.85 }, emphasis: { disabled: true } }
          : { type: "line", name: s.name, data, symbol: SYMBOLS[i % SYMBOLS.length], symbolSize: 6, lineStyle: { color, width: 2 }, itemStyle: { color }, emphasis: { disabled: true } },
        ...diamond,
      ];
    }),
  } as unknown as EChartsOption;
}

const BAR_PX = 26;

/** Diamonds over the bars they belong to. */
function barMarks(values: readonly (number | null)[], index: number, of: number, color: string): object {
  return {
    type: "custom", silent: true, tooltip: { show: false }, z: 5,
    data: values.flatMap((v, i) => (v === null ? [] : [[i, v]])),
    renderItem: (_: unknown, api: { value: (i: number) => number; coord: (p: [number, number]) => [number, number]; barLayout: (o: object) => { offsetCenter: number }[] }) => {
      const [x, y] = api.coord([api.value(0), api.value(1)]);
      const shift = api.barLayout({ count: of, barMaxWidth: BAR_PX, barGap: "10%" })[index]?.offsetCenter ?? 0;
      const at = x + shift;
      return { type: "polygon", shape: { points: [[at, y - 7], [at + 7, y], [at, y + 7], [at - 7, y]] }, style: { fill: "transparent", stroke: color, lineWidth: 2 } };
    },
    encode: { x: 0, y: 1 },
  };
}
