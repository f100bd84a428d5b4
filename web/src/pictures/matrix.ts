/** A matrix as a heat map with its values, and a drive that is written until it is saturated. */

import type { EChartsOption } from "echarts";
import { zeroScale } from "../curves";
import { bytesDecimal, count3, countTick, figure, figureParts, plusMinus, time, whole } from "../format";
import type { Matrix, Saturation } from "../matrix";
import { row, tip, type Params } from "../options";
import { heatTone, isPale, type Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";
import { say, text } from "../text";

export const matrixPx = (m: Matrix): number => 40 + 30 * m.blocks.length;
export const SATURATION_PX = 300;

/** Values by block size and mix, shaded on a logarithmic scale: deeper is more. */
export function matrix(m: Matrix, p: Palette, width: number): EChartsOption {
  const values = m.cells.map((c) => c.mean).filter((v) => v > 0);
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  const share = (v: number): number => (high > low ? 0.08 + 0.84 * ((Math.log(v) - low) / (high - low)) : 0.4);
  const tone = (v: number): string => heatTone(share(v), p);
  const words = (v: number): string => (m.unit === "ns" ? time(v) : figureParts(v, m.unit).number);
  const small = width < 440;
  return {
    grid: { left: 44, right: 4, top: 26, bottom: 4 },
    xAxis: { ...axisStyle(p), type: "category", position: "top", data: m.mixes, splitLine: { show: false }, axisTick: { show: false }, axisLine: { show: false }, axisLabel: { color: p.muted, fontSize: small ? 11 : 12, interval: 0 } },
    yAxis: { ...axisStyle(p), type: "category", inverse: true, data: m.blocks, splitLine: { show: false }, axisTick: { show: false }, axisLine: { show: false }, axisLabel: { color: p.ink, fontSize: 12, interval: 0 } },
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const c = m.cells[(raw as Params).dataIndex];
        return c ? tip(say(c.step.workload_title || c.step.label), [row(tone(c.mean), text.study.windowMean, `${figure(c.mean, m.unit)} <em>${plusMinus(c.ci95, c.mean)}</em>`)], `T${c.step.threads} QD${c.step.queue_depth}`) : "";
      },
    },
    visualMap: { show: false, min: 0, max: 1, dimension: 3, inRange: { color: p.heat } },
    series: [{
      type: "heatmap", emphasis: { disabled: true },
      data: m.cells.map((c) => ({
        value: [c.column, c.row, c.mean, share(c.mean)],
        itemStyle: { borderColor: p.paper, borderWidth: 2 },
        label: { show: true, formatter: words(c.mean), fontSize: small ? 10 : 12.5, color: isPale(tone(c.mean)) ? "#1b1e22" : "#ffffff" },
      })),
    }],
  } as unknown as EChartsOption;
}

/** IOPS over what had been written, every interval a point. */
export function saturation(s: Saturation, p: Palette): EChartsOption {
  const color = p.op[s.kind];
  const scale = zeroScale(s.top);
  const last = s.points[s.points.length - 1]?.[0] ?? 1;
  // Written bytes are decimal here, as capacities are.
  const step = [1, 2, 5].flatMap((m) => Array.from({ length: 16 }, (_, e) => m * 10 ** e)).sort((a, b) => a - b).find((x) => last / x <= 5) ?? last;
  return {
    grid: { left: 58, right: 20, top: 26, bottom: 46 },
    xAxis: { ...axisStyle(p), type: "value", min: 0, max: last, interval: step, name: text.study.writtenAxis, nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, showMaxLabel: false, formatter: (v: number) => (v === 0 ? "0" : bytesDecimal(v).replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, "")) } },
    yAxis: { ...axisStyle(p), type: "value", min: 0, ...scale, name: text.picture.iopsAxis, axisLabel: { color: p.muted, fontSize: 12, formatter: countTick } },
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { lineStyle: { color: p.muted } },
      formatter: (raw: unknown) => {
        const q = s.points[((Array.isArray(raw) ? raw[0] : raw) as Params | undefined)?.dataIndex ?? -1];
        return q ? tip(bytesDecimal(q[0]), [row(color, text.picture.iopsAxis, whole(q[1]))]) : "";
      },
    },
    series: [{
      type: "line", showSymbol: false, emphasis: { disabled: true }, lineStyle: { color, width: 1.4 }, itemStyle: { color }, areaStyle: { color, opacity: 0.1 },
      data: s.points.map(([x, y]) => [x, Math.min(y, scale.max)]),
    }],
  } as unknown as EChartsOption;
}

/** What stands under the chart when spikes were clipped. */
export function clippedNote(s: Saturation): string {
  return s.clipped ? text.study.clipped(s.clipped.count, s.points.length, count3(s.clipped.highest)) : "";
}

