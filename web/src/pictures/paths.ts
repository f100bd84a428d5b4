/** Paths of I/O: rate, latency and CPU per I/O beside each other, and the front of those that none beats. */

import type { EChartsOption } from "echarts";
import { pathWord, type EngineSet } from "../cells";
import { latency, limitWord, zeroScale } from "../curves";
import type { StepView } from "../document";
import { count3, countTick, plusMinus, time, timeTick, whole } from "../format";
import { exactTime, rim, row, textPx, tip, type Params } from "../options";
import { pathTone, type Palette } from "../palette";
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

export function pathsPx(set: EngineSet, width: number): number {
  return panelsPx(set.steps.length, width);
}

/** A row for each path, a panel for each figure; a star marks those on the front. */
export function paths(set: EngineSet, p: Palette, width: number): EChartsOption {
  const front = new Set(set.front);
  const rows = set.steps.map((step, i) => ({ step, name: `${pathWord(step)}${front.has(step) ? " ★" : ""}`, color: pathTone(set.tones[i] ?? i, p) }));
  return dotPanels(rows, measures(), (i) => { const r = rows[i]; return r ? pathTip(r.step, r.color) : ""; }, p, width);
}

function pathTip(s: StepView, color: string): string {
  return tip(pathWord(s), [
    row(color, text.picture.iopsAxis, `${whole(s.iops)} <em>${plusMinus(s.iops_ci95, s.iops)}</em>`),
    row("transparent", text.picture.mean, exactTime(s.lat_ns?.mean ?? null)),
    row("transparent", "p99", exactTime(latency(s.lat_ns, "p99"))),
    row("transparent", word("cpu_per_io"), exactTime(cpuPerIo(s))),
    row("transparent", text.cost.perCore, count3(s.cpu?.iops_per_core)),
  ], limitWord(s.limit.name));
}

export const FRONT_PX = 280;

/** Half of a mark with its rim, and the height of a name. */
const [MARK_PX, NAME_PX] = [8, 16];

/** Side of a mark on which its name lies on no other mark and within the plot, preferably above: the line of the best leads to the right. */
export function freeSide([x, y]: readonly [number, number], wide: number, marks: readonly (readonly [number, number])[], [width, height]: readonly [number, number]): "top" | "left" | "right" | "bottom" {
  const sides = {
    top: [x - wide / 2, y - MARK_PX - NAME_PX], right: [x + MARK_PX, y - NAME_PX / 2], left: [x - MARK_PX - wide, y - NAME_PX / 2], bottom: [x - wide / 2, y + MARK_PX],
  } as const;
  const isFree = ([left, top]: readonly [number, number]): boolean =>
    left > 0 && left + wide < width && top > -NAME_PX && top + NAME_PX < height && !marks.some(([mx, my]) => mx > left - MARK_PX && mx < left + wide + MARK_PX && my > top - MARK_PX && my < top + NAME_PX + MARK_PX);
  return (["top", "right", "left", "bottom"] as const).find((side) => isFree(sides[side])) ?? "top";
}

/** IOPS over CPU per I/O: up and to the left is better; the line joins the paths that none beats in both. */
export function front(set: EngineSet, p: Palette, width: number): EChartsOption {
  const costed = set.steps.filter((s) => cpuPerIo(s) !== null);
  const best = set.front;
  const onFront = new Set(best);
  const costs = costed.map((s) => cpuPerIo(s) ?? 0);
  const x = zeroScale(1.04 * Math.max(...costs));
  const y = zeroScale(1.08 * Math.max(...costed.map((s) => s.iops)));
  const toneOf = (s: StepView): string => pathTone(set.tones[set.steps.indexOf(s)] ?? 0, p);
  const at = (s: StepView): [number, number] => [cpuPerIo(s) ?? 0, s.iops];
  // From the cheapest up, and on to the right from the fastest: what lies below is beaten.
  const line = best.length === 0 ? [] : [[at(best[0] as StepView)[0], 0], ...best.flatMap((s, i) => { const next = best[i + 1]; return next ? [at(s), [at(next)[0], s.iops]] : [at(s), [x.max, s.iops]]; })];
  // Marks that overlap share one name, preferably that of a path on the front. The number counts the marks of the name.
  const named = new Map<StepView, number>();
  for (const s of [...best, ...costed.filter((s) => !onFront.has(s))]) {
    const covers = (o: StepView) => Math.abs(at(o)[0] - at(s)[0]) < 0.2 * x.max && Math.abs(at(o)[1] - at(s)[1]) < 0.07 * y.max;
    const name = [...named.keys()].find(covers) ?? s;
    named.set(name, (named.get(name) ?? 0) + 1);
  }
  const place = (s: StepView): [number, number] => [(at(s)[0] / x.max) * (width - 74), (1 - at(s)[1] / y.max) * (FRONT_PX - 72)];
  const spots = costed.map(place);
  return {
    grid: { left: 58, right: 16, top: 26, bottom: 46 },
    xAxis: { ...axisStyle(p), type: "value", min: 0, ...x, ...(width < 440 ? { interval: x.max / 2 } : {}), name: word("cpu_per_io"), nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, formatter: timeTick } },
    yAxis: { ...axisStyle(p), type: "value", min: 0, ...y, name: text.picture.iopsAxis, axisLabel: { color: p.muted, fontSize: 12, formatter: countTick } },
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const s = costed[(raw as Params).dataIndex];
        return s ? pathTip(s, toneOf(s)) : "";
      },
    },
    series: [
      { type: "line", silent: true, symbol: "none", tooltip: { show: false }, lineStyle: { color: p.muted, width: 1.5, type: "dashed" }, data: line },
      {
        type: "scatter", symbolSize: 12, z: 4, emphasis: { disabled: true },
        // Names that still overlap are moved apart.
        labelLayout: { moveOverlap: "shiftY" },
        data: costed.map((s) => {
          const [here, alike] = [at(s), named.get(s) ?? 0];
          const name = alike > 1 ? `${pathWord(s)} +${alike - 1}` : pathWord(s);
          const side = freeSide(place(s), textPx(name), spots, [width - 74, FRONT_PX - 72]);
          return {
            value: here, itemStyle: { color: toneOf(s), opacity: 1 },
            label: { show: alike > 0, position: side, distance: 7, formatter: name, color: p.ink, fontSize: 11.5, ...rim(p) },
          };
        }),
      },
    ],
  } as unknown as EChartsOption;
}
