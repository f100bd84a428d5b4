/** What each I/O costs the CPU, as a chart option. */

import type { EChartsOption } from "echarts";
import { pathWord } from "../cells";
import type { StepView } from "../document";
import { count3, time, timeTick, whole } from "../format";
import { DIRECT_LABEL_MIN_PX, TALL_ROW_PX, nameAbove, row, shortened, textPx, tip, type Params } from "../options";
import type { Palette } from "../palette";
import { cpuPerIo } from "../paths";
import { axisStyle, tooltipStyle } from "../stage";
import { say, text } from "../text";

/** Height of a bar with its name beside it. */
const ROW_PX = 22;

/** Room for the mark of the headline's step before its name. */
const MARK_PX = 14;

const isNarrow = (width: number): boolean => width < DIRECT_LABEL_MIN_PX;

export function costPx(rows: number, width: number): number {
  return 46 + rows * (isNarrow(width) ? TALL_ROW_PX : ROW_PX);
}

/** CPU time per I/O by kind, one bar per step. The step of the headline is marked. */
export function cost(steps: readonly StepView[], p: Palette, width: number, answer?: StepView, byEngine = false): EChartsOption {
  const names = steps.map((s) => (byEngine ? pathWord(s) : say(s.label)));
  const small = isNarrow(width);
  const left = small ? 6 : Math.min(width * 0.54, 18 + MARK_PX + 1.02 * Math.max(...names.map(textPx)));
  const kinds = [
    ["user", "user_ns_per_io"],
    ["system", "system_ns_per_io"],
    ["irq", "irq_ns_per_io"],
    ["worker", "kernel_worker_ns_per_io"],
  ] as const;
  return {
    grid: { left, right: 62, top: 4, bottom: 42 },
    xAxis: { ...axisStyle(p), type: "value", min: 0, name: text.cost.axis, nameLocation: "middle", nameGap: 26, splitNumber: width < 500 ? 3 : 5, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, formatter: timeTick } },
    yAxis: { ...axisStyle(p), type: "category", inverse: true, data: shortened(names, (small ? width - 20 : left - 12) - MARK_PX).map((name, i) => (steps[i] === answer ? `▸ ${name}` : name)), axisTick: { show: false }, axisLine: { show: false }, z: 3, axisLabel: small ? nameAbove(p) : { color: p.ink, fontSize: 12, interval: 0 } },
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
      barMaxWidth: small ? 10 : 14,
      ...(small ? { barWidth: 10 } : {}),
      itemStyle: { color: p.cost[kind] },
      emphasis: { disabled: true },
      label:
        k === kinds.length - 1
          ? { show: true, position: "right", color: p.ink, fontSize: 12, formatter: (q: Params) => { const s = steps[q.dataIndex]; return s ? (cpuPerIo(s) === null ? text.cost.unknown : time(cpuPerIo(s))) : ""; } }
          : undefined,
    })),
  } as EChartsOption;
}
