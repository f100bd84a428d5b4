/** Latency against the rate: closed loop, offered rates, the goal as a line and the region that keeps it shaded. */

import type { EChartsOption } from "echarts";
import { latency, logMarksOf, roomy, zeroScale } from "../curves";
import type { StepView } from "../document";
import { count3, countTick, time, timeTick, whole } from "../format";
import { goalOf, deepestLoop, outcomeOf, rateOf, type GoalSet, type Shown } from "../goals";
import { rim, row, tip, type Params } from "../options";
import { blend, type Palette } from "../palette";
import { axisStyle, tooltipStyle } from "../stage";
import { text } from "../text";

export const GOAL_PX = 270;

/** Axes that all panels share: the rates, and marks of the latencies. */
export function goalScale(sets: readonly GoalSet[], name: Shown): { most: { max: number; interval: number }; marks: number[] } {
  const steps = sets.flatMap((s) => [...s.closed, ...s.offered]);
  return { most: zeroScale(1.04 * Math.max(0, ...steps.map(rateOf))), marks: logMarksOf([...sets.map((s) => goalOf(s, name)?.mostNs ?? null), ...steps.map((s) => latency(s.lat_ns, name))]) };
}

/** Name of a point: how much was in flight, or the rate that was offered. */
function pointName(s: StepView): string {
  return s.rate_iops === null ? `QD${s.queue_depth}` : `${count3(s.rate_iops)} IOPS`;
}

/** What the panel shows, with its goal and how far that is kept. */
export function goalCaption(set: GoalSet, name: Shown): string {
  const said = name === "mean" ? text.picture.mean : name;
  const goal = goalOf(set, name);
  if (goal === undefined) return text.study.goalTitle(set.title, said);
  const t = text.study;
  const isOffered = goal.kept ? goal.kept.rate_iops !== null : set.offered.length > 0;
  const loads = goal.steps.filter((s) => (s.rate_iops !== null) === isOffered);
  const at = (s: StepView): [string, string] => [count3(rateOf(s)), s.rate_iops === null ? pointName(s) : t.offered];
  const miss = loads.find((s) => outcomeOf(s, goal) === "missed");
  const unknown = loads.filter((s) => outcomeOf(s, goal) === "unknown").length;
  const loop = isOffered && !goal.kept ? deepestLoop(goal) : null;
  const outcomes = [goal.kept ? t.goalMet(...at(goal.kept)) : miss ? t.goalMissed(...at(miss)) : "", unknown === 0 ? "" : t.goalUnknown(unknown, loads.length), loop ? t.loopMet(count3(loop.iops), pointName(loop)) : ""];
  return `${t.goalTitle(set.title, said)}${text.comma}${t.goal(time(goal.mostNs))}${text.colon}${outcomes.filter((x) => x !== "").join(text.comma)}`;
}

export function goalPanel(set: GoalSet, name: Shown, scale: { most: { max: number; interval: number }; marks: number[] }, p: Palette, width: number): EChartsOption {
  const color = p.op[set.kind];
  const offered = blend(color, p.ink, 0.45);
  const goal = goalOf(set, name);
  const { marks, most } = scale;
  const low = marks[0] ?? 1;
  const parts = [
    { label: text.study.closed, color, symbol: "circle", dash: "solid", steps: set.closed },
    { label: text.study.offered, color: offered, symbol: "diamond", dash: "dashed", steps: set.offered },
  ].filter((part) => part.steps.length > 0);
  const span = Math.log((marks[marks.length - 1] ?? 10) / low);
  const isRight = (s: StepView): boolean => rateOf(s) > 0.85 * most.max;
  // Where more in flight gives no more, the curve rises straight up: names stand beside it.
  const isSteep = (k: number): boolean => [set.closed[k - 1], set.closed[k + 1]].some((o) => o !== undefined && Math.abs(rateOf(o) - rateOf(set.closed[k] as StepView)) < 0.05 * most.max);
  const named = roomy(set.closed.map((s) => ({ x: (rateOf(s) / most.max) * (width - 72) - (isRight(s) ? 24 : 0), y: (1 - Math.log((latency(s.lat_ns, name) ?? NaN) / low) / span) * (GOAL_PX - 58) + (isRight(s) ? 12 : 0) })), 46, 18);
  return {
    grid: { left: 56, right: 16, top: 14, bottom: 44 },
    xAxis: { ...axisStyle(p), type: "value", min: 0, ...most, interval: width < 360 ? most.max / 2 : most.interval, name: text.picture.iopsAxis, nameLocation: "middle", nameGap: 26, splitLine: { show: false }, axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true, formatter: countTick } },
    yAxis: { ...axisStyle(p), type: "log", min: low, max: marks[marks.length - 1], axisTick: { customValues: marks, lineStyle: { color: p.muted } }, splitLine: { customValues: marks, lineStyle: { color: p.hairline } }, axisLabel: { color: p.muted, fontSize: 12, customValues: marks, formatter: timeTick } },
    tooltip: {
      ...tooltipStyle(p), trigger: "item",
      formatter: (raw: unknown) => {
        const q = raw as Params;
        const part = parts.find((x) => x.label === q.seriesName);
        const s = part?.steps[q.dataIndex];
        if (!part || !s) return "";
        const ci = s.lat_ns?.ci95[name];
        return tip(`${part.label}${text.comma}${pointName(s)}`, [
          row(part.color, text.picture.iopsAxis, whole(s.iops)),
          row("transparent", name === "mean" ? text.picture.mean : name, `${time(latency(s.lat_ns, name))}${ci ? ` <em>${time(ci[0])}–${time(ci[1])}</em>` : ""}`),
        ], `${whole(s.lat_ns?.samples ?? 0)} ${text.chart.samples}`);
      },
    },
    series: parts.map((part, i) => ({
      type: "line", name: part.label, symbol: part.symbol, symbolSize: 8, emphasis: { disabled: true }, lineStyle: { color: part.color, width: 2, type: part.dash }, itemStyle: { color: part.color }, z: 3,
      data: part.steps.map((s, k) => ({
        value: [rateOf(s), latency(s.lat_ns, name) ?? "-"],
        label: s.rate_iops === null && named[k] === true ? { show: true, position: isRight(s) ? "left" : rateOf(s) < 0.08 * most.max || isSteep(k) ? "right" : "top", formatter: pointName(s), color: p.muted, fontSize: 11, ...rim(p) } : undefined,
      })),
      ...(i === 0 && goal !== undefined
        ? {
            markLine: { silent: true, symbol: "none", lineStyle: { color: p.warn, width: 1.5, type: "dashed" }, label: { show: false }, data: [{ yAxis: goal.mostNs }] },
            ...(goal.kept === null ? {} : { markArea: { silent: true, itemStyle: { color: p.op.mixed, opacity: 0.13 }, label: { show: false }, data: [[{ xAxis: 0, yAxis: low }, { xAxis: rateOf(goal.kept), yAxis: goal.mostNs }]] } }),
          }
        : {}),
    })),
  } as unknown as EChartsOption;
}
