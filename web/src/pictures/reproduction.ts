/** Pictures of the articles redone: predicted over published, and the articles' own charts drawn again. */

import type { EChartsOption } from "echarts";
import { logMarks, zeroScale } from "../curves";
import type { ArticlePicture, FigureRow } from "../document";
import { count3, countTick, figure, time, timeTick } from "../format";
import { SYMBOLS, row, tip, type Params } from "../options";
import { shades, type Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";
import { text } from "../text";
import { errorText } from "./study";

/** A figure of the catalogue with its unit: rates, microseconds, percents and bytes per second have their own. */
export function valueText(value: number | null, metric: string): string {
  if (value === null) return text.reproduction.none;
  if (metric.startsWith("latency_us")) return time(value * 1000);
  if (metric === "bandwidth_bytes_per_s") return figure(value, "bytes_per_s");
  if (metric.includes("_pct")) return `${count3(value)} %`;
  return count3(value);
}

/** What is counted, in the language of the page. */
export function metricWord(metric: string): string {
  return text.reproduction.metrics[metric] ?? metric.replace(/_/g, " ");
}

/** Published value of a row: the middle of a range. */
export function publishedOf(r: FigureRow): number {
  return r.published_max === null ? r.published : (r.published + r.published_max) / 2;
}

const GROUPS: readonly [string, (metric: string) => boolean][] = [
  ["iops", (m) => m.startsWith("iops")],
  ["bandwidth_bytes_per_s", (m) => m === "bandwidth_bytes_per_s"],
  ["latency_us_mean", (m) => m.startsWith("latency_us")],
  ["cpu_pct", (m) => m.includes("cpu") || m === "cores_busy"],
];

/** Figures by what they count, those with a prediction only. */
export function scatterGroups(rows: readonly FigureRow[]): { metric: string; rows: FigureRow[] }[] {
  const usable = rows.filter((r) => r.predicted !== null && r.predicted > 0 && r.published > 0 && r.contradiction === null);
  return GROUPS.map(([metric, fits]) => ({ metric, rows: usable.filter((r) => fits(r.metric)) })).filter((g) => g.rows.length > 0);
}

/** Predicted over published, both logarithmic, with the band of 10 %. */
export function scatter(rows: readonly FigureRow[], metric: string, p: Palette): EChartsOption {
  const marks = logMarks(rows.flatMap((r) => [publishedOf(r) * 0.88, (r.predicted ?? 0) * 1.13]));
  const [low, high] = [marks[0] ?? 1, marks[marks.length - 1] ?? 10];
  const tick = (v: number): string => (metric.startsWith("latency_us") ? timeTick(v * 1000) : countTick(v));
  const shown = marks.length > 9 ? marks.filter((m) => /^1/.test(m.toExponential())) : marks;
  const axis = (name: string, gap: number): object => ({
    ...axisStyle(p), type: "log", min: low, max: high, name, nameLocation: "middle", nameGap: gap, minorTick: { show: false },
    axisTick: { lineStyle: { color: p.muted }, customValues: shown }, splitLine: { lineStyle: { color: p.hairline }, customValues: shown }, axisLabel: { color: p.muted, fontSize: 11.5, hideOverlap: true, customValues: shown, formatter: tick },
  });
  // Both ends lie on the frame: a line that begins outside of it is not drawn.
  const edge = (factor: number): object[] => [{ coord: [Math.max(low, low / factor), Math.max(low, low * factor)], lineStyle: { color: p.muted, width: 1, type: "dashed" } }, { coord: [Math.min(high, high / factor), Math.min(high, high * factor)] }];
  const color = metric.startsWith("iops") ? p.op.read : metric.startsWith("latency") ? p.op.write : metric.startsWith("band") ? p.op.mixed : p.op.trim;
  return {
    grid: { left: 62, right: 14, top: 12, bottom: 42 },
    xAxis: axis(text.reproduction.publishedAxis, 26),
    yAxis: axis(text.reproduction.predictedAxis, 46),
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const r = rows[(raw as Params).dataIndex];
        if (!r) return "";
        return tip(r.id, [row("transparent", text.reproduction.published, valueText(publishedOf(r), r.metric)), row(color, text.reproduction.predicted, valueText(r.predicted, r.metric)), row("transparent", text.reproduction.error, errorText(r.error_pct))], [r.step ?? "", r.fitted ? text.reproduction.fitted : ""].filter((x) => x !== "").join(" · "));
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
export function articleChart(picture: ArticlePicture, metric: string, p: Palette, width: number): EChartsOption {
  const places = [...new Set(picture.series.flatMap((s) => s.points.map((q) => q.x)))];
  const tones = seriesTones(picture.series.length, p);
  const bars = places.length < 4 || !places.every((x) => /^[\d.]/.test(x));
  const all = picture.series.flatMap((s) => s.points.flatMap((q) => [q.values[metric] ?? 0, ...q.published.filter((m) => m.metric === metric).map((m) => m.value_max ?? m.value)]));
  const isTime = metric.startsWith("latency_us");
  const tick = (v: number): string => (isTime ? timeTick(v * 1000) : countTick(v));
  const of = (s: ArticlePicture["series"][number], x: string) => s.points.find((q) => q.x === x);
  const turned = places.reduce((n, x) => n + 8 * x.length + 12, 0) > width - 70;
  return {
    grid: { left: 60, right: 10, top: 26, bottom: turned ? 84 : 44 },
    xAxis: { ...axisStyle(p), type: "category", data: places, name: turned ? "" : picture.x, nameLocation: "middle", nameGap: 26, splitLine: { show: false }, axisTick: { show: false }, axisLabel: { color: p.muted, fontSize: 11.5, interval: 0, rotate: turned ? 40 : 0, width: turned ? 96 : undefined, overflow: "truncate", hideOverlap: true } },
    yAxis: { ...axisStyle(p), type: "value", min: 0, ...zeroScale(Math.max(0, ...all)), axisLabel: { color: p.muted, fontSize: 11.5, formatter: tick } },
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { type: bars ? "shadow" : "line", shadowStyle: { color: p.muted, opacity: 0.08 }, lineStyle: { color: p.muted } },
      formatter: (raw: unknown) => {
        const x = places[((Array.isArray(raw) ? raw[0] : raw) as Params | undefined)?.dataIndex ?? -1];
        if (x === undefined) return "";
        const rows = picture.series.flatMap((s, i) => {
          const q = of(s, x);
          if (!q) return [];
          const marks = q.published.filter((m) => m.metric === metric).map((m) => row("transparent", `◇ ${text.published.mark}`, `${valueText(m.value, metric)}${m.value_max === null ? "" : `–${valueText(m.value_max, metric)}`}`));
          return [row(tones[i] ?? p.ink, s.name, valueText(q.values[metric] ?? null, metric)), ...marks];
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
