/** Pictures of the studies: curves of groups, engines, scaling, settling, prediction, the run from start to end. */

import type { EChartsOption } from "echarts";
import { countOn, type GroupSet, type ScaleLine } from "../cells";
import { latency, limitWord, logMarks, logMarksOf, opKind, plainLine, wholeIntervals, zeroScale } from "../curves";
import type { PtsView, Quantile, StepView } from "../document";
import { count3, countTick, figure, plusMinus, time, timeTick, whole } from "../format";
import { notNegative, topOf, within } from "../intervals";
import { DIRECT_LABEL_MIN_PX, SYMBOLS, apartLabels, areNamedBeside, endLabel, enoughLabels, enoughWord, exactTime, gridOf, kneeBands, labelRoom, latencyAxis, lineLooks, plotPx, publishedMarks, publishedRow, rim, ring, row, tip, type Bend, type Params, type Plot } from "../options";
import { pathTone, type Palette } from "../palette";
import type { Mark } from "../published";
import { axisStyle, tooltipStyle } from "../stage";
import { say, text, word } from "../text";
import { intervalBar } from "./compare";

/** Heights of the pictures, for which their labels are laid out. */
export const GROUPS_PX = 320;
export const SCALING_PX = 380;
const SCALING_TOP_PX = 190;
export const SETTLE_PX = 300;
export const RUN_PX = 300;

/** Whether each load asks for more at once than the one before: a matrix of threads and depths does not. */
function isCurve(steps: readonly StepView[]): boolean {
  return new Set(steps.map((s) => s.threads)).size === 1 || new Set(steps.map((s) => s.threads * s.queue_depth)).size === steps.length;
}

const first = (raw: unknown): Params | undefined => (Array.isArray(raw) ? raw[0] : raw) as Params | undefined;

/** Latency over IOPS, one curve per group; points are loads (threads x queue depth), in the order of what is asked. */
export function groups(set: GroupSet, name: Quantile | "mean", p: Palette, width: number, published: readonly { mark: Mark; latency: number }[] = []): EChartsOption {
  const direct = areNamedBeside(set.lines, width);
  // A group has one colour, under every workload.
  const looks = set.lines.map((_, i) => ({ color: pathTone(i, p), symbol: ["circle", "diamond", "rect", "triangle"][i % 4], dash: "solid" }));
  const most = Math.max(0, ...published.map((q) => q.mark.value), ...set.lines.flatMap((l) => l.steps.map((s) => s.iops)));
  const load = (s: StepView): string => `${s.threads}x${s.queue_depth}`;
  const heights = [...published.map((q) => q.latency), ...set.lines.flatMap((l) => l.steps.map((s) => latency(s.lat_ns, name)))];
  const marks = logMarksOf(heights);
  const [low, high] = [Math.log(marks[0] ?? 1), Math.log(marks[marks.length - 1] ?? 10)];
  const ends = set.lines.map((l) => l.steps[l.steps.length - 1]).map((s) => ({ x: (s?.iops ?? 0) / most, share: (Math.log(latency(s?.lat_ns ?? null, name) ?? 1) - low) / (high - low) }));
  const shifts = apartLabels(ends, plotPx(GROUPS_PX), 0.12);
  return {
    grid: gridOf(direct ? labelRoom(set.lines) : 14, 60),
    xAxis: { ...axisStyle(p), type: "value", min: 0, ...zeroScale(most), name: text.picture.iopsAxis, nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, formatter: countTick } },
    yAxis: latencyAxis(heights, p),
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const q = raw as Params;
        const found = q.seriesName === text.published.mark ? published[q.dataIndex] : undefined;
        if (found) return tip(found.mark.by, [row("transparent", text.picture.iopsAxis, whole(found.mark.value)), row("transparent", text.picture.mean, exactTime(found.latency))], [found.mark.load, found.mark.reference.source, found.mark.doubt].filter((x) => x !== "").join(" · "));
        const i = set.lines.findIndex((l) => l.label === q.seriesName);
        const s = set.lines[i]?.steps[q.dataIndex];
        if (!s) return "";
        return tip(`${set.lines[i]?.label ?? ""} ${load(s)}`, [
          row(looks[i]?.color ?? p.ink, text.picture.iopsAxis, `${whole(s.iops)} <em>${plusMinus(s.iops_ci95, s.iops)}</em>`),
          row("transparent", text.picture.mean, exactTime(s.lat_ns?.mean ?? null)),
          row("transparent", "p99", exactTime(latency(s.lat_ns, "p99"))),
          row("transparent", text.detail.stddev, exactTime(s.lat_ns?.stddev ?? null)),
          row("transparent", "max", exactTime(s.lat_ns?.max ?? null)),
        ], `${whole(s.lat_ns?.samples ?? 0)} ${text.chart.samples} · ${limitWord(s.limit.name)}`);
      },
    },
    series: [...publishedMarks(published.map((q) => q.mark), (m) => [m.value, published.find((q) => q.mark === m)?.latency ?? 0], p), ...set.lines.map((line, i) => ({
      type: "line", name: line.label, symbol: looks[i]?.symbol, symbolSize: 7, emphasis: { disabled: true },
      data: line.steps.map((s, k) => ({
        value: [s.iops, latency(s.lat_ns, name) ?? "-"],
        label: k === 0 || k === line.steps.length - 1 ? { show: true, position: k === 0 ? "bottom" : "top", formatter: load(s), color: p.muted, fontSize: 11, ...rim(p) } : undefined,
      })),
      labelLayout: { hideOverlap: true },
      // A matrix of threads and depths is no curve: no line leads from load to load.
      lineStyle: { color: looks[i]?.color, width: isCurve(line.steps) ? 2 : 0, type: looks[i]?.dash }, itemStyle: { color: looks[i]?.color },
      ...endLabel(line.label, looks[i]?.color ?? p.ink, direct, shifts[i] ?? 0, p),
    }))],
  } as EChartsOption;
}

/** IOPS over drives, threads or ranks with intervals and linear growth, the range of the knee shaded; below, the share of linear growth. */
export function scaling(all: readonly ScaleLine[], axisName: string, p: Palette, width: number, published: readonly Mark[] = []): EChartsOption {
  const asLines = all.map((l) => plainLine(l.label, l.kind, l.steps));
  const direct = areNamedBeside(asLines, width);
  const looks = lineLooks(asLines, p);
  const axis = all[0]?.axis ?? "threads";
  const placeOf = (s: StepView | undefined): number => (s ? countOn(s, axis) : 0);
  const pointAt = (m: Mark): number => (axis === "ranks" ? 1 : (m.point[axis] ?? 1));
  const counts = [...new Set([...all.flatMap((l) => l.steps.map((s) => countOn(s, axis))), ...published.map((m) => pointAt(m))])].sort((a, b) => a - b);
  const most = Math.max(0, ...published.map((m) => m.value), ...all.flatMap((l) => l.steps.map((s) => s.iops)));
  const scale = zeroScale(Math.max(most * 1.15, topOf(all.flatMap((l) => l.steps.map((s) => s.iops)), all.flatMap((l) => l.steps.map((s) => s.iops_ci95)))));
  const last = counts[counts.length - 1] ?? 1;
  const shares = all.map((l) => l.efficiency.map((x) => (Number.isFinite(x) ? x : null)));
  const topShare = Math.max(1.2, 1.1 * topOf(shares.flat(), all.flatMap((l) => l.efficiencyCi95)));
  const shifts = apartLabels(all.map((l) => ({ x: placeOf(l.steps[l.steps.length - 1]), share: (l.steps[l.steps.length - 1]?.iops ?? 0) / scale.max })), SCALING_TOP_PX);
  const x = (index: number): object => ({
    ...axisStyle(p), type: "value", gridIndex: index, min: 0, max: last, splitLine: { show: false }, axisTick: { lineStyle: { color: p.muted }, customValues: counts },
    axisLabel: { show: index === 1, color: p.muted, fontSize: 12, customValues: counts }, ...(index === 1 ? { name: axisName, nameLocation: "middle", nameGap: 28 } : {}),
  });
  const right = direct ? 14 + labelRoom(asLines) : 14;
  const plot: Plot = { width: width - 58 - right, height: SCALING_TOP_PX, share: (count) => count / last };
  const bends = all.map((l, i): Bend => {
    const at = l.enough;
    return { color: looks[i]?.color ?? p.ink, knee: l.knee, enough: at ? { x: placeOf(at) / last, y: at.iops / scale.max, label: enoughWord(text.study.countOf(placeOf(at), axisName), width), isFirst: at === l.steps[0] } : null };
  });
  const labels = enoughLabels(bends, plot, p);
  return {
    grid: [{ left: 58, right, top: 26, height: SCALING_TOP_PX }, { left: 58, right, top: 250, height: 84 }],
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    xAxis: [x(0), x(1)],
    yAxis: [
      { ...axisStyle(p), type: "value", gridIndex: 0, min: 0, ...scale, name: text.picture.iopsAxis, axisLabel: { color: p.muted, fontSize: 12, formatter: countTick } },
      { ...axisStyle(p), type: "value", gridIndex: 1, min: 0, max: topShare, interval: topShare > 2 ? undefined : 0.5, name: text.study.efficiencyAxis, nameTextStyle: { color: p.muted, fontSize: 12, align: "left" }, axisLabel: { color: p.muted, fontSize: 12, showMaxLabel: false, formatter: (v: number) => `${Math.round(100 * v)} %` } },
    ],
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { lineStyle: { color: p.muted } },
      formatter: (raw: unknown) => {
        const at = (first(raw)?.value as [number, number] | undefined)?.[0];
        const rows = all.flatMap((l, i) => {
          const k = l.steps.findIndex((step) => countOn(step, axis) === at);
          const s = l.steps[k];
          if (!s) return [];
          const ideal = l.perUnit * countOn(s, axis);
          return [row(looks[i]?.color ?? p.ink, l.label, `${whole(s.iops)} <em>${plusMinus(s.iops_ci95, s.iops)}</em><small>${text.study.ofIdeal(figure(ideal, "iops"), `${Math.round(100 * (l.efficiency[k] ?? NaN))} %`)} · ${limitWord(s.limit.name)} · ${text.cost.perCore} ${count3(s.cpu?.iops_per_core)}</small>`)];
        });
        for (const m of published.filter((x) => pointAt(x) === at)) rows.push(publishedRow(m, whole(m.value)));
        return tip(`${at} ${axisName}`, rows);
      },
    },
    series: [...publishedMarks(published, (m) => [pointAt(m), m.value], p), ...kneeBands(bends, plot, p), ...all.flatMap((l, i) => {
      const color = looks[i]?.color ?? p.ink;
      const reach = Math.min(last, scale.max / l.perUnit);
      return [
        {
          type: "line", name: l.label, symbol: looks[i]?.symbol, emphasis: { disabled: true }, lineStyle: { color, width: 2, type: looks[i]?.dash }, itemStyle: { color }, z: 3,
          data: l.steps.map((s) => ({ value: [countOn(s, axis), s.iops], symbolSize: 6, ...(s === l.enough ? { ...ring(color, p), label: labels[i] } : {}) })),
          ...endLabel(l.label, color, direct, shifts[i] ?? 0, p),
        },
        intervalBar(color, false, l.steps.flatMap((s) => (s.iops_ci95 ? [[countOn(s, axis), ...within(notNegative(s.iops_ci95), 0, scale.max)]] : [])), { encode: { x: 0, y: [1, 2] } }),
        {
          type: "line", name: `${l.label} ideal`, symbol: "none", silent: true, tooltip: { show: false }, lineStyle: { color: p.muted, width: 1, type: "dashed" }, data: [[0, 0], [reach, reach * l.perUnit]],
          ...(i === 0 ? { endLabel: { show: true, formatter: text.study.ideal, color: p.muted, fontSize: 12, distance: 4, ...(reach > 0.8 * last ? { align: "right", offset: [-8, -10] } : {}) } } : {}),
        },
        {
          type: "line", name: `${l.label} share`, xAxisIndex: 1, yAxisIndex: 1, symbol: looks[i]?.symbol, symbolSize: 6, emphasis: { disabled: true }, tooltip: { show: false }, lineStyle: { color, width: 1.6, type: looks[i]?.dash }, itemStyle: { color },
          data: l.steps.map((s, k) => [countOn(s, axis), shares[i]?.[k] ?? "-"]),
          ...(i === 0 ? { markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: p.muted, width: 1, type: "dashed" }, data: [{ yAxis: 1 }] } } : {}),
        },
        intervalBar(color, false, l.steps.flatMap((s, k) => { const ci = l.efficiencyCi95[k]; return ci ? [[countOn(s, axis), ...within(notNegative(ci), 0, topShare)]] : []; }), { xAxisIndex: 1, yAxisIndex: 1, encode: { x: 0, y: [1, 2] } }),
      ];
    })],
  } as EChartsOption;
}

/** Unit of a tracked variable. */
export function trackedUnit(variable: string): string {
  return variable === "lat_mean_ns" ? "ns" : variable;
}

/** Rounds until steady, with the window, its average and the band of ±10 % around it, and the fitted line. */
export function settling(series: readonly number[], pts: PtsView, color: string, p: Palette, width: number): EChartsOption {
  const beside = width >= DIRECT_LABEL_MIN_PX;
  const unit = trackedUnit(pts.variable);
  const tick = unit === "ns" ? timeTick : countTick;
  const window = pts.window;
  const line = (y: number, name: string, type: "solid" | "dashed", position: string): object => ({ yAxis: y, lineStyle: { color: p.muted, width: 1, type }, label: { show: true, position, formatter: name, color: p.muted, fontSize: 11 } });
  const top = zeroScale(1.06 * Math.max(pts.average * 1.1, ...series));
  return {
    grid: { left: 62, right: beside ? 128 : 14, top: 26, bottom: 46 },
    xAxis: { ...axisStyle(p), type: "value", min: 0.5, max: series.length + 0.5, minInterval: 1, name: text.study.round, nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisTick: { show: false }, axisLabel: { color: p.muted, fontSize: 12, customValues: series.map((_, i) => i + 1), formatter: (v: number) => String(Math.round(v)), hideOverlap: true } },
    yAxis: { ...axisStyle(p), type: "value", min: 0, ...top, name: word(pts.variable), nameTextStyle: { color: p.muted, fontSize: 12, align: "left" }, axisLabel: { color: p.muted, fontSize: 12, formatter: tick } },
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { lineStyle: { color: p.muted } },
      formatter: (raw: unknown) => {
        const i = first(raw)?.dataIndex ?? -1;
        const v = series[i];
        return v === undefined ? "" : tip(`${text.study.round} ${i + 1}`, [row(color, word(pts.variable), `${figure(v, unit)} <em>${whole(v)}</em>`), row("transparent", text.study.fit, figure(pts.intercept + pts.slope * (i + 1), unit))]);
      },
    },
    series: [
      {
        type: "line", symbol: "circle", symbolSize: 7, data: series.map((v, i) => [i + 1, v]), lineStyle: { color, width: 2 }, itemStyle: { color }, emphasis: { disabled: true },
        ...(window ? { markArea: { silent: true, itemStyle: { color, opacity: 0.1 }, data: [[{ xAxis: window[0] - 0.5 }, { xAxis: window[1] + 0.5 }]] } } : {}),
        markLine: { silent: true, symbol: "none", data: [line(pts.average, `${text.study.average} ${figure(pts.average, unit)}`, "solid", beside ? "end" : "insideEndBottom"), line(pts.average * 1.1, "110 %", "dashed", "insideStartTop"), line(pts.average * 0.9, "90 %", "dashed", "insideStartBottom")] },
      },
      ...(window
        ? [{ type: "line", silent: true, symbol: "none", tooltip: { show: false }, lineStyle: { color: p.ink, width: 1.5, type: "dotted" }, data: window.map((x) => [x, pts.intercept + pts.slope * x]) }]
        : []),
    ],
  } as EChartsOption;
}

/** Predicted over measured, step by step: on the line, the prediction was right. */
export function predictedOverMeasured(steps: readonly StepView[], p: Palette, width: number): EChartsOption {
  const values = steps.flatMap((s) => [s.iops, s.predicted?.iops ?? s.iops]);
  const marks = logMarks(values);
  const [low, high] = [marks[0] ?? 1, marks[marks.length - 1] ?? 10];
  const axis = (name: string, gap: number): object => ({
    ...axisStyle(p), type: "log", min: low, max: high, name, nameLocation: "middle", nameGap: gap,
    axisTick: { lineStyle: { color: p.muted }, customValues: marks }, splitLine: { lineStyle: { color: p.hairline }, customValues: marks }, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, customValues: marks, formatter: countTick },
  });
  return {
    grid: { left: 66, right: width < 500 ? 14 : 40, top: 14, bottom: 46 },
    xAxis: axis(text.study.measuredAxis, 28),
    yAxis: axis(text.study.predictedAxis, 48),
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const s = steps[(raw as Params).dataIndex];
        if (!s?.predicted) return "";
        return tip(say(s.label), [row(p.op[opKind(s)], text.study.measuredAxis, whole(s.iops)), row("transparent", text.study.predictedAxis, whole(s.predicted.iops)), row("transparent", text.study.error, errorText(s.predicted.iops_error_pct))], limitWord(s.limit.name));
      },
    },
    series: [
      {
        type: "scatter", symbolSize: 9, emphasis: { disabled: true }, data: steps.map((s) => ({ value: [s.iops, s.predicted?.iops ?? "-"], itemStyle: { color: p.op[opKind(s)], opacity: 1 } })),
        markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: p.ink, width: 1, type: "solid" }, data: [[{ coord: [low, low] }, { coord: [high, high] }]] },
      },
    ],
  } as EChartsOption;
}

/** `+4.2 %`, `–` when not known. */
export function errorText(pct: number | null | undefined): string {
  if (pct === null || pct === undefined || !Number.isFinite(pct)) return "–";
  return `${pct > 0 ? "+" : pct < 0 ? "−" : "±"}${Math.abs(pct).toFixed(Math.abs(pct) < 9.95 ? 1 : 0)} %`;
}

/** A stretch of the run. */
export interface Stretch {
  step: StepView;
  from: number;
  to: number;
}

/** When each step with intervals ran, seconds from the start of the run. */
export function stretches(steps: readonly StepView[]): Stretch[] {
  return steps.flatMap((s) => (typeof s.run_offset_s === "number" && s.series.start_s.length > 0 ? [{ step: s, from: s.run_offset_s, to: s.run_offset_s + s.runtime_s }] : []));
}

/** The whole run: IOPS of every step where it ran; steps that prepare are shaded. */
export function wholeRun(all: readonly Stretch[], p: Palette): EChartsOption {
  const end = Math.max(1, ...all.map((s) => s.to));
  const points = all.flatMap(({ step, from }) => [...step.series.start_s.slice(0, wholeIntervals(step)).map((t, i) => ({ step, x: from + t, y: step.series.iops[i] ?? 0 })), null]);
  const prepared = all.filter((s) => s.step.phase !== "measure");
  const kinds = [...new Set(all.map((s) => opKind(s.step)))];
  return {
    grid: { left: 60, right: 16, top: 26, bottom: 46 },
    xAxis: { ...axisStyle(p), type: "value", min: 0, max: Math.ceil(end), name: text.study.runAxis, nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, showMaxLabel: false } },
    yAxis: { ...axisStyle(p), type: "value", min: 0, name: text.picture.iopsAxis, splitNumber: 4, axisLabel: { color: p.muted, fontSize: 12, formatter: countTick } },
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { lineStyle: { color: p.muted } },
      formatter: (raw: unknown) => {
        const at = (first(raw)?.value as [number, number] | undefined)?.[0];
        if (at === undefined) return "";
        const hit = all.find((s) => at >= s.from && at <= s.to);
        return hit ? tip(say(hit.step.label), [row(p.op[opKind(hit.step)], `${at.toFixed(1)} s`, whole((first(raw)?.value as [number, number])[1])), row("transparent", text.study.phase, word(hit.step.phase))]) : "";
      },
    },
    series: kinds.map((kind, k) => ({
      type: "line", name: kind, showSymbol: false, connectNulls: false, emphasis: { disabled: true }, lineStyle: { color: p.op[kind], width: 1.5 }, itemStyle: { color: p.op[kind] }, areaStyle: { color: p.op[kind], opacity: 0.12 },
      data: points.map((q) => (q && opKind(q.step) === kind ? [q.x, q.y] : ["-", "-"])),
      ...(k === 0
        ? { markArea: { silent: true, itemStyle: { color: p.muted, opacity: 0.14 }, label: { show: true, position: "insideTop", color: p.muted, fontSize: 11 }, data: prepared.map((s) => [{ xAxis: s.from, name: s.to - s.from > end / 14 ? word(s.step.phase) : "" }, { xAxis: s.to }]) } }
        : {}),
    })),
  } as unknown as EChartsOption;
}

/** One latency figure over queue depth by workload: a panel of the small multiples, all on one scale. */
export function percentilePanel(lines: readonly { label: string; kind: keyof Palette["op"]; steps: StepView[] }[], name: Quantile, marks: readonly number[], p: Palette): EChartsOption {
  const looks = lineLooks(lines.map((l) => plainLine(l.label, l.kind, l.steps)), p);
  const depths = [...new Set(lines.flatMap((l) => l.steps.map((s) => String(s.queue_depth))))].sort((a, b) => Number(a) - Number(b));
  return {
    grid: { left: 56, right: 8, top: 10, bottom: 40 },
    xAxis: { ...axisStyle(p), type: "category", data: depths, name: text.picture.qdAxis, nameLocation: "middle", nameGap: 24, splitLine: { show: false }, axisTick: { show: false }, axisLabel: { color: p.muted, fontSize: 11.5 } },
    yAxis: { ...axisStyle(p), type: "log", min: marks[0], max: marks[marks.length - 1], axisTick: { customValues: marks, lineStyle: { color: p.muted } }, splitLine: { customValues: marks, lineStyle: { color: p.hairline } }, axisLabel: { color: p.muted, fontSize: 11.5, customValues: marks, formatter: timeTick } },
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { lineStyle: { color: p.muted } },
      formatter: (raw: unknown) => {
        const depth = depths[first(raw)?.dataIndex ?? -1];
        const rows = lines.flatMap((l, i) => {
          const s = l.steps.find((step) => String(step.queue_depth) === depth);
          if (!s) return [];
          const ci = s.lat_ns?.ci95[name];
          const need = s.lat_ns?.needs[name];
          const ns = latency(s.lat_ns, name);
          return [row(looks[i]?.color ?? p.ink, l.label, ns === null ? (need ? text.steps.needs(`${Math.ceil(need.seconds)} s`) : "–") : `${time(ns)}${ci ? ` <em>${time(ci[0])}–${time(ci[1])}</em>` : ""}`)];
        });
        return tip(`${name}, QD ${depth ?? ""}`, rows);
      },
    },
    series: lines.map((l, i) => ({
      type: "line", name: l.label, symbol: SYMBOLS[i % SYMBOLS.length], symbolSize: 6, emphasis: { disabled: true }, lineStyle: { color: looks[i]?.color, width: 2 }, itemStyle: { color: looks[i]?.color },
      data: depths.map((d) => { const s = l.steps.find((step) => String(step.queue_depth) === d); return s ? (latency(s.lat_ns, name) ?? "-") : "-"; }),
    })),
  } as unknown as EChartsOption;
}
