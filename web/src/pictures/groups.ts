/** Groups side by side: a row for each load, a dot and its interval for each group. */

import type { EChartsOption } from "echarts";
import { latency, logMarks, limitWord } from "../curves";
import type { Quantile, StepView } from "../document";
import { countTick, plusMinus, timeTick, whole } from "../format";
import { inFlight, type GroupRow } from "../groups";
import { within } from "../intervals";
import { exactTime, row, shortened, textPx, tip, type Params } from "../options";
import { pathTone as groupTone, type Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";
import { text } from "../text";
import { intervalBar } from "./compare";

/** What stands on the axis. */
export type Metric = "iops" | Quantile | "mean";

const ROW_PX = 24;
export const dotsPx = (rows: readonly GroupRow[]): number => 60 + ROW_PX * rows.length;

function valueOf(s: StepView, metric: Metric): number | null {
  return metric === "iops" ? s.iops : latency(s.lat_ns, metric);
}

function ciOf(s: StepView, metric: Metric): [number, number] | null {
  return (metric === "iops" ? s.iops_ci95 : s.lat_ns?.ci95[metric]) ?? null;
}

/** Loads of one workload as rows, in the order of what is in flight on each drive. */
export function dots(names: readonly string[], rows: readonly GroupRow[], metric: Metric, marks: readonly number[], p: Palette, width: number): EChartsOption {
  const isOne = new Set(rows.map((r) => r.workload)).size === 1;
  const labels = rows.map((r) => (isOne ? `${r.threads}x${r.depth} = ${inFlight(r)}` : `${r.workload} ${r.threads}x${r.depth}`));
  const left = Math.min(width * 0.54, 14 + Math.max(...labels.map(textPx)));
  const [low, high] = [marks[0] ?? 1, marks[marks.length - 1] ?? 10];
  const tick = metric === "iops" ? countTick : timeTick;
  const places = names.map((_, i) => (i - (names.length - 1) / 2) * Math.min(9, (ROW_PX - 8) / names.length));
  return {
    grid: { left, right: 22, top: 6, bottom: 44 },
    xAxis: { ...axisStyle(p), type: "log", min: low, max: high, name: metric === "iops" ? text.picture.iopsAxis : metric === "mean" ? text.picture.mean : metric, nameLocation: "middle", nameGap: 26, axisTick: { customValues: marks, lineStyle: { color: p.muted } }, splitLine: { customValues: marks, lineStyle: { color: p.hairline } }, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, customValues: marks, formatter: tick } },
    yAxis: { ...axisStyle(p), type: "category", inverse: true, data: shortened(labels, left - 10), axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: true, lineStyle: { color: p.hairline } }, axisLabel: { color: p.ink, fontSize: width < 440 ? 11 : 12, interval: 0 } },
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { type: "shadow", axis: "y", shadowStyle: { color: p.muted, opacity: 0.08 } },
      formatter: (raw: unknown) => {
        const r = rows[((Array.isArray(raw) ? raw[0] : raw) as Params | undefined)?.dataIndex ?? -1];
        if (!r) return "";
        return tip(`${r.workload} ${r.threads}x${r.depth}`, names.flatMap((name, i) => {
          const s = r.steps.get(name);
          return s ? [row(groupTone(i, p), name, `${whole(s.iops)} IOPS <em>${plusMinus(s.iops_ci95, s.iops)}</em><small>${text.picture.mean} ${exactTime(s.lat_ns?.mean ?? null)} · p99 ${exactTime(latency(s.lat_ns, "p99"))} · ${limitWord(s.limit.name)}</small>`)] : [];
        }));
      },
    },
    // Groups that agree would hide each other: each has a place of its own within the row.
    series: names.flatMap((name, i) => [
      intervalBar(groupTone(i, p), true, rows.flatMap((r, k) => { const s = r.steps.get(name); const ci = s ? ciOf(s, metric) : null; return ci ? [[k, ...within(ci, low, high)]] : []; }), { encode: { x: [1, 2], y: 0 } }, places[i]),
      { type: "scatter", name, symbol: ["circle", "diamond", "rect", "triangle"][i % 4], symbolSize: 9, symbolOffset: [0, places[i] ?? 0], z: 4, emphasis: { disabled: true }, itemStyle: { color: groupTone(i, p), opacity: 1 }, data: rows.map((r, k) => { const s = r.steps.get(name); return [s ? (valueOf(s, metric) ?? "-") : "-", k]; }) },
    ]),
  } as unknown as EChartsOption;
}

/** Marks of an axis that holds every row. */
export function dotMarks(rows: readonly GroupRow[], metric: Metric): number[] {
  return logMarks(rows.flatMap((r) => [...r.steps.values()].map((s) => valueOf(s, metric) ?? NaN)));
}
