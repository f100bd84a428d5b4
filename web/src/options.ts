/** The pictures as chart options. Data comes ready from `curves`; here are axes, marks and tooltips only. */

import type { EChartsOption } from "echarts";
import { pathWord } from "./cells";
import { P50_NINES, apart, lastNines, latency, limitWord, logMarks, ninesName, roomy, tailPoints, zeroScale, type Line } from "./curves";
import type { Quantile, StepView } from "./document";
import { escapeHtml } from "./dom";
import { count3, countTick, plusMinus, time, timeTick, whole } from "./format";
import { shades, type Palette } from "./palette";
import type { Mark } from "./published";
import { axisStyle, tooltipStyle } from "./stage";
import { say, text } from "./text";

/** Below this width a chart has no room for labels beside its lines. */
export const DIRECT_LABEL_MIN_PX = 440;

/** Margins above and below a plot. */
const TOP_PX = 26;
const BOTTOM_PX = 46;

/** Room of a name beside or above a point: doublings of the queue depth across, pixels down. */
const NAME_DOUBLINGS = 2.5;
const NAME_PX = 18;

/** Heights of the charts, which the labels beside the lines are laid out for. */
export const IOPS_PX = 330;
export const LATENCY_PX = 300;
export const TAILS_PX = 340;

/** About how wide a text of 12 pixels is: Chinese characters are as wide as they are high. */
export function textPx(words: string): number {
  return [...words].reduce((sum, c) => sum + (c > "\u2e80" ? 12.5 : 7), 0);
}

/** Room for the labels beside the lines. */
export function labelRoom(all: readonly Line[]): number {
  return Math.min(210, 26 + Math.max(0, ...all.map((l) => textPx(l.label))));
}

export const SYMBOLS = ["circle", "rect", "triangle", "diamond"];

export type Params = { seriesName?: string; seriesIndex?: number; dataIndex: number; color?: unknown; data?: unknown; value?: unknown };

/** Looks of the lines of one picture: colour by operation, shade and symbol by rank within the operation. */
export function lineLooks(all: readonly Line[], p: Palette): { color: string; symbol: string; dash: "solid" | "dashed" | "dotted" }[] {
  return all.map((line) => {
    const same = all.filter((l) => l.kind === line.kind);
    const rank = same.indexOf(line);
    const tones = same.length === 1 ? [p.op[line.kind]] : shades(p.op[line.kind], p, same.length + 1).slice(1);
    return {
      color: tones[rank] ?? p.op[line.kind],
      symbol: SYMBOLS[rank % SYMBOLS.length] ?? "circle",
      dash: rank < 4 ? "solid" : rank < 8 ? "dashed" : "dotted",
    };
  });
}

export function row(color: string, name: string, value: string): string {
  return `<tr><td><i style="background:${color}"></i>${escapeHtml(name)}</td><td>${value}</td></tr>`;
}

export function tip(head: string, rows: string[], foot = ""): string {
  return `<div class="tip-in"><b>${escapeHtml(head)}</b><table>${rows.join("")}</table>${foot === "" ? "" : `<small>${escapeHtml(foot)}</small>`}</div>`;
}

function depths(all: readonly Line[]): number[] {
  return [...new Set(all.flatMap((l) => l.steps.map((s) => s.queue_depth)))].sort((a, b) => a - b);
}

/** Horizontal axis of queue depths: log2, a tick at each power of two. */
function depthAxis(all: readonly Line[], p: Palette, published: readonly Mark[] = []): object {
  const d = [...depths(all), ...published.map((m) => m.point.queue_depth ?? 1)].sort((a, b) => a - b);
  const low = 2 ** Math.floor(Math.log2(d[0] ?? 1));
  const high = 2 ** Math.ceil(Math.log2(d[d.length - 1] ?? 1));
  return {
    ...axisStyle(p),
    type: "log",
    logBase: 2,
    min: low,
    max: Math.max(high, low * 2),
    name: text.picture.qdAxis,
    nameLocation: "middle",
    nameGap: 28,
    splitLine: { show: false },
    axisLabel: { color: p.muted, fontSize: 12, formatter: (v: number) => String(Math.round(v)) },
  };
}

/** Name beside the last point of a line, `shift` pixels below its place. */
export function endLabel(label: string, color: string, direct: boolean, shift: number, p: Palette): object {
  if (!direct) return {};
  return { endLabel: { show: true, formatter: label, color, fontSize: 12, distance: 9, offset: [0, shift], backgroundColor: p.paper, padding: [0, 3] } };
}

/** Height of the plot of a chart of this height with the margins of `gridOf`. */
export const plotPx = (heightPx: number): number => heightPx - TOP_PX - BOTTOM_PX;

/** Shifts that keep the names beside the lines apart; lines that end more than `room` away from any other do not meet. */
export function apartLabels(ends: readonly { x: number; share: number }[], plot: number, room = 0): number[] {
  const shifts = ends.map(() => 0);
  const left = ends.map((e, i) => ({ ...e, i })).sort((a, b) => a.x - b.x);
  const clusters: (typeof left)[] = [];
  for (const e of left) {
    const last = clusters[clusters.length - 1];
    if (last && e.x - (last[last.length - 1]?.x ?? -Infinity) <= room) last.push(e);
    else clusters.push([e]);
  }
  for (const here of clusters) {
    apart(here.map((e) => (1 - e.share) * plot), 15, -8, plot).forEach((shift, k) => {
      const at = here[k];
      if (at) shifts[at.i] = shift;
    });
  }
  return shifts;
}

export function gridOf(right: number, left = 54): object {
  return { left, right, top: TOP_PX, bottom: BOTTOM_PX, containLabel: false };
}

function interval(step: StepView): string {
  return step.iops_ci95 ? `${whole(step.iops_ci95[0])}–${whole(step.iops_ci95[1])}` : "";
}

/** IOPS over queue depth: log2 below, from zero upwards; intervals as bars, the knee ringed, predictions dashed. */
export function iopsOverDepth(all: readonly Line[], p: Palette, width: number, published: readonly Mark[] = []): EChartsOption {
  const direct = width >= DIRECT_LABEL_MIN_PX;
  const looks = lineLooks(all, p);
  const series: object[] = [];
  const scale = zeroScale(Math.max(0, ...published.map((m) => m.value), ...all.flatMap((l) => l.steps.map((s) => Math.max(s.iops, Math.min(s.iops_ci95?.[1] ?? 0, 1.3 * s.iops), s.predicted?.iops ?? 0)))));
  const ends = all.map((l) => l.steps[l.steps.length - 1]).map((s) => ({ x: Math.log2(s?.queue_depth ?? 1), share: (s?.iops ?? 0) / scale.max }));
  const shifts = apartLabels(ends, plotPx(IOPS_PX), NAME_DOUBLINGS);
  const named: { x: number; y: number }[] = [];
  all.forEach((line, i) => {
    const look = looks[i];
    if (!look) return;
    const at = line.knee;
    // Of knees within a name's room of each other one is named.
    const spot = at ? { x: Math.log2(at.queue_depth), y: (at.iops / scale.max) * plotPx(IOPS_PX) } : null;
    const tell = direct && spot !== null && !named.some((n) => Math.abs(n.x - spot.x) < NAME_DOUBLINGS && Math.abs(n.y - spot.y) < NAME_PX);
    if (spot && tell) named.push(spot);
    series.push({
      type: "line",
      name: line.label,
      data: line.steps.map((s) => ({
        value: [s.queue_depth, s.iops],
        symbolSize: s === at ? 12 : 6,
        itemStyle: s === at ? { color: p.paper, borderColor: look.color, borderWidth: 2.5 } : undefined,
        label:
          s === at && tell
            ? { show: true, position: "top", distance: 6, formatter: limitWord(s.limit.name), color: look.color, fontSize: 12 }
            : undefined,
      })),
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
    grid: gridOf(direct ? labelRoom(all) : 14),
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
    data: line.steps.filter((s) => s.iops_ci95).map((s) => [s.queue_depth, Math.max(0, s.iops_ci95?.[0] ?? 0), Math.min(top, s.iops_ci95?.[1] ?? 0)]),
    renderItem: (_: unknown, api: { value: (i: number) => number; coord: (p: [number, number]) => [number, number] }) => {
      const [x, y1] = api.coord([api.value(0), api.value(1)]);
      const [, y2] = api.coord([api.value(0), api.value(2)]);
      const lines = [[x, y1, x, y2], [x - 4, y1, x + 4, y1], [x - 4, y2, x + 4, y2]];
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

/** A published figure in a tooltip. */
export function publishedRow(m: Mark, value: string): string {
  const said = [m.load, text.published.mark, m.doubt].filter((x) => x !== "").join(" · ");
  return row("transparent", `◇ ${m.by}`, `${value}<small>${escapeHtml(said)}</small>`);
}

/** Published figures as open diamonds in the colour of their operation. */
export function publishedMarks(published: readonly Mark[], at: (m: Mark) => [number, number], p: Palette): object[] {
  if (published.length === 0) return [];
  return [
    {
      type: "scatter", name: text.published.mark, symbol: "diamond", symbolSize: 12, z: 5, emphasis: { disabled: true },
      data: published.map((m) => ({ value: at(m), itemStyle: { color: "transparent", borderColor: p.op[m.kind], borderWidth: 1.8, borderType: m.doubt === "" ? "solid" : "dotted", opacity: 1 } })),
    },
  ];
}

/** Logarithmic axis of latencies that fits the values, with marks at 1, 2 and 5. */
export function latencyAxis(values: readonly (number | null)[], p: Palette): object {
  const marks = logMarks(values.filter((v): v is number => v !== null));
  const style = axisStyle(p);
  return {
    ...style,
    type: "log",
    name: text.picture.latAxis,
    min: marks[0],
    max: marks[marks.length - 1],
    axisTick: { ...style.axisTick, customValues: marks },
    splitLine: { ...style.splitLine, customValues: marks },
    axisLabel: { color: p.muted, fontSize: 12, customValues: marks, formatter: timeTick },
  };
}

/** Latency over queue depth, both logarithmic. */
export function latencyOverDepth(all: readonly Line[], name: Quantile | "mean", p: Palette, width: number, published: readonly Mark[] = []): EChartsOption {
  const direct = width >= DIRECT_LABEL_MIN_PX;
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

export function exactTime(ns: number | null): string {
  if (ns === null) return "–";
  return `${time(ns)} <em>${whole(ns)} ns</em>`;
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
  // The highest line of a step has its name; one at the right edge stands to the left of its point.
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
        label: hasName[i]?.[k] === true ? { show: true, position: s.iops > 0.93 * most ? "left" : "top", formatter: where(s), color: p.muted, fontSize: 11 } : undefined,
      })),
      symbol: SYMBOLS[i],
      symbolSize: 6,
      lineStyle: { color: tones[i], width: 2 },
      itemStyle: { color: tones[i] },
      emphasis: { disabled: true },
      ...(direct ? { endLabel: { show: true, formatter: q, color: p.ink, fontSize: 12, distance: 6, offset: [0, shifts[i] ?? 0] } } : {}),
    })),
  } as EChartsOption;
}

/** Percentile curves of the steps of a ladder on an axis of nines, pale for shallow queues, dark for deep ones. */
export function tails(steps: readonly StepView[], kind: Line["kind"], p: Palette, width: number, name: (s: StepView) => string): EChartsOption {
  const tones = shades(p.op[kind], p, steps.length);
  const curves = steps.map((s) => tailPoints(s.percentile_curve, lastNines(s)));
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
          return ns === null ? [] : [row(tones[i] ?? p.ink, name(s), `${exactTime(ns)}<small>${whole(s.lat_ns?.samples ?? s.ios)} ${text.chart.samples}</small>`)];
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
      endLabel: { show: true, formatter: name(s), color: p.ink, fontSize: 12, distance: 6, offset: [0, shifts[i] ?? 0] },
    })),
  } as EChartsOption;
}

/** The first point at or beyond a place on the axis; `null` past the curve's end. */
function valueAt(curve: readonly [number, number][], x: number): number | null {
  return curve.find((pt) => pt[0] >= x - 1e-9)?.[1] ?? null;
}

/** CPU time per I/O by kind, one bar per step. */
export function cost(steps: readonly StepView[], p: Palette, width: number, byEngine = false): EChartsOption {
  const names = steps.map((s) => (byEngine ? pathWord(s) : say(s.label)));
  const small = width < DIRECT_LABEL_MIN_PX;
  const left = Math.min(width * 0.5, 16 + (small ? 5.9 : 6.6) * Math.max(...names.map((n) => n.length)));
  const kinds = [
    ["user", "user_ns_per_io"],
    ["system", "system_ns_per_io"],
    ["irq", "irq_ns_per_io"],
    ["worker", "kernel_worker_ns_per_io"],
  ] as const;
  const total = (s: StepView): number => kinds.reduce((sum, [, field]) => sum + Math.max(0, s.cpu?.[field] ?? 0), 0);
  return {
    grid: { left, right: 62, top: 4, bottom: 42 },
    xAxis: { ...axisStyle(p), type: "value", min: 0, name: text.cost.axis, nameLocation: "middle", nameGap: 26, splitNumber: width < 500 ? 3 : 5, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, formatter: timeTick } },
    yAxis: { ...axisStyle(p), type: "category", inverse: true, data: names, axisTick: { show: false }, axisLine: { show: false }, axisLabel: { color: p.ink, fontSize: small ? 11 : 12, width: left - 12, overflow: "truncate", interval: 0 } },
    tooltip: {
      ...tooltipStyle(p),
      trigger: "axis",
      axisPointer: { type: "shadow", shadowStyle: { color: p.muted, opacity: 0.08 } },
      formatter: (raw: unknown) => {
        const s = steps[((Array.isArray(raw) ? raw[0] : raw) as Params).dataIndex];
        if (!s?.cpu) return "";
        const cpu = s.cpu;
        const rows = kinds.map(([kind, field]) => row(p.cost[kind], text.cost.kinds[kind], `${whole(cpu[field])} ns`));
        rows.push(
          row("transparent", text.cost.busy, cpu.busy_cores.toFixed(2)),
          row("transparent", text.cost.perCore, count3(cpu.iops_per_core)),
          row("transparent", text.cost.interrupts, cpu.interrupts_per_io.toFixed(3)),
          row("transparent", text.cost.switches, cpu.context_switches_per_io.toFixed(3)),
        );
        return tip(say(s.label), rows, `${whole(s.ios)} ${text.chart.ios}`);
      },
    },
    series: kinds.map(([kind, field], k) => ({
      type: "bar",
      stack: "cost",
      name: text.cost.kinds[kind],
      data: steps.map((s) => Math.max(0, s.cpu?.[field] ?? 0)),
      barMaxWidth: 14,
      itemStyle: { color: p.cost[kind] },
      emphasis: { disabled: true },
      label:
        k === kinds.length - 1
          ? { show: true, position: "right", color: p.ink, fontSize: 12, formatter: (q: Params) => { const s = steps[q.dataIndex]; return s ? time(total(s)) : ""; } }
          : undefined,
    })),
  } as EChartsOption;
}

/** Busy share by CPU and interval. */
export function heat(step: StepView, p: Palette): EChartsOption {
  const busy = step.series.cpu_busy;
  const cpus = Math.max(0, ...busy.map((b) => b.length));
  const data: [number, number, number][] = [];
  busy.forEach((shares, i) => shares.forEach((share, cpu) => data.push([i, cpu, share])));
  const start = (i: number): string => `${(step.series.start_s[i] ?? 0).toFixed(1)} s`;
  return {
    grid: { left: 60, right: 16, top: 10, bottom: 74 },
    xAxis: { ...axisStyle(p), type: "category", data: busy.map((_, i) => start(i)), splitLine: { show: false }, name: text.time.axis, nameLocation: "middle", nameGap: 26 },
    yAxis: { ...axisStyle(p), type: "category", inverse: true, data: Array.from({ length: cpus }, (_, i) => `CPU ${i}`), splitLine: { show: false }, axisTick: { show: false } },
    visualMap: { min: 0, max: 1, orient: "horizontal", left: 60, bottom: 0, itemHeight: 120, itemWidth: 10, text: ["100 %", "0 %"], textStyle: { color: p.muted, fontSize: 12 }, inRange: { color: p.heat }, calculable: false },
    tooltip: {
      ...tooltipStyle(p),
      formatter: (raw: unknown) => {
        const [i, cpu, share] = (raw as { value: [number, number, number] }).value;
        return tip(`CPU ${cpu}`, [row("transparent", start(i), `${(share * 100).toFixed(1)} % ${text.chart.busy}`)]);
      },
    },
    series: [{ type: "heatmap", data, itemStyle: { borderWidth: cpus > 32 ? 0 : 1, borderColor: p.paper }, emphasis: { disabled: true } }],
  } as EChartsOption;
}

/** Stretches of a step in which a drive was hot or slowed down, seconds from the start of its window. */
export function hotStretches(step: StepView): [number, number][] {
  const { start_s: start, hot = [] } = step.series;
  const out: [number, number][] = [];
  hot.forEach((is, i) => {
    if (!is) return;
    const [from, to] = [start[i] ?? 0, start[i + 1] ?? step.runtime_s];
    const last = out[out.length - 1];
    if (last && Math.abs(last[1] - from) < 1e-6) last[1] = to;
    else out.push([from, to]);
  });
  return out;
}

/** Temperature of the drives over a step. */
export function temperatures(step: StepView, p: Palette): EChartsOption | null {
  const drives = (step.drive_health ?? []).filter((d) => d.samples.filter((s) => s.celsius !== null).length > 1);
  if (drives.length === 0) return null;
  const tones = shades(p.warn, p, drives.length + 1).slice(1);
  const warns = Math.min(...drives.map((d) => d.warning_celsius ?? Infinity));
  return {
    grid: { left: 60, right: 16, top: 26, bottom: 40 },
    xAxis: { ...axisStyle(p), type: "value", min: 0, max: Math.ceil(step.runtime_s), name: text.time.axis, nameLocation: "middle", nameGap: 26, splitLine: { show: false }, axisLabel: { color: p.muted, fontSize: 12, showMaxLabel: false } },
    yAxis: { ...axisStyle(p), type: "value", scale: true, name: "°C", splitNumber: 3, axisLabel: { color: p.muted, fontSize: 12 } },
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const q = raw as Params;
        const [at, celsius] = q.value as [number, number];
        return tip(q.seriesName ?? "", [row("transparent", `${at.toFixed(1)} s`, `${celsius.toFixed(1)} °C`)]);
      },
    },
    series: drives.map((d, i) => ({
      type: "line", name: d.device, symbol: "circle", symbolSize: 4, emphasis: { disabled: true }, lineStyle: { color: tones[i], width: 1.6 }, itemStyle: { color: tones[i] },
      data: d.samples.flatMap((s) => (s.celsius === null ? [] : [[s.at_s, s.celsius]])),
      ...(i === 0 && Number.isFinite(warns) ? { markLine: { silent: true, symbol: "none", lineStyle: { color: p.warn, type: "dashed", width: 1 }, label: { position: "insideEndTop", formatter: `${warns} °C`, color: p.warn, fontSize: 11 }, data: [{ yAxis: warns }] } } : {}),
    })),
  } as EChartsOption;
}

/** IOPS with the interval of its mean, and p99 below, by interval of the step. */
export function overTime(step: StepView, color: string, p: Palette, width: number): EChartsOption {
  const s = step.series;
  const last = s.start_s[s.start_s.length - 1] ?? 0;
  const gap = s.start_s.length > 1 ? last - (s.start_s[s.start_s.length - 2] ?? 0) : step.runtime_s;
  const warm = step.steady?.warmup_intervals ?? 0;
  const warmEnd = s.start_s[warm] ?? last;
  const areas: object[] = [];
  if (step.iops_ci95) areas.push([{ yAxis: step.iops_ci95[0], itemStyle: { color, opacity: 0.18 } }, { yAxis: step.iops_ci95[1] }]);
  if (warm > 0) areas.push([{ xAxis: 0, itemStyle: { color: p.muted, opacity: 0.14 }, label: { show: (warmEnd / (last + gap)) * (width - 76) > textPx(text.time.warmup) + 16, formatter: text.time.warmup, position: "insideBottom", color: p.muted, fontSize: 11 } }, { xAxis: warmEnd }]);
  const hot = hotStretches(step).map(([from, to]) => [{ xAxis: from, itemStyle: { color: p.warn, opacity: 0.16 }, label: { show: true, formatter: text.time.hot, position: "insideTop", color: p.warn, fontSize: 11 } }, { xAxis: to }]);
  areas.push(...hot);
  const x = (index: number): object => ({
    ...axisStyle(p), type: "value", gridIndex: index, min: 0, max: Math.ceil((last + gap) * 100) / 100, splitLine: { show: false },
    axisLabel: { color: p.muted, fontSize: 12, show: index === 1, showMaxLabel: false }, ...(index === 1 ? { name: text.time.axis, nameLocation: "middle", nameGap: 28 } : {}),
  });
  const mid = (i: number): number => (s.start_s[i] ?? 0) + gap / 2;
  const style = { type: "line", symbol: "circle", symbolSize: 4, showSymbol: s.start_s.length <= 60, emphasis: { disabled: true }, lineStyle: { color, width: 1.6 }, itemStyle: { color } };
  return {
    grid: [{ left: 60, right: 16, top: 26, height: 130 }, { left: 60, right: 16, top: 196, height: 96 }],
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    xAxis: [x(0), x(1)],
    yAxis: [
      { ...axisStyle(p), type: "value", gridIndex: 0, min: 0, splitNumber: 3, name: text.time.iops, axisLabel: { color: p.muted, fontSize: 12, formatter: countTick }, nameTextStyle: { color: p.muted, align: "left", fontSize: 12 } },
      { ...axisStyle(p), type: "value", gridIndex: 1, min: 0, splitNumber: 3, name: text.time.p99, axisLabel: { color: p.muted, fontSize: 12, formatter: timeTick }, nameTextStyle: { color: p.muted, align: "left", fontSize: 12 } },
    ],
    tooltip: {
      ...tooltipStyle(p),
      trigger: "axis",
      axisPointer: { lineStyle: { color: p.muted } },
      formatter: (raw: unknown) => {
        const i = ((Array.isArray(raw) ? raw[0] : raw) as Params).dataIndex;
        const iops = s.iops[i] ?? 0;
        return tip(`${(s.start_s[i] ?? 0).toFixed(2)}–${((s.start_s[i] ?? 0) + gap).toFixed(2)} s`, [
          row(color, text.picture.iopsAxis, whole(iops)),
          row("transparent", "p50", exactTime(s.p50_ns[i] ?? null)),
          row("transparent", "p99", exactTime(s.p99_ns[i] ?? null)),
          row("transparent", text.chart.samples, whole(iops * gap)),
        ]);
      },
    },
    series: [
      { ...style, xAxisIndex: 0, yAxisIndex: 0, name: "iops", data: s.iops.map((v, i) => [mid(i), v]), markArea: { silent: true, data: areas }, markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color, width: 1, type: "dashed" }, data: [{ yAxis: step.iops }] } },
      { ...style, xAxisIndex: 1, yAxisIndex: 1, name: "p99", data: s.p99_ns.map((v, i) => [mid(i), v ?? "-"]), ...(hot.length > 0 ? { markArea: { silent: true, data: hot.map(([a, b]) => [{ ...a, label: { show: false } }, b]) } } : {}) },
    ],
  } as EChartsOption;
}
