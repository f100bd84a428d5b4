/** Paths of I/O: rate, latency and CPU per I/O beside each other, and the front of those that none beats. */

import type { EChartsOption } from "echarts";
import { pathWord, type EngineSet } from "../cells";
import { latency, limitWord, zeroScale } from "../curves";
import type { StepView } from "../document";
import { count3, countTick, plusMinus, time, timeTick, whole } from "../format";
import { exactTime, rim, row, tip, type Params } from "../options";
import type { Palette } from "../palette";
import { cpuPerIo } from "../paths";
import { axisStyle, tooltipStyle } from "../stage";
import { text, word } from "../text";
import { dotPanels, panelsPx, type Measure } from "./panels";

function measures(): Measure[] {
  return [
    { name: text.picture.iopsAxis, of: (s) => s.iops, ci95: (s) => s.iops_ci95 ?? null, text: count3, tick: countTick },
    { name: word("lat_mean"), of: (s) => latency(s.lat_ns, "mean"), ci95: (s) => s.lat_ns?.ci95["mean"] ?? null, text: time, tick: timeTick },
    { name: word("cpu_per_io"), of: cpuPerIo, ci95: () => null, text: time, tick: timeTick },
  ];
}

/** Colour of a path: one for each, told apart by colour-blind readers as well. */
export function pathTone(index: number, p: Palette): string {
  const tones = [p.op.read, p.op.write, p.op.mixed, p.op.trim, p.cost.irq, p.ink, p.warn, p.muted];
  return tones[index % tones.length] ?? p.ink;
}

export function pathsPx(set: EngineSet, width: number): number {
  return panelsPx(set.steps.length, width);
}

/** A row for each path, a panel for each figure; a star marks those on the front. */
export function paths(set: EngineSet, p: Palette, width: number): EChartsOption {
  const front = new Set(set.front);
  const rows = set.steps.map((step, i) => ({ step, name: `${pathWord(step)}${front.has(step) ? " ★" : ""}`, color: pathTone(i, p) }));
  return dotPanels(rows, measures(), (i) => { const r = rows[i]; return r ? pathTip(r.step, i, p) : ""; }, p, width);
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
  const onFront = new Set(best);
  const costs = costed.map((s) => cpuPerIo(s) ?? 0);
  const x = zeroScale(1.04 * Math.max(...costs));
  const y = zeroScale(1.08 * Math.max(...costed.map((s) => s.iops)));
  const at = (s: StepView): [number, number] => [cpuPerIo(s) ?? 0, s.iops];
  // From the cheapest up, and on to the right from the fastest: what lies below is beaten.
  const line = best.length === 0 ? [] : [[at(best[0] as StepView)[0], 0], ...best.flatMap((s, i) => { const next = best[i + 1]; return next ? [at(s), [at(next)[0], s.iops]] : [at(s), [x.max, s.iops]]; })];
  // Marks on each other share one name, that of one on the front before others, with how many marks it stands for.
  const named = new Map<StepView, number>();
  for (const s of [...best, ...costed.filter((s) => !onFront.has(s))]) {
    const covers = (o: StepView) => Math.abs(at(o)[0] - at(s)[0]) < 0.2 * x.max && Math.abs(at(o)[1] - at(s)[1]) < 0.07 * y.max;
    const name = [...named.keys()].find(covers) ?? s;
    named.set(name, (named.get(name) ?? 0) + 1);
  }
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
        // Names that would still touch are moved apart.
        labelLayout: { moveOverlap: "shiftY" },
        data: costed.map((s) => {
          const [here, isLeft, alike] = [at(s), at(s)[0] > 0.55 * x.max, named.get(s) ?? 0];
          return {
            value: here, itemStyle: { color: pathTone(set.steps.indexOf(s), p), opacity: 1 },
            label: { show: alike > 0, position: isLeft ? "left" : "right", distance: 7, offset: [0, isLeft ? 0 : 12], formatter: alike > 1 ? `${pathWord(s)} +${alike - 1}` : pathWord(s), color: p.ink, fontSize: 11.5, ...rim(p) },
          };
        }),
      },
    ],
  } as unknown as EChartsOption;
}
