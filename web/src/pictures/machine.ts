/** Interrupts by CPU as bars. */

import type { EChartsOption } from "echarts";
import { zeroScale } from "../curves";
import { countTick, whole } from "../format";
import { row, tip, type Params } from "../options";
import type { Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";

/** One bar per CPU: what it took of the interrupts of some vectors. */
export function interruptsByCpu(cpus: readonly number[], vectors: readonly { device: string; by_cpu: [number, number][] }[], p: Palette): EChartsOption {
  const sums = new Map<number, number>();
  for (const [cpu, n] of vectors.flatMap((v) => v.by_cpu)) sums.set(cpu, (sums.get(cpu) ?? 0) + n);
  const values = cpus.map((c) => sums.get(c) ?? 0);
  return {
    grid: { left: 58, right: 8, top: 10, bottom: 26 },
    xAxis: { ...axisStyle(p), type: "category", data: cpus.map((c) => `CPU ${c}`), splitLine: { show: false }, axisTick: { show: false } },
    yAxis: { ...axisStyle(p), type: "value", min: 0, ...zeroScale(Math.max(0, ...values)), axisLabel: { color: p.muted, fontSize: 12, formatter: countTick } },
    tooltip: {
      ...tooltipStyle(p), trigger: "axis", axisPointer: { type: "shadow", shadowStyle: { color: p.muted, opacity: 0.08 } },
      formatter: (raw: unknown) => {
        const i = ((Array.isArray(raw) ? raw[0] : raw) as Params | undefined)?.dataIndex ?? -1;
        const cpu = cpus[i];
        if (cpu === undefined) return "";
        const by = new Map<string, number>();
        for (const v of vectors) for (const [c, n] of v.by_cpu) if (c === cpu) by.set(v.device, (by.get(v.device) ?? 0) + n);
        return tip(`CPU ${cpu}`, [...by].map(([device, n]) => row(p.cost.irq, device, whole(n))));
      },
    },
    series: [{ type: "bar", data: values, barMaxWidth: 40, itemStyle: { color: p.cost.irq }, emphasis: { disabled: true } }],
  } as EChartsOption;
}
