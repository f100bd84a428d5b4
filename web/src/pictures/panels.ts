/** Rows of loads, a panel of dots for each figure: beside each other where there is room, else below each other. */

import type { EChartsOption } from "echarts";
import { logMarksOf, zeroScale } from "../curves";
import type { StepView } from "../document";
import { topOf, within } from "../intervals";
import { rim, shortened, textPx, type Params } from "../options";
import type { Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";
import { intervalBar } from "./compare";

const GAP_PX = 26;

/** A load and how it looks. */
export interface PanelRow {
  step: StepView;
  name: string;
  color: string;
}

/** One figure of every row. */
export interface Measure {
  name: string;
  of: (s: StepView) => number | null;
  ci95: (s: StepView) => [number, number] | null;
  /** As it stands beside its dot. */
  text: (v: number) => string;
  tick: (v: number) => string;
  /** Figures of several magnitudes; the others start at zero. */
  isLog?: boolean;
}

/** Whether three panels have room beside each other. */
const isWide = (width: number): boolean => width >= 620;

/** Height of a row: on a phone its name may take two lines. */
const rowPx = (width: number): number => (isWide(width) ? 26 : 30);

export function panelsPx(rows: number, width: number): number {
  const panel = 34 + rowPx(width) * rows + 24;
  return isWide(width) ? panel : 3 * panel;
}

interface Scale {
  min: number;
  max: number;
  axis: object;
}

function scaleOf(m: Measure, rows: readonly PanelRow[]): Scale {
  const values = rows.map((r) => m.of(r.step));
  const top = topOf(values, rows.map((r) => m.ci95(r.step)));
  if (m.isLog) {
    const least = Math.min(...values.filter((v): v is number => v !== null));
    const bottom = Math.min(least, ...rows.flatMap((r) => { const ci = m.ci95(r.step); return ci ? [Math.max(ci[0], least / 2)] : []; }));
    const marks = logMarksOf([...values, top > 0 ? top : null, bottom]);
    const [min, max] = [marks[0] ?? 1, marks[marks.length - 1] ?? 10];
    // Three marks are as many as a third of the width has room for.
    const few = marks.length <= 3 ? marks : [min, marks[Math.floor(marks.length / 2)] ?? max, max];
    return { min, max, axis: { type: "log", min, max, axisTick: { show: false, customValues: few }, splitLine: { show: true, customValues: few }, axisLabel: { customValues: few } } };
  }
  const scale = zeroScale(1.06 * top);
  return { min: 0, max: scale.max, axis: { type: "value", min: 0, ...scale, interval: scale.max / 2 } };
}

export function dotPanels(rows: readonly PanelRow[], measures: readonly Measure[], told: (index: number) => string, p: Palette, width: number): EChartsOption {
  const left = Math.min(width * 0.42, 16 + Math.max(...rows.map((r) => textPx(r.name))));
  const names = shortened(rows.map((r) => r.name), left - 12, 2);
  const high = rowPx(width) * rows.length;
  const wide = isWide(width);
  const each = (width - left - 16 - (measures.length - 1) * GAP_PX) / measures.length;
  const grids = measures.map((_, i) => (wide ? { left: left + i * (each + GAP_PX), width: each, top: 28, height: high } : { left, right: 22, top: 28 + i * (high + 58), height: high }));
  const scales = measures.map((m) => scaleOf(m, rows));
  return {
    grid: grids,
    xAxis: measures.map((m, i) => {
      const { axis } = scales[i] as Scale & { axis: { splitLine?: object; axisTick?: object; axisLabel?: object } };
      const style = axisStyle(p) as { splitLine?: object };
      return {
        ...style, ...axis, gridIndex: i, name: m.name, nameLocation: "start", nameGap: 0, nameTextStyle: { color: p.ink, fontSize: 12.5, align: "left", verticalAlign: "bottom", padding: [0, 0, high + 8, 0] },
        ...(axis.splitLine ? { splitLine: { ...style.splitLine, ...axis.splitLine, lineStyle: { color: p.hairline } } } : {}),
        axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, alignMinLabel: "left", alignMaxLabel: "right", formatter: m.tick, ...axis.axisLabel },
      };
    }),
    yAxis: measures.map((_, i) => ({ ...axisStyle(p), type: "category", gridIndex: i, inverse: true, data: names, axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: true, lineStyle: { color: p.hairline } }, axisLabel: { show: !wide || i === 0, color: p.ink, fontSize: wide ? 12.5 : 11.5, lineHeight: 12, interval: 0 } })),
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => told((raw as Params).dataIndex),
    },
    series: measures.flatMap((m, k) => {
      const { min, max } = scales[k] as Scale;
      const bars = rows.flatMap((r, i) => { const ci = m.ci95(r.step); return ci ? [[i, ...within(ci, min, max)]] : []; });
      // Figures stand above the bars, not on them.
      const lift = bars.length > 0 ? 7 : 0;
      return [
        intervalBar(p.muted, true, bars, { xAxisIndex: k, yAxisIndex: k, encode: { x: [1, 2], y: 0 } }),
        {
          type: "scatter", name: m.name, xAxisIndex: k, yAxisIndex: k, symbolSize: 11, z: 4, emphasis: { disabled: true },
          data: rows.map((r, i) => ({ value: [m.of(r.step) ?? "-", i], itemStyle: { color: r.color, opacity: 1 } })),
          label: { show: true, position: "right", distance: 6, color: p.ink, fontSize: 11.5, ...rim(p), formatter: (q: Params) => { const r = rows[q.dataIndex]; const v = r ? m.of(r.step) : null; return v === null ? "" : m.text(v); } },
          labelLayout: (q: { labelRect: { x: number; width: number }; rect: { x: number; y: number; height: number } }) => {
            const grid = grids[k] as { left: number; width?: number; right?: number };
            const end = grid.left + (grid.width ?? width - grid.left - (grid.right ?? 0));
            return q.labelRect.x + q.labelRect.width > end + 14 ? { x: q.rect.x - 6, y: q.rect.y + q.rect.height / 2 - lift, align: "right", verticalAlign: "middle" } : { dy: -lift };
          },
        },
      ];
    }),
  } as unknown as EChartsOption;
}
