/** Paths of I/O as a dot plot: rate, latency and CPU per I/O beside each other, and the front of those that none beats. */

import type { EChartsOption } from "echarts";
import { pathWord, type EngineSet } from "../cells";
import { latency, limitWord, zeroScale } from "../curves";
import type { StepView } from "../document";
import { count3, countTick, plusMinus, time, timeTick, whole } from "../format";
import { exactTime, rim, row, textPx, tip, type Params } from "../options";
import type { Palette } from "../palette";
import { cpuPerIo } from "../paths";
import { axisStyle, tooltipStyle } from "../stage";
import { text, word } from "../text";
import { intervalBar } from "./compare";

const ROW_PX = 26;

/** One figure of a path. */
interface Measure {
  name: string;
  of: (s: StepView) => number | null;
  ci95: (s: StepView) => [number, number] | null;
  tick: (v: number) => string;
}

function measures(): Measure[] {
  return [
    { name: text.picture.iopsAxis, of: (s) => s.iops, ci95: (s) => s.iops_ci95 ?? null, tick: countTick },
    { name: word("lat_mean"), of: (s) => latency(s.lat_ns, "mean"), ci95: (s) => s.lat_ns?.ci95["mean"] ?? null, tick: timeTick },
    { name: word("cpu_per_io"), of: cpuPerIo, ci95: () => null, tick: timeTick },
  ];
}

/** Colour of a path: one for each, told apart by colour-blind readers as well. */
export function pathTone(index: number, p: Palette): string {
  const tones = [p.op.read, p.op.write, p.op.mixed, p.op.trim, p.cost.irq, p.ink, p.warn, p.muted];
  return tones[index % tones.length] ?? p.ink;
}

/** Whether the three panels have room beside each other. */
const isWide = (width: number): boolean => width >= 620;

export function pathsPx(set: EngineSet, width: number): number {
  const panel = 34 + ROW_PX * set.steps.length + 24;
  return isWide(width) ? panel : 3 * panel;
}

/** A row for each path, a panel for each figure; a star marks those on the front. */
export function paths(set: EngineSet, p: Palette, width: number): EChartsOption {
  const front = new Set(set.front);
  const names = set.steps.map((s) => `${pathWord(s)}${front.has(s) ? " ★" : ""}`);
  const left = Math.min(width * 0.42, 16 + Math.max(...names.map(textPx)));
  const rows = ROW_PX * set.steps.length;
  const wide = isWide(width);
  const gap = 26;
  const each = (width - left - 16 - 2 * gap) / 3;
  const all = measures();
  const grids = all.map((_, i) => (wide ? { left: left + i * (each + gap), width: each, top: 28, height: rows } : { left, right: 22, top: 28 + i * (rows + 58), height: rows }));
  return {
    grid: grids,
    xAxis: all.map((m, i) => {
      const values = set.steps.map(m.of).filter((v): v is number => v !== null);
      const scale = zeroScale(1.06 * Math.max(0, ...values));
      return { ...axisStyle(p), type: "value", gridIndex: i, min: 0, ...scale, interval: scale.max / 2, name: m.name, nameLocation: "start", nameGap: 0, nameTextStyle: { color: p.ink, fontSize: 12.5, align: "left", verticalAlign: "bottom", padding: [0, 0, rows + 8, 0] }, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, alignMinLabel: "left", alignMaxLabel: "right", formatter: m.tick } };
    }),
    yAxis: all.map((_, i) => ({ ...axisStyle(p), type: "category", gridIndex: i, inverse: true, data: names, axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: true, lineStyle: { color: p.hairline } }, axisLabel: { show: !wide || i === 0, color: p.ink, fontSize: wide ? 12.5 : 11.5, interval: 0, width: left - 12, overflow: "truncate" } })),
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const i = (raw as Params).dataIndex;
        const s = set.steps[i];
        return s ? pathTip(s, i, p) : "";
      },
    },
    series: all.flatMap((m, k) => [
      intervalBar(p.muted, true, set.steps.flatMap((s, i) => { const ci = m.ci95(s); return ci ? [[i, ci[0], ci[1]]] : []; }), { xAxisIndex: k, yAxisIndex: k, encode: { x: [1, 2], y: 0 } }),
      {
        type: "scatter", name: m.name, xAxisIndex: k, yAxisIndex: k, symbolSize: 11, z: 4, emphasis: { disabled: true },
        data: set.steps.map((s, i) => ({ value: [m.of(s) ?? "-", i], itemStyle: { color: pathTone(i, p), opacity: 1 } })),
        label: { show: true, position: "right", distance: 6, color: p.ink, fontSize: 11.5, formatter: (q: Params) => { const s = set.steps[q.dataIndex]; const v = s ? m.of(s) : null; return v === null ? "" : k === 0 ? count3(v) : time(v); } },
        labelLayout: (q: { labelRect: { x: number; width: number }; rect: { x: number; y: number; height: number } }) => {
          const grid = grids[k] as { left: number; width?: number; right?: number };
          const end = grid.left + (grid.width ?? width - grid.left - (grid.right ?? 0));
          return q.labelRect.x + q.labelRect.width > end + 14 ? { x: q.rect.x - 6, y: q.rect.y + q.rect.height / 2, align: "right", verticalAlign: "middle" } : {};
        },
      },
    ]),
  } as unknown as EChartsOption;
}

function pathTip(s: StepView, index: number, p: Palette): string {
  return tip(pathWord(s), [
    row(pathTone(index, p), text.picture.iopsAxis, `${whole(s.iops)} <em>${plusMinus(s.iops_ci95, s.iops)}</em>`),
    row("transparent", text.picture.mean, exactTime(s.lat_ns?.mean ?? null)),
    row("transparent", "p99", exactTime(latency(s.lat_ns, "p99"))),
    row("transparent", word("cpu_per_io"), exactTime(cpuPerIo(s))),
    row("transparent", text.cost.perCore, count3(s.cpu?.iops_per_core)),
  ], limitWord(s.limit.name));
}

export const FRONT_PX = 280;

/** IOPS over CPU per I/O: up and to the left is better; the line joins the paths that none beats in both. */
export function front(set: EngineSet, p: Palette, width: number): EChartsOption {
  const costed = set.steps.filter((s) => cpuPerIo(s) !== null);
  const best = set.front;
  const costs = costed.map((s) => cpuPerIo(s) ?? 0);
  const x = zeroScale(1.04 * Math.max(...costs));
  const y = zeroScale(1.08 * Math.max(...costed.map((s) => s.iops)));
  const at = (s: StepView): [number, number] => [cpuPerIo(s) ?? 0, s.iops];
  // From the cheapest up, and on to the right from the fastest: what lies below is beaten.
  const line = best.length === 0 ? [] : [[at(best[0] as StepView)[0], 0], ...best.flatMap((s, i) => { const next = best[i + 1]; return next ? [at(s), [at(next)[0], s.iops]] : [at(s), [x.max, s.iops]]; })];
  return {
    grid: { left: 58, right: 16, top: 26, bottom: 46 },
    xAxis: { ...axisStyle(p), type: "value", min: 0, ...x, ...(width < 440 ? { interval: x.max / 2 } : {}), name: word("cpu_per_io"), nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, formatter: timeTick } },
    yAxis: { ...axisStyle(p), type: "value", min: 0, ...y, name: text.picture.iopsAxis, axisLabel: { color: p.muted, fontSize: 12, formatter: countTick } },
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const s = costed[(raw as Params).dataIndex];
        return s ? pathTip(s, set.steps.indexOf(s), p) : "";
      },
    },
    series: [
      { type: "line", silent: true, symbol: "none", tooltip: { show: false }, lineStyle: { color: p.muted, width: 1.5, type: "dashed" }, data: line },
      {
        type: "scatter", symbolSize: 12, z: 4, emphasis: { disabled: true },
        data: costed.map((s, i) => {
          const [here, isLeft] = [at(s), at(s)[0] > 0.55 * x.max];
          // Marks on each other share one name, that of one on the front before others, and how many more there are.
          const near = costed.map((o, k) => ({ o: at(o), k })).filter(({ o }) => Math.abs(o[0] - here[0]) < 0.2 * x.max && Math.abs(o[1] - here[1]) < 0.07 * y.max);
          const isNamed = (near.find(({ k }) => best.includes(costed[k] as StepView)) ?? near[0])?.k === i;
          return {
            value: here, itemStyle: { color: pathTone(set.steps.indexOf(s), p), opacity: 1 },
            label: { show: isNamed, position: isLeft ? "left" : "right", distance: 7, offset: [0, isLeft ? 0 : 12], formatter: near.length > 1 ? `${pathWord(s)} +${near.length - 1}` : pathWord(s), color: p.ink, fontSize: 11.5, ...rim(p) },
          };
        }),
      },
    ],
  } as unknown as EChartsOption;
}
