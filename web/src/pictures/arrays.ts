/** A load on each level: what the array gives as a bar, what its members allow as a mark. */

import type { EChartsOption } from "echarts";
import { arrayShare, inUnit, type ArrayCell, type ArrayLoad } from "../arrays";
import { limitWord, zeroScale } from "../curves";
import { bytesDecimal, count3, countTick, digits3, plusMinus } from "../format";
import { topOf, within } from "../intervals";
import { rim, row, shortened, textPx, tip, type Params } from "../options";
import type { Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";
import { text } from "../text";
import { intervalBar } from "./compare";

const ROW_PX = 30;
export const arrayPx = (load: ArrayLoad): number => 52 + ROW_PX * load.cells.length;

/** `75 %`. */
export function shareText(share: number | null): string {
  if (share === null) return "";
  // More than all of it says that the members were not at their limit alone.
  return share > 1 ? "≥100 %" : `${Math.round(100 * share)} %`;
}

export function arrayBars(load: ArrayLoad, p: Palette, width: number): EChartsOption {
  const t = text.study;
  const of = (c: ArrayCell | undefined, iops: number | null): number | null => (c ? inUnit(load, c, iops) : null);
  const shown = (v: number | null): string => (load.isBandwidth && v !== null ? `${bytesDecimal(v)}/s` : count3(v));
  const values = load.cells.flatMap((c) => [of(c, c.step.iops), of(c, c.view.ceiling_iops), of(c, c.view.bare_iops)]);
  const scale = zeroScale(topOf(values, load.cells.map((c): [number, number] | null => { const ci = c.step.iops_ci95; return ci && [of(c, ci[0]) ?? 0, of(c, ci[1]) ?? 0]; })));
  const left = Math.min(width * 0.34, 18 + Math.max(...load.cells.map((c) => textPx(c.name))));
  const color = p.op[load.kind];
  const words = load.cells.map((c) => [shown(of(c, c.step.iops)), shareText(arrayShare(c))].filter((x) => x !== "").join(" · "));
  const mark = (name: string, symbol: string, size: number | [number, number], iops: (c: ArrayCell) => number | null, style: object): object => ({
    type: "scatter", name, symbol, symbolSize: size, z: 5, emphasis: { disabled: true }, itemStyle: { opacity: 1, ...style },
    data: load.cells.map((c, i) => [of(c, iops(c)) ?? "-", i]),
  });
  return {
    grid: { left, right: 18 + Math.max(...words.map(textPx)), top: 6, bottom: 42 },
    xAxis: { ...axisStyle(p), type: "value", min: 0, ...scale, interval: scale.max / 2, name: load.isBandwidth ? t.bytesAxis : text.picture.iopsAxis, nameLocation: "middle", nameGap: 26, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, formatter: (v: number) => (v === 0 ? "0" : load.isBandwidth ? `${bytesDecimal(v)}/s` : countTick(v)) } },
    yAxis: { ...axisStyle(p), type: "category", inverse: true, data: shortened(load.cells.map((c) => c.name), left - 12, 2), axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: false }, axisLabel: { color: p.ink, fontSize: 12.5, lineHeight: 13, interval: 0 } },
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { type: "shadow", axis: "y", shadowStyle: { color: p.muted, opacity: 0.08 } },
      formatter: (raw: unknown) => {
        const c = load.cells[((Array.isArray(raw) ? raw[0] : raw) as Params | undefined)?.dataIndex ?? -1];
        if (!c) return "";
        return tip(`${c.name} · ${load.title} T${c.step.threads} QD${c.step.queue_depth}`, [
          row(color, t.arrayGives, `${shown(of(c, c.step.iops))} <em>${plusMinus(c.step.iops_ci95, c.step.iops)}</em>`),
          row(p.ink, t.membersAllow, `${shown(of(c, c.view.ceiling_iops))} ${shareText(arrayShare(c))}`),
          row("transparent", t.bare, shown(of(c, c.view.bare_iops))),
          row("transparent", t.memberIos, t.memberIosOf(digits3(c.view.member_reads), digits3(c.view.member_writes))),
        ], limitWord(c.step.limit.name));
      },
    },
    series: [
      {
        type: "bar", name: t.arrayGives, barWidth: 14, emphasis: { disabled: true }, itemStyle: { color, opacity: 0.85 },
        data: load.cells.map((c) => of(c, c.step.iops) ?? "-"),
      },
      intervalBar(p.ink, true, load.cells.flatMap((c, i) => {
        const ci = c.step.iops_ci95?.map((v) => of(c, v) ?? 0);
        return ci ? [[i, ...within([ci[0] ?? 0, ci[1] ?? 0], 0, scale.max)]] : [];
      }), { encode: { x: [1, 2], y: 0 } }),
      mark(t.membersAllow, "rect", [3, 24], (c) => c.view.ceiling_iops, { color: p.ink }),
      mark(t.bare, "diamond", 9, (c) => c.view.bare_iops, { color: p.paper, borderColor: p.muted, borderWidth: 1.5 }),
      {
        // Figures stand in a column of their own, so that no mark hides them.
        type: "scatter", symbolSize: 0.01, silent: true, tooltip: { show: false }, z: 6, itemStyle: { opacity: 1 },
        data: words.map((formatter, i) => ({ value: [scale.max, i], label: { show: true, position: "right", distance: 8, color: p.ink, fontSize: 12, ...rim(p), formatter } })),
      },
    ],
  } as unknown as EChartsOption;
}
