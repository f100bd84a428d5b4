/** Ladders as chart options: IOPS and latency against load, and the tails. Data comes ready from `curves`. */

import type { EChartsOption } from "echarts";
import { P50_NINES, answeredLatency, answeredTail, latency, limitWord, logMarks, ninesName, roomy, zeroScale, type Line } from "../curves";
import type { Quantile, StepView } from "../document";
import { escapeHtml } from "../dom";
import { count3, countTick, plusMinus, time, whole } from "../format";
import { barLines, notNegative, topOf, within } from "../intervals";
import { PLOT_LEFT_PX, SYMBOLS, apartLabels, areNamedBeside, endLabel, enoughLabels, enoughWord, exactTime, gridOf, kneeBands, labelRoom, latencyAxis, lineLooks, plotPx, publishedMarks, publishedRow, rim, ring, row, tip, type Bend, type Params, type Plot } from "../options";
import { shades, type Palette } from "../palette";
import type { Mark } from "../published";
import { axisStyle, tooltipStyle } from "../stage";
import { text } from "../text";

/** Heights of the charts, which the labels beside the lines are laid out for. */
export const IOPS_PX = 330;
export const LATENCY_PX = 300;
export const TAILS_PX = 340;

/** Room of a name beside a point: doublings of the queue depth. */
const NAME_DOUBLINGS = 2.5;

/** Ends of the axis of queue depths: powers of two around all that is drawn. */
function depthEnds(all: readonly Line[], published: readonly Mark[]): [number, number] {
  const depths = [...all.flatMap((l) => l.steps.map((s) => s.queue_depth)), ...published.map((m) => m.point.queue_depth ?? 1)];
  const low = 2 ** Math.floor(Math.log2(Math.min(...depths)));
  return [low, Math.max(2 * low, 2 ** Math.ceil(Math.log2(Math.max(...depths))))];
}

/** True if there is room for a name at the end of each line. A name at a line that ends early would cover the others. */
export function areLaddersNamed(all: readonly Line[], width = Infinity): boolean {
  const ends = new Set(all.map((l) => l.steps[l.steps.length - 1]?.queue_depth));
  return areNamedBeside(all, width) && ends.size <= 1;
}

/** Horizontal axis of queue depths: log2, a tick at each power of two. */
function depthAxis(all: readonly Line[], p: Palette, published: readonly Mark[] = []): object {
  const [low, high] = depthEnds(all, published);
  return {
    ...axisStyle(p),
    type: "log",
    logBase: 2,
    min: low,
    max: high,
    name: text.picture.qdAxis,
    nameLocation: "middle",
    nameGap: 28,
    splitLine: { show: false },
    axisLabel: { color: p.muted, fontSize: 12, formatter: (v: number) => String(Math.round(v)) },
  };
}

function interval(step: StepView): string {
  return step.iops_ci95 ? `${whole(step.iops_ci95[0])}–${whole(step.iops_ci95[1])}` : "";
}

/** IOPS over queue depth: log2 below, from zero upwards; intervals as bars, the range of the knee shaded, predictions dashed. */
export function iopsOverDepth(all: readonly Line[], p: Palette, width: number, published: readonly Mark[] = []): EChartsOption {
  const direct = areLaddersNamed(all, width);
  const looks = lineLooks(all, p);
  const series: object[] = [];
  const scale = zeroScale(Math.max(0, ...published.map((m) => m.value), ...all.flatMap((l) => l.steps.map((s) => s.predicted?.iops ?? 0)), topOf(all.flatMap((l) => l.steps.map((s) => s.iops)), all.flatMap((l) => l.steps.map((s) => s.iops_ci95)))));
  const ends = all.map((l) => l.steps[l.steps.length - 1]).map((s) => ({ x: Math.log2(s?.queue_depth ?? 1), share: (s?.iops ?? 0) / scale.max }));
  const shifts = apartLabels(ends, plotPx(IOPS_PX), NAME_DOUBLINGS);
  const room = direct ? labelRoom(all) : 14;
  const [low, high] = depthEnds(all, published);
  const share = (depth: number): number => Math.log2(depth / low) / Math.log2(high / low);
  const plot: Plot = { width: width - PLOT_LEFT_PX - room, height: plotPx(IOPS_PX), share };
  const bends = all.map((line, i): Bend => {
    const at = line.enough;
    return { color: looks[i]?.color ?? p.ink, knee: line.knee, enough: at ? { x: share(at.queue_depth), y: at.iops / scale.max, label: enoughWord(`QD ${at.queue_depth}`, width), isFirst: at === line.steps[0] } : null };
  });
  const labels = enoughLabels(bends, plot, p);
  series.push(...kneeBands(bends, plot, p));
  all.forEach((line, i) => {
    const look = looks[i];
    if (!look) return;
    series.push({
      type: "line",
      name: line.label,
      data: line.steps.map((s) => ({ value: [s.queue_depth, s.iops], ...(s === line.enough ? { ...ring(look.color, p), label: labels[i] } : {}) })),
      symbol: look.symbol,
      symbolSize: 6,
      lineStyle: { color: look.color, width: 2, type: look.dash },
      itemStyle: { color: look.color },
      emphasis: { disabled: true },
      ...endLabel(line.label, look.color, direct, shifts[i] ?? 0, p),
    });
    series.push(errorBars(line, look.color, scale.max));
    const predicted = line.steps.filter((s) => s.predicted);
    if (predicted.length > 0) {
      series.push({
        type: "line", name: `${line.label} ${text.picture.predicted}`, symbol: "none", silent: true,
        data: predicted.map((s) => [s.queue_depth, s.predicted?.iops ?? 0]), lineStyle: { color: look.color, width: 1, type: "dashed" }, tooltip: { show: false },
      });
    }
  });
  series.push(...publishedMarks(published, (m) => [m.point.queue_depth ?? 1, m.value], p));
  return {
    grid: gridOf(room),
    xAxis: depthAxis(all, p, published),
    yAxis: { ...axisStyle(p), type: "value", min: 0, ...scale, name: text.picture.iopsAxis, axisLabel: { color: p.muted, fontSize: 12, formatter: countTick } },
    tooltip: { ...tooltipStyle(p), trigger: "axis", axisPointer: { lineStyle: { color: p.muted } }, formatter: (raw: unknown) => depthTip(raw, all, looks, (s) => `${whole(s.iops)} <em>${plusMinus(s.iops_ci95, s.iops)}</em>`, published, count3) },
    series,
  } as EChartsOption;
}

/** The interval of each point as a bar, within the plot. */
function errorBars(line: Line, color: string, top: number): object {
  return {
    type: "custom",
    name: line.label,
    silent: true,
    tooltip: { show: false },
    data: line.steps.filter((s) => s.iops_ci95).map((s) => [s.queue_depth, ...within(notNegative(s.iops_ci95 ?? [0, 0]), 0, top)]),
    renderItem: (_: unknown, api: { value: (i: number) => number; coord: (p: [number, number]) => [number, number] }) => {
      const [low, high] = [api.coord([api.value(0), api.value(1)]), api.coord([api.value(0), api.value(2)])];
      const lines = barLines(low, high, false, api.value(3));
      return {
        type: "group",
        children: lines.map(([a, b, c, d]) => ({ type: "line", shape: { x1: a, y1: b, x2: c, y2: d }, style: { stroke: color, lineWidth: 1 } })),
      };
    },
    encode: { x: 0, y: [1, 2] },
  };
}

/** One row per line at the queue depth under the pointer. */
function depthTip(raw: unknown, all: readonly Line[], looks: readonly { color: string }[], value: (s: StepView) => string, published: readonly Mark[] = [], show: (v: number) => string = count3): string {
  const points = (Array.isArray(raw) ? raw : [raw]) as Params[];
  const first = points[0]?.value as [number, number] | undefined;
  if (!first) return "";
  const depth = first[0];
  const rows: string[] = [];
  all.forEach((line, i) => {
    for (const s of line.steps.filter((step) => step.queue_depth === depth)) {
      const name = s.rate_iops === null ? line.label : `${line.label}${text.comma}${count3(s.rate_iops)} IOPS`;
      rows.push(row(looks[i]?.color ?? "", name, `${value(s)}<small>${whole(s.lat_ns?.samples ?? s.ios)} ${text.chart.samples} · ${escapeHtml(limitWord(s.limit.name))}</small>`));
    }
  });
  for (const m of published.filter((x) => (x.point.queue_depth ?? 1) === depth)) rows.push(publishedRow(m, show(m.value)));
  return tip(`QD ${depth}`, rows);
}

/** Latency over queue depth, both logarithmic. */
export function latencyOverDepth(all: readonly Line[], name: Quantile | "mean", p: Palette, width: number, published: readonly Mark[] = []): EChartsOption {
  const direct = areLaddersNamed(all, width);
  const looks = lineLooks(all, p);
  const values = [...all.flatMap((l) => l.steps.map((s) => latency(s.lat_ns, name))), ...published.map((m) => m.value)];
  const marks = logMarks(values.filter((v) => v !== null));
  const [low, high] = [Math.log(marks[0] ?? 1), Math.log(marks[marks.length - 1] ?? 10)];
  const ends = all.map((l) => {
    const last = [...l.steps].reverse().find((s) => latency(s.lat_ns, name) !== null);
    return { x: Math.log2(last?.queue_depth ?? 1), share: last ? (Math.log(latency(last.lat_ns, name) ?? 1) - low) / (high - low) : 0 };
  });
  const shifts = apartLabels(ends, plotPx(LATENCY_PX), NAME_DOUBLINGS);
  return {
    grid: gridOf(direct ? labelRoom(all) : 14, 60),
    xAxis: depthAxis(all, p, published),
    yAxis: latencyAxis(values, p),
    tooltip: { ...tooltipStyle(p), trigger: "axis", axisPointer: { lineStyle: { color: p.muted } }, formatter: (raw: unknown) => depthTip(raw, all, looks, (s) => exactTime(latency(s.lat_ns, name)), published, time) },
    series: [...publishedMarks(published, (m) => [m.point.queue_depth ?? 1, m.value], p), ...all.map((line, i) => ({
      type: "line",
      name: line.label,
      data: line.steps.map((s) => [s.queue_depth, latency(s.lat_ns, name) ?? "-"]),
      symbol: looks[i]?.symbol,
      symbolSize: 6,
      lineStyle: { color: looks[i]?.color, width: 2, type: looks[i]?.dash },
      itemStyle: { color: looks[i]?.color },
      emphasis: { disabled: true },
      ...endLabel(line.label, looks[i]?.color ?? p.ink, direct, shifts[i] ?? 0, p),
    }))],
  } as EChartsOption;
}

const STICK: readonly Quantile[] = ["p50", "p99", "p99.9"];

/** Latency over IOPS of one ladder: what more load costs in waiting. */
export function latencyOverIops(line: Line, p: Palette, width: number): EChartsOption {
  const tones = shades(p.op[line.kind], p, 3);
  const direct = width >= 360;
  const most = Math.max(...line.steps.map((s) => s.iops));
  const marks = logMarks(line.steps.flatMap((s) => STICK.map((q) => latency(s.lat_ns, q))).filter((v) => v !== null));
  const [low, high] = [Math.log(marks[0] ?? 1), Math.log(marks[marks.length - 1] ?? 10)];
  const last = STICK.map((q) => [...line.steps].reverse().find((s) => latency(s.lat_ns, q) !== null));
  const shifts = apartLabels(last.map((s, i) => ({ x: (s?.iops ?? 0) / most, share: s ? (Math.log(latency(s.lat_ns, STICK[i] ?? "p50") ?? 1) - low) / (high - low) : 0 })), plotPx(LATENCY_PX), 0.12);
  // The highest line of a step has its name, to the left where the line rises to the right; one at the right edge stands to the left of its point.
  const spotOf = (s: StepView, q: Quantile): { x: number; y: number } => ({ x: (s.iops / most) * (width - 112) - (s.iops > 0.93 * most ? 24 : 0), y: (1 - (Math.log(latency(s.lat_ns, q) ?? NaN) - low) / (high - low)) * plotPx(LATENCY_PX) + (s.iops > 0.93 * most ? 12 : 0) });
  const namedBy = line.steps.map((s) => (latency(s.lat_ns, "p99.9") === null ? 1 : 2));
  const roomFor = roomy(line.steps.map((s, k) => spotOf(s, STICK[namedBy[k] ?? 1] ?? "p99")), 46, 18);
  const hasName = STICK.map((_, i) => line.steps.map((_, k) => namedBy[k] === i && roomFor[k] === true));
  const where = (s: StepView): string => (s.rate_iops === null ? `QD${s.queue_depth}` : count3(s.rate_iops));
  return {
    grid: { left: 60, right: direct ? 52 : 14, top: 26, bottom: 46 },
    xAxis: { ...axisStyle(p), type: "value", min: 0, name: text.picture.iopsAxis, nameLocation: "middle", nameGap: 28, splitLine: { show: false }, splitNumber: 4, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, formatter: countTick } },
    yAxis: latencyAxis(line.steps.flatMap((s) => STICK.map((q) => latency(s.lat_ns, q))), p),
    tooltip: {
      ...tooltipStyle(p),
      trigger: "item",
      formatter: (raw: unknown) => {
        const s = line.steps[(raw as Params).dataIndex];
        if (!s) return "";
        const rows = STICK.map((q, i) => row(tones[i] ?? p.ink, q, exactTime(latency(s.lat_ns, q))));
        return tip(`${line.label} ${where(s)}`, [row("transparent", text.picture.iopsAxis, `${whole(s.iops)} <em>${interval(s)}</em>`), ...rows], `${whole(s.lat_ns?.samples ?? 0)} ${text.chart.samples}`);
      },
    },
    series: STICK.map((q, i) => ({
      type: "line",
      name: q,
      data: line.steps.map((s, k) => ({
        value: [s.iops, latency(s.lat_ns, q) ?? "-"],
        label: hasName[i]?.[k] === true ? { show: true, position: s.iops > 0.93 * most ? "left" : "top", offset: s.iops > 0.93 * most ? [0, -9] : [0, 0], ...(s.iops > 0.15 * most ? { align: "right" } : {}), formatter: where(s), color: p.muted, fontSize: 11, ...rim(p) } : undefined,
      })),
      symbol: SYMBOLS[i],
      symbolSize: 6,
      lineStyle: { color: tones[i], width: 2 },
      itemStyle: { color: tones[i] },
      emphasis: { disabled: true },
      ...(direct ? { endLabel: { show: true, formatter: q, color: p.ink, fontSize: 12, distance: 6, offset: [0, shifts[i] ?? 0], ...rim(p) } } : {}),
    })),
  } as EChartsOption;
}

/** Percentile curves of the steps of a ladder on an axis of nines, pale for shallow queues, dark for deep ones. */
export function tails(steps: readonly StepView[], kind: Line["kind"], p: Palette, width: number, name: (s: StepView) => string): EChartsOption {
  const tones = shades(p.op[kind], p, steps.length);
  const curves = steps.map(answeredTail);
  const deepest = Math.max(2, ...curves.flatMap((c) => c.map((pt) => pt[0])));
  const ninePx = (width - 118) / deepest;
  // Names of deep percentiles are long: where a nine is narrow, every other one has its mark.
  const marks = [P50_NINES, 1, 2, 3, 4, 5, 6, 7].filter((m) => ninePx > 62 || m === 1 || m % 2 === 0 || (m === 3 && deepest < 4) || (m === 5 && deepest < 6 && ninePx > 48));
  const heights = logMarks(curves.flatMap((c) => c.map((pt) => pt[1])));
  const [low, high] = [Math.log(heights[0] ?? 1), Math.log(heights[heights.length - 1] ?? 10)];
  const shifts = apartLabels(curves.map((c) => ({ x: c[c.length - 1]?.[0] ?? 0, share: (Math.log(c[c.length - 1]?.[1] ?? 1) - low) / (high - low) })), plotPx(TAILS_PX), 46 / ninePx);
  return {
    grid: { left: 60, right: 58, top: 26, bottom: 46 },
    xAxis: {
      ...axisStyle(p), type: "value", min: 0, max: Math.ceil(deepest * 4) / 4, name: text.tails.axis, nameLocation: "middle", nameGap: 28,
      axisTick: { lineStyle: { color: p.muted }, customValues: marks }, splitLine: { lineStyle: { color: p.hairline }, customValues: marks },
      axisLabel: { color: p.muted, fontSize: 12, customValues: marks, formatter: (v: number) => ninesName(v) },
    },
    yAxis: latencyAxis(curves.flatMap((c) => c.map((pt) => pt[1])), p),
    tooltip: {
      ...tooltipStyle(p),
      trigger: "axis",
      axisPointer: { lineStyle: { color: p.muted } },
      formatter: (raw: unknown) => {
        const at = ((Array.isArray(raw) ? raw[0] : raw) as { axisValue?: number } | undefined)?.axisValue ?? 0;
        const rows = steps.flatMap((s, i) => {
          const ns = valueAt(curves[i] ?? [], at);
          return ns === null ? [] : [row(tones[i] ?? p.ink, name(s), `${exactTime(ns)}<small>${whole(answeredLatency(s)?.samples ?? s.ios)} ${text.chart.samples}</small>`)];
        });
        return tip(ninesName(Math.round(at * 100) / 100), rows);
      },
    },
    series: steps.map((s, i) => ({
      type: "line",
      name: name(s),
      data: curves[i],
      showSymbol: false,
      lineStyle: { color: tones[i], width: 2 },
      itemStyle: { color: tones[i] },
      emphasis: { disabled: true },
      endLabel: { show: true, formatter: name(s), color: p.ink, fontSize: 12, distance: 6, offset: [0, shifts[i] ?? 0], ...rim(p) },
    })),
  } as EChartsOption;
}

/** The first point at or beyond a place on the axis; `null` past the curve's end. */
function valueAt(curve: readonly [number, number][], x: number): number | null {
  return curve.find((pt) => pt[0] >= x - 1e-9)?.[1] ?? null;
}
