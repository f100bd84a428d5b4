/** One step over time as chart options: rate and p99, what the CPUs did, how warm the drives were. */

import type { EChartsOption } from "echarts";
import { wholeIntervals } from "../curves";
import type { StepView } from "../document";
import { countTick, timeTick, whole } from "../format";
import { exactTime, row, textPx, tip, type Params } from "../options";
import { shades, type Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";
import { text } from "../text";

/** Digits after the point that tell the starts of the intervals apart. */
function startDigits(step: StepView): number {
  const [first = 0, second = 1] = step.series.start_s;
  return Math.min(3, Math.max(1, Math.ceil(-Math.log10(second - first) - 1e-9)));
}

/** Shares by row and interval (`[interval][row]`), from cold to hot. */
function heatMap(step: StepView, rows: string[], shares: number[][], ends: [string, string], said: (row: number, i: number, share: number) => string, p: Palette): EChartsOption {
  const data: [number, number, number][] = [];
  shares.forEach((of, i) => of.forEach((share, row) => data.push([i, row, share])));
  const start = (i: number): string => `${(step.series.start_s[i] ?? 0).toFixed(startDigits(step))} s`;
  return {
    grid: { left: 60, right: 16, top: 10, bottom: 74 },
    xAxis: { ...axisStyle(p), type: "category", data: shares.map((_, i) => start(i)), splitLine: { show: false }, name: text.time.axis, nameLocation: "middle", nameGap: 26 },
    yAxis: { ...axisStyle(p), type: "category", inverse: true, data: rows, splitLine: { show: false }, axisTick: { show: false } },
    visualMap: { min: 0, max: 1, orient: "horizontal", left: 60, bottom: 0, itemHeight: 120, itemWidth: 10, text: ends, textStyle: { color: p.muted, fontSize: 12 }, inRange: { color: p.heat }, calculable: false },
    tooltip: {
      ...tooltipStyle(p),
      formatter: (raw: unknown) => {
        const [i, at, share] = (raw as { value: [number, number, number] }).value;
        return tip(rows[at] ?? "", [row("transparent", start(i), said(at, i, share))]);
      },
    },
    series: [{ type: "heatmap", data, itemStyle: { borderWidth: rows.length > 32 ? 0 : 1, borderColor: p.paper }, emphasis: { disabled: true } }],
  } as EChartsOption;
}

/** Busy share by CPU and interval. */
export function heat(step: StepView, p: Palette): EChartsOption {
  const busy = step.series.cpu_busy;
  const cpus = Math.max(0, ...busy.map((b) => b.length));
  const names = Array.from({ length: cpus }, (_, i) => `CPU ${i}`);
  return heatMap(step, names, busy, ["100 %", "0 %"], (_row, _i, share) => `${(share * 100).toFixed(1)} % ${text.chart.busy}`, p);
}

/** I/Os a second by host and interval (`[interval][host]`); null for a step of one host. */
export function hostRates(step: StepView): { hosts: string[]; rates: number[][] } | null {
  const ranks = step.ranks?.ranks ?? [];
  const hosts = [...new Set(ranks.map((r) => r.host))];
  if (hosts.length < 2) return null;
  const { start_s: start } = step.series;
  const length = (i: number): number => (start[i + 1] ?? step.runtime_s) - (start[i] ?? 0);
  // An interval that the end of the step cut short says little of a rate.
  const full = start.map((_, i) => i).filter((i) => length(i) > 0.5 * length(0));
  const sum = (host: string, i: number): number => ranks.reduce((n, r) => n + (r.host === host ? (r.interval_ios[i] ?? 0) : 0), 0);
  return { hosts, rates: full.map((i) => hosts.map((host) => sum(host, i) / length(i))) };
}

/** The same as a picture: each interval of each host over the most that one had. */
export function hostHeat(step: StepView, p: Palette): EChartsOption | null {
  const of = hostRates(step);
  if (of === null) return null;
  const most = Math.max(1, ...of.rates.flat());
  const shares = of.rates.map((rates) => rates.map((rate) => rate / most));
  return heatMap(step, of.hosts, shares, [`${whole(most)} IOPS`, "0"], (row, i) => `${whole(of.rates[i]?.[row] ?? 0)} IOPS`, p);
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
    xAxis: { ...axisStyle(p), type: "value", min: 0, max: step.runtime_s > 1 ? Math.ceil(step.runtime_s) : step.runtime_s, name: text.time.axis, nameLocation: "middle", nameGap: 26, splitLine: { show: false }, axisLabel: { color: p.muted, fontSize: 12, showMaxLabel: false } },
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

/** True where any interval has enough samples for its p99. */
export function hasP99(step: StepView): boolean {
  return step.series.p99_ns.some((ns) => ns !== null);
}

/** Height of [`overTime`]: without the picture of p99 where there is none. */
export function overTimePx(step: StepView): number {
  return hasP99(step) ? 344 : 208;
}

/** The rate that the stages of a load ask for, as corners of a line. */
export function askedRate(step: StepView): [number, number][] {
  return (step.stages ?? []).flatMap((s): [number, number][] => [[s.start_s, s.asked_from_iops], [s.start_s + s.length_s, s.asked_to_iops]]);
}

/** IOPS with the interval of its mean, and p99 below, by interval of the step. */
export function overTime(step: StepView, color: string, p: Palette, width: number): EChartsOption {
  const s = step.series;
  const last = s.start_s[s.start_s.length - 1] ?? 0;
  const gap = s.start_s.length > 1 ? last - (s.start_s[s.start_s.length - 2] ?? 0) : step.runtime_s;
  const shown = wholeIntervals(step);
  const warm = step.steady?.warmup_intervals ?? 0;
  const warmEnd = s.start_s[warm] ?? last;
  const areas: object[] = [];
  if (step.iops_ci95) areas.push([{ yAxis: step.iops_ci95[0], itemStyle: { color, opacity: 0.18 } }, { yAxis: step.iops_ci95[1] }]);
  if (warm > 0) areas.push([{ xAxis: 0, itemStyle: { color: p.muted, opacity: 0.14 }, label: { show: (warmEnd / (last + gap)) * (width - 76) > textPx(text.time.warmup) + 16, formatter: text.time.warmup, position: "insideBottom", color: p.muted, fontSize: 11 } }, { xAxis: warmEnd }]);
  const hot = hotStretches(step).map(([from, to]) => [{ xAxis: from, itemStyle: { color: p.warn, opacity: 0.16 }, label: { show: true, formatter: text.time.hot, position: "insideTop", color: p.warn, fontSize: 11 } }, { xAxis: to }]);
  areas.push(...hot);
  const asked = askedRate(step);
  // Every other stage is shaded, so that both pictures show where one ends.
  const staged = (step.stages ?? []).filter((_, i) => i % 2 === 1).map((s) => [{ xAxis: s.start_s, itemStyle: { color: p.muted, opacity: 0.1 } }, { xAxis: s.start_s + s.length_s }]);
  areas.push(...staged);
  const below = [...hot.map(([a, b]) => [{ ...a, label: { show: false } }, b]), ...staged];
  const both = hasP99(step);
  const upTo = <T>(parts: T[]): T[] => (both ? parts : parts.slice(0, 1));
  const x = (index: number): object => ({
    ...axisStyle(p), type: "value", gridIndex: index, min: 0, max: Math.ceil((last + gap) * 100) / 100, splitLine: { show: false },
    axisLabel: { color: p.muted, fontSize: 12, show: index === 1 || !both, showMaxLabel: false }, ...(index === 1 || !both ? { name: text.time.axis, nameLocation: "middle", nameGap: 28 } : {}),
  });
  const mid = (i: number): number => (s.start_s[i] ?? 0) + gap / 2;
  const style = { type: "line", symbol: "circle", symbolSize: 4, showSymbol: s.start_s.length <= 60, emphasis: { disabled: true }, lineStyle: { color, width: 1.6 }, itemStyle: { color } };
  return {
    grid: upTo([{ left: 60, right: 16, top: 26, height: 130 }, { left: 60, right: 16, top: 196, height: 96 }]),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    xAxis: upTo([x(0), x(1)]),
    yAxis: upTo([
      { ...axisStyle(p), type: "value", gridIndex: 0, min: 0, splitNumber: 3, name: text.time.iops, axisLabel: { color: p.muted, fontSize: 12, formatter: countTick }, nameTextStyle: { color: p.muted, align: "left", fontSize: 12 } },
      { ...axisStyle(p), type: "value", gridIndex: 1, min: 0, splitNumber: 3, name: text.time.p99, axisLabel: { color: p.muted, fontSize: 12, formatter: timeTick }, nameTextStyle: { color: p.muted, align: "left", fontSize: 12 } },
    ]),
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
      { ...style, xAxisIndex: 0, yAxisIndex: 0, name: "iops", data: s.iops.slice(0, shown).map((v, i) => [mid(i), v]), markArea: { silent: true, data: areas }, markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color, width: 1, type: "dashed" }, data: asked.length > 0 ? [] : [{ yAxis: step.iops }] } },
      ...(!both ? [] : [{ ...style, xAxisIndex: 1, yAxisIndex: 1, name: "p99", data: s.p99_ns.slice(0, shown).map((v, i) => [mid(i), v ?? "-"]), ...(below.length > 0 ? { markArea: { silent: true, data: below } } : {}) }]),
      ...(asked.length > 0 ? [{ type: "line", name: text.time.asked, xAxisIndex: 0, yAxisIndex: 0, data: asked, symbol: "none", silent: true, lineStyle: { color: p.muted, width: 1.2, type: "dashed" }, endLabel: { show: true, formatter: text.time.asked, color: p.muted, fontSize: 11, align: "right", offset: [-4, -10] } }] : []),
    ],
  } as EChartsOption;
}
