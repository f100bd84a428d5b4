/** Latency over the rates of reads and writes: a square for each measured pair, and the region that keeps the goal. */

import type { EChartsOption } from "echarts";
import { logMarksOf, zeroScale } from "../curves";
import { countTick, plusMinus, time, whole } from "../format";
import type { Shown } from "../goals";
import { hatchLines } from "../intervals";
import { row, tip, type Params } from "../options";
import { heatTone, isPale, type Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";
import { gapsOf, pairLatency, type Of, type Pair, type Surface } from "../surfaces";
import { text } from "../text";

export const SURFACE_PX = 420;
/** Narrower than this, squares have no room for a unit: all values are in one unit, which the axis names. */
const UNIT_MIN_PX = 560;

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]] as const;

/** Largest unit that leaves at least 1 of the longest latency. */
function unitOf(values: readonly (number | null)[]): (typeof UNITS)[number] {
  const longest = Math.max(...values.map((v) => v ?? 0));
  return UNITS.find(([size]) => longest >= size) ?? UNITS[2];
}

/** Gaps of the region as hatched boxes on paper. */
function hatched(s: Surface, p: Palette): object {
  return {
    type: "custom", name: "gaps", silent: true, tooltip: { show: false }, z: 3, data: gapsOf(s).map((c) => [c.writes[0], c.reads[0], c.writes[1], c.reads[1]]), encode: { x: [0, 2], y: [1, 3] },
    renderItem: (_: unknown, api: { value: (i: number) => number; coord: (at: [number, number]) => [number, number] }) => {
      const [x, bottom] = api.coord([api.value(0), api.value(1)]);
      const [right, y] = api.coord([api.value(2), api.value(3)]);
      const [width, height] = [right - x, bottom - y];
      const lines = hatchLines(x, y, width, height, 7);
      return {
        type: "group",
        children: [
          { type: "rect", shape: { x, y, width, height }, style: { fill: p.paper } },
          ...lines.map(([x1, y1, x2, y2]) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: p.muted, lineWidth: 1, opacity: 0.55 } })),
        ],
      };
    },
  };
}

/** Where a value lies between the marks of its scale. */
function shareOf(marks: readonly number[]): (value: number) => number {
  const [low, high] = [Math.log(marks[0] ?? 1), Math.log(marks[marks.length - 1] ?? 10)];
  return (value) => 0.1 + (0.82 * (Math.log(value) - low)) / (high - low || 1);
}

/** Squares with their latencies; `answer`: the step of the pair that the headline names, in a frame. */
export function surface(s: Surface, answer: number | undefined, of: Of, name: Shown, p: Palette, width: number): EChartsOption {
  const hasUnits = width >= UNIT_MIN_PX;
  const values = s.pairs.map((q) => pairLatency(q.step, of, name));
  const [size, unit] = unitOf(values);
  const said = (ns: number): string => (hasUnits ? time(ns) : String(Number((ns / size).toPrecision(2))));
  const share = shareOf(logMarksOf(values));
  const x = zeroScale(1.06 * Math.max(1, ...s.pairs.map((q) => q.view.writes_per_s)));
  const y = zeroScale(1.06 * Math.max(1, ...s.pairs.map((q) => q.view.reads_per_s)));
  // Squares at zero stand beside the axis, not on its figures.
  const axis = (label: string, scale: { max: number; interval: number }, room: number): object => {
    const marks = Array.from({ length: Math.round(scale.max / scale.interval) + 1 }, (_, i) => i * scale.interval);
    return { ...axisStyle(p), type: "value", min: -room * scale.max, max: scale.max, name: label, splitLine: { show: false }, axisLine: { onZero: false, lineStyle: { color: p.muted } }, axisTick: { customValues: marks, lineStyle: { color: p.muted } }, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, customValues: marks, formatter: countTick } };
  };
  const square = (q: Pair, value: number | null): object => {
    const isHeld = q.view.outcome !== "not_held";
    const tone = value === null ? p.paper : heatTone(share(value), p);
    return {
      value: [q.view.writes_per_s, q.view.reads_per_s],
      itemStyle: { color: isHeld ? tone : p.paper, opacity: 1, borderWidth: q.view.outcome === "kept" ? 0 : 1.5, borderColor: q.view.outcome === "unknown" ? p.muted : p.warn, borderType: q.view.outcome === "unknown" ? "dotted" : "solid" },
    };
  };
  // Values are above all squares: a square must not cover the value of its neighbour.
  const figure = (q: Pair, value: number | null): object => {
    const isHeld = q.view.outcome !== "not_held";
    const color = isHeld && value !== null ? (isPale(heatTone(share(value), p)) ? "#1b1e22" : "#ffffff") : p.warn;
    return { value: [q.view.writes_per_s, q.view.reads_per_s], label: { formatter: !isHeld ? "×" : value === null ? "–" : said(value), color } };
  };
  return {
    grid: { left: hasUnits ? 60 : 44, right: hasUnits ? 30 : 14, top: 30, bottom: 46 },
    xAxis: { ...axis(text.study.writesAxis, x, (hasUnits ? 36 : 18) / Math.max(1, width - (hasUnits ? 90 : 58))), nameLocation: "middle", nameGap: 28 },
    yAxis: { ...axis(hasUnits ? text.study.readsAxis : text.study.squaresIn(text.study.readsAxis, unit), y, 0.05), nameTextStyle: { color: p.muted, fontSize: 12, align: "left", padding: [0, 0, 0, hasUnits ? -56 : -40] } },
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const q = s.pairs[(raw as Params).dataIndex];
        if (!q) return "";
        const latencies = (["all", "read", "write"] as const).flatMap((of) => { const ns = pairLatency(q.step, of, name); return ns === null ? [] : [row("transparent", `${name === "mean" ? text.picture.mean : name}${text.comma}${text.study.pairOf[of]}`, time(ns))]; });
        return tip(text.study.pairRates(whole(q.view.reads_per_s), whole(q.view.writes_per_s)), [...latencies, row("transparent", text.picture.iopsAxis, `${whole(q.step.iops)} <em>${plusMinus(q.step.iops_ci95, q.step.iops)}</em>`)], text.study.pairOutcome[q.view.outcome]);
      },
    },
    series: [
      { type: "scatter", symbol: "rect", symbolSize: hasUnits ? [58, 20] : [24, 14], z: 4, emphasis: { disabled: true }, data: s.pairs.map((q, i) => square(q, values[i] ?? null)) },
      { type: "scatter", name: text.study.answerMark, silent: true, symbol: "rect", symbolSize: hasUnits ? [64, 26] : [28, 18], z: 5, itemStyle: { color: "transparent", borderColor: p.ink, borderWidth: hasUnits ? 2.5 : 2, opacity: 1 }, data: s.pairs.filter((q) => q.view.step === answer).map((q) => [q.view.writes_per_s, q.view.reads_per_s]) },
      { type: "scatter", name: "values", silent: true, symbolSize: 1, z: 6, itemStyle: { color: "transparent" }, label: { show: true, position: "inside", fontSize: hasUnits ? 11 : 9.5 }, data: s.pairs.map((q, i) => figure(q, values[i] ?? null)) },
      { type: "line", silent: true, symbol: "none", tooltip: { show: false }, lineStyle: { color: p.op.mixed, width: 1.5, type: "dashed" }, areaStyle: { color: p.op.mixed, opacity: 0.13 }, data: s.region },
      hatched(s, p),
    ],
  } as unknown as EChartsOption;
}
