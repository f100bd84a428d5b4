/** Pictures of two sides: a forest of ratios, and pairs with their ratio below. */

import type { EChartsOption } from "echarts";
import { comparedNames, type PairSet } from "../cells";
import type { OpKind } from "../curves";
import { opKind, zeroScale, logMarks } from "../curves";
import type { ComparedMetric, ComparedStep, Comparison } from "../document";
import { CHANGE_MAX_PCT, countTick, figure, timeTick } from "../format";
import { barLines, within } from "../intervals";
import { TALL_ROW_PX, nameAbove, row, shortened, textPx, tip, type Params } from "../options";
import { blend, type Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";
import { say, text, word } from "../text";

/** Change against A: 1.26 -> `+26 %`. */
export function change(ratio: number): string {
  const pct = (ratio - 1) * 100;
  if (!Number.isFinite(pct)) return text.units.inconclusive;
  if (pct > CHANGE_MAX_PCT) return `>+${CHANGE_MAX_PCT} %`;
  const digits = Math.abs(pct) < 9.95 ? 1 : 0;
  const rounded = Number(pct.toFixed(digits));
  return `${rounded > 0 ? "+" : rounded < 0 ? "−" : "±"}${Math.abs(rounded).toFixed(digits)} %`;
}

/** The figure of a compared step by name. */
export function metricOf(step: ComparedStep, name: string): ComparedMetric | undefined {
  return step.metrics.find((m) => m.name === name);
}

/** Colours of the sides: the reference stands back, the others carry the colour of the operation. */
export function sideTones(c: Comparison, kind: OpKind, p: Palette): string[] {
  const own = p.op[kind];
  return c.sides.map((_, i) => (i === 0 ? blend(p.muted, p.paper, 0.45) : i === 1 ? own : blend(own, p.ink, 0.2 * (i - 1) + 0.15)));
}

interface Api {
  value: (i: number) => number;
  coord: (p: [number, number]) => [number, number];
}

/** An interval as a bar, across (`flat`) or upright, `aside` pixels from the middle of its place. Data: the place, both ends, and which of them are cut. */
export function intervalBar(color: string, flat: boolean, data: (number | string)[][], extra: object, aside = 0): object {
  return {
    type: "custom", silent: true, tooltip: { show: false }, data, z: 3, ...extra,
    renderItem: (_: unknown, api: Api) => {
      const at = api.value(0);
      const [a, b] = [api.coord(flat ? [api.value(1), at] : [at, api.value(1)]), api.coord(flat ? [api.value(2), at] : [at, api.value(2)])];
      for (const end of [a, b]) end[flat ? 1 : 0] += aside;
      return { type: "group", children: barLines(a, b, flat, api.value(3)).map(([x1, y1, x2, y2]) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: color, lineWidth: 1.5 } })) };
    },
  };
}

/** Ends of an axis of ratios, so that 1 and the margin are always on it. */
function ratioRange(steps: readonly (ComparedMetric | undefined)[], margin: number): [number, number] {
  const ends = steps.flatMap((m) => (m ? [m.ratio, ...(m.ci95 ?? [])] : [])).filter((x) => x > 0 && Number.isFinite(x));
  // One wild interval must not press all others together: beyond a factor of 4 it is cut at the edge.
  const low = Math.max(0.25, Math.min(1 - 2 * margin, ...ends));
  const high = Math.min(4, Math.max(1 + 2 * margin, ...ends));
  const pad = (high / low) ** 0.06;
  return [low / pad, high * pad];
}

/** Marks of an axis of ratios, as changes. */
function ratioMarks([low, high]: [number, number], most = 7): number[] {
  const span = Math.max(high - 1, 1 - low);
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].find((s) => span / s <= 4) ?? 1;
  const marks = [1];
  for (let i = 1; i <= 8; i++) for (const at of [1 + i * step, 1 - i * step]) if (at >= low && at <= high && at > 0) marks.push(Number(at.toFixed(6)));
  // On a logarithmic axis equal steps crowd at one end: those too near to their neighbour towards 1 are left out.
  const gap = Math.log(high / low) / most;
  const up = marks.filter((m) => m >= 1).sort((a, b) => a - b);
  const down = marks.filter((m) => m <= 1).sort((a, b) => b - a);
  const kept = [up, down].flatMap((side) => side.reduce<number[]>((out, m) => (out.length === 0 || Math.abs(Math.log(m / (out[out.length - 1] ?? m))) >= gap ? [...out, m] : out), []));
  return [...new Set(kept)].sort((a, b) => a - b);
}

/** Colour and fill by verdict: what is known is filled, what is inconclusive is hollow. */
function markOf(verdict: string, kind: OpKind, p: Palette): object {
  const isKnown = verdict === "faster" || verdict === "slower" || verdict === "better" || verdict === "worse";
  const color = isKnown ? p.op[kind] : p.muted;
  return { color: verdict === "unsure" ? p.paper : color, borderColor: color, borderWidth: 2 };
}

/** Whether the names of the forest's rows have no room beside their marks. */
const isNarrow = (width: number): boolean => width < 560;

/** Height of the forest. */
export const forestPx = (rows: number, width: number): number => 54 + (isNarrow(width) ? TALL_ROW_PX : 24) * rows;

/** Ratios of the sides to A with their intervals, one row per step; the band is the margin within which sides count as the same. */
export function forest(c: Comparison, steps: readonly ComparedStep[], name: string, p: Palette, width: number, names: ReadonlyMap<ComparedStep, string> = comparedNames(steps, null)): EChartsOption {
  const margin = c.margin_pct / 100;
  const metrics = steps.map((s) => metricOf(s, name));
  const range = ratioRange(metrics, margin);
  const small = isNarrow(width);
  const marks = ratioMarks(range, small ? 4 : 7);
  const label = (s: ComparedStep): string => `${names.get(s) ?? ""}${c.sides.length > 2 ? ` ${s.side}` : ""}`;
  const left = small ? 8 : Math.min(width * 0.36, 18 + 7.4 * Math.max(4, ...steps.map((s) => label(s).length)));
  const verdictOf = (s: ComparedStep, m: ComparedMetric): string => (name === s.metric ? s.verdict : m.verdict);
  const words = steps.map((s, i) => {
    const m = metrics[i];
    return !m ? "–" : small ? change(m.ratio) : `${change(m.ratio)}${m.ci95 ? ` [${change(m.ci95[0])}, ${change(m.ci95[1])}]` : ""} ${word(verdictOf(s, m))}`;
  });
  return {
    grid: { left, right: 18 + Math.max(...words.map(textPx)), top: 8, bottom: 40 },
    xAxis: {
      ...axisStyle(p), type: "log", min: range[0], max: range[1], name: text.comparison.ratioAxis(word(name), say(c.sides[0]?.title ?? "A")), nameLocation: "middle", nameGap: 26,
      axisTick: { lineStyle: { color: p.muted }, customValues: marks }, splitLine: { lineStyle: { color: p.hairline }, customValues: marks },
      axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, customValues: marks, formatter: (v: number) => (Math.abs(v - 1) < 1e-6 ? text.comparison.even : change(v)) },
    },
    yAxis: { ...axisStyle(p), type: "category", inverse: true, data: shortened(steps.map(label), small ? width - 20 : left - 12), axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: false }, z: 3, axisLabel: small ? nameAbove(p) : { color: p.ink, fontSize: 12.5, interval: 0 } },
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { type: "shadow", axis: "y", shadowStyle: { color: p.muted, opacity: 0.08 } },
      formatter: (raw: unknown) => {
        const s = steps[((Array.isArray(raw) ? raw[0] : raw) as Params | undefined)?.dataIndex ?? -1];
        return s ? cellTip(c, s, p) : "";
      },
    },
    series: [
      {
        type: "scatter", symbolSize: 10, z: 4, emphasis: { disabled: true }, itemStyle: { opacity: 1 },
        data: steps.map((s, i) => {
          const m = metrics[i];
          if (!m) return { value: ["-", i] };
          return { value: [Math.min(range[1], Math.max(range[0], m.ratio)), i], itemStyle: { ...markOf(verdictOf(s, m), opKind(s.load), p), opacity: 1 } };
        }),
        markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: p.ink, width: 1, type: "solid" }, data: [{ xAxis: 1 }] },
        markArea: { silent: true, itemStyle: { color: p.muted, opacity: 0.12 }, data: [[{ xAxis: 1 - margin }, { xAxis: 1 + margin }]] },
      },
      intervalBar(p.muted, true, steps.flatMap((_, i) => {
        const ci = metrics[i]?.ci95;
        return ci ? [[i, ...within(ci, ...range)]] : [];
      }), { encode: { x: [1, 2], y: 0 } }),
      {
        // The words beside each row stand in a column of their own, so that no mark hides them.
        type: "scatter", symbolSize: 0.01, silent: true, tooltip: { show: false }, z: 5, itemStyle: { opacity: 1 },
        data: words.map((formatter, i) => ({ value: [range[1], i], label: { show: true, position: "right", distance: 8, formatter, color: p.ink, fontSize: 12 } })),
      },
    ],
  } as unknown as EChartsOption;
}

/** All figures of a compared step. */
function cellTip(c: Comparison, s: ComparedStep, p: Palette): string {
  const rows = s.metrics.map((m) => row("transparent", word(m.name), `${figure(m.a, m.unit)} → ${figure(m.b, m.unit)} <em>${change(m.ratio)}${m.ci95 ? ` [${change(m.ci95[0])}, ${change(m.ci95[1])}]` : ""}</em>`));
  const tone = sideTones(c, opKind(s.load), p)[1] ?? p.ink;
  return tip(say(s.label), [row(tone, text.comparison.verdict, word(s.verdict)), ...rows], [word(s.design), ...s.notes.map(say)].join(" · "));
}

/** Fewer loads than these are no ladder. */
const LADDER_MIN = 3;

/** Height of a pair picture. */
export const PAIR_PX = 306;

/** A figure of both sides by load, and below it the ratio with its interval. Rates and costs are bars from zero, latencies lines. */
export function pairs(c: Comparison, set: PairSet, name: string, p: Palette, width: number): EChartsOption {
  const tones = sideTones(c, set.kind, p);
  const others = c.sides.slice(1).map((s) => s.name);
  const loads = set.cells.map((cell) => cell.load);
  const at = (side: string): (ComparedMetric | undefined)[] => set.cells.map((cell) => { const s = cell.sides.get(side); return s ? metricOf(s, name) : undefined; });
  const reference = set.cells.map((cell) => [...cell.sides.values()].map((s) => metricOf(s, name)).find((m) => m !== undefined)?.a ?? null);
  const all = others.map(at);
  const isTime = name.startsWith("lat");
  const values = [...reference, ...all.flat().map((m) => m?.b ?? null)].filter((v): v is number => v !== null && v > 0);
  const margin = c.margin_pct / 100;
  const range = ratioRange(all.flat(), margin);
  const marks = ratioMarks(range);
  const logs = logMarks(values);
  const unit = all.flat().find((m) => m !== undefined)?.unit ?? "";
  const tick = unit === "iops" ? countTick : timeTick;
  const valueAxis = isTime
    ? { type: "log", min: logs[0], max: logs[logs.length - 1], axisTick: { customValues: logs, lineStyle: { color: p.muted } }, splitLine: { customValues: logs, lineStyle: { color: p.hairline } }, axisLabel: { color: p.muted, fontSize: 12, customValues: logs, formatter: tick } }
    : { type: "value", ...zeroScale(Math.max(0, ...values)), min: 0, axisLabel: { color: p.muted, fontSize: 12, formatter: tick } };
  // Loads are joined where one grows out of the other, as in a ladder of depths; others stand for themselves.
  const ladderOf = (load: string): string => (load.startsWith("QD") ? "QD" : load.slice(0, load.indexOf("x")));
  const ladders = [...new Set(loads.map(ladderOf))];
  const joined = (color: string, values: readonly (number | string)[], name: string | undefined, isReference = false): object[] =>
    (isTime ? ladders : [""]).map((ladder) => {
      const of = values.map((v, i) => (ladder === "" || ladderOf(loads[i] ?? "") === ladder ? v : "-"));
      const isCurve = of.filter((v) => v !== "-").length >= LADDER_MIN;
      // Sides that agree lie on each other: the reference is a ring around the other.
      return { ...shape(color), ...(isTime && isReference ? { symbolSize: 11, itemStyle: { color: p.paper, borderColor: color, borderWidth: 1.5 } } : {}), ...(isTime && !isCurve ? { lineStyle: { width: 0 } } : {}), name, data: of, emphasis: { disabled: true } };
    });
  const shape = (color: string): object =>
    isTime
      ? { type: "line", symbol: "circle", symbolSize: 5, lineStyle: { color, width: 2 }, itemStyle: { color } }
      : { type: "bar", barMaxWidth: 18, barGap: "8%", barCategoryGap: "32%", itemStyle: { color } };
  const x = (index: number): object => ({ ...axisStyle(p), type: "category", gridIndex: index, data: loads, splitLine: { show: false }, axisTick: { show: false }, axisLabel: { show: index === 1, color: p.muted, fontSize: 12, interval: 0, hideOverlap: true, rotate: loads.length > 6 && width < 330 ? 45 : 0 } });
  return {
    grid: [{ left: 56, right: 8, top: 12, height: 140 }, { left: 56, right: 8, top: 172, height: 92 }],
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    xAxis: [x(0), x(1)],
    yAxis: [
      { ...axisStyle(p), gridIndex: 0, ...valueAxis },
      {
        ...axisStyle(p), type: "log", gridIndex: 1, min: range[0], max: range[1],
        axisTick: { customValues: marks, lineStyle: { color: p.muted } }, splitLine: { customValues: marks, lineStyle: { color: p.hairline } },
        axisLabel: { color: p.muted, fontSize: 11.5, customValues: marks, formatter: (v: number) => (Math.abs(v - 1) < 1e-6 ? text.comparison.even : change(v)) },
      },
    ],
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { type: "shadow", shadowStyle: { color: p.muted, opacity: 0.08 } },
      formatter: (raw: unknown) => {
        const i = ((Array.isArray(raw) ? raw[0] : raw) as Params | undefined)?.dataIndex ?? -1;
        const cell = set.cells[i];
        const rows = others.flatMap((side, k) => {
          const m = all[k]?.[i];
          return m ? [row(tones[k + 1] ?? p.ink, say(c.sides[k + 1]?.title ?? side), `${figure(m.b, m.unit)} <em>${change(m.ratio)}${m.ci95 ? ` [${change(m.ci95[0])}, ${change(m.ci95[1])}]` : ""}</em>`)] : [];
        });
        const ref = reference[i];
        return cell ? tip(`${set.title} ${cell.load}`, [row(tones[0] ?? p.ink, say(c.sides[0]?.title ?? "A"), ref === null || ref === undefined ? "–" : figure(ref, unit)), ...rows]) : "";
      },
    },
    series: [
      ...joined(tones[0] ?? p.muted, reference.map((v) => v ?? "-"), c.sides[0]?.title, true),
      ...others.flatMap((side, k) => joined(tones[k + 1] ?? p.ink, at(side).map((m) => m?.b ?? "-"), c.sides[k + 1]?.title ?? side)),
      ...others.flatMap((side, k) => {
        const color = tones[k + 1] ?? p.ink;
        return [
          {
            type: "scatter", xAxisIndex: 1, yAxisIndex: 1, name: `${side} ratio`, symbol: "circle", symbolSize: 8, emphasis: { disabled: true },
            data: set.cells.map((cell) => {
              const s = cell.sides.get(side);
              const m = s && metricOf(s, name);
              return m && s ? { value: Math.min(range[1], Math.max(range[0], m.ratio)), itemStyle: markOf(name === s.metric ? s.verdict : m.verdict, set.kind, p) } : { value: "-" };
            }),
            ...(k === 0
              ? {
                  markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: p.ink, width: 1, type: "solid" }, data: [{ yAxis: 1 }] },
                  markArea: { silent: true, itemStyle: { color: p.muted, opacity: 0.12 }, data: [[{ yAxis: 1 - margin }, { yAxis: 1 + margin }]] },
                }
              : {}),
          },
          intervalBar(color, false, set.cells.flatMap((_, i) => {
            const ci = all[k]?.[i]?.ci95;
            return ci ? [[i, ...within(ci, ...range)]] : [];
          }), { xAxisIndex: 1, yAxisIndex: 1, encode: { x: 0, y: [1, 2] } }),
        ];
      }),
    ],
  } as unknown as EChartsOption;
}
