/** Durable writes and operations on files: rate, mean and p99 of each. */

import type { EChartsOption } from "echarts";
import { commitWord, durableLatency, durableP99, fileWord, streamWord } from "../commits";
import { answeredLatency, latency, limitWord, opKind } from "../curves";
import type { StepView } from "../document";
import { bytesDecimal, count3, countTick, plusMinus, time, timeTick, whole } from "../format";
import { exactTime, row, tip } from "../options";
import type { Palette } from "../palette";
import { text } from "../text";
import { dotPanels, type Measure } from "./panels";

function measures(): Measure[] {
  const t = text.study;
  return [
    { name: t.recordsAxis, of: (s) => s.iops, ci95: (s) => s.iops_ci95 ?? null, text: count3, tick: countTick, isLog: true },
    { name: t.durableMean, of: (s) => latency(durableLatency(s), "mean"), ci95: (s) => durableLatency(s)?.ci95["mean"] ?? null, text: time, tick: timeTick, isLog: true },
    { name: t.durableP99, of: durableP99, ci95: (s) => durableLatency(s)?.ci95["p99"] ?? null, text: time, tick: timeTick, isLog: true },
  ];
}

/** Streams that ran at once, and each of them alone where that was measured. */
export function streams(steps: readonly StepView[], p: Palette, width: number): EChartsOption {
  const rows = steps.map((step) => ({ step, name: streamWord(step), color: p.op[opKind(step)] }));
  const figures: Measure[] = [
    { name: text.picture.iopsAxis, of: (s) => s.iops, ci95: (s) => s.iops_ci95 ?? null, text: count3, tick: countTick },
    { name: text.study.bytesAxis, of: (s) => s.bytes_per_s, ci95: () => null, text: (v) => `${bytesDecimal(v)}/s`, tick: (v) => (v === 0 ? "0" : `${bytesDecimal(v)}/s`) },
    { name: "p99", of: (s) => latency(answeredLatency(s), "p99"), ci95: (s) => answeredLatency(s)?.ci95["p99"] ?? null, text: time, tick: timeTick },
  ];
  const told = (index: number): string => {
    const r = rows[index];
    if (!r) return "";
    const s = r.step;
    return tip(r.name, [
      row(r.color, text.picture.iopsAxis, `${whole(s.iops)} <em>${plusMinus(s.iops_ci95, s.iops)}</em>`),
      row("transparent", text.study.bytesAxis, `${bytesDecimal(s.bytes_per_s)}/s`),
      row("transparent", text.picture.mean, exactTime(latency(answeredLatency(s), "mean"))),
      row("transparent", "p99", exactTime(latency(answeredLatency(s), "p99"))),
    ], limitWord(s.limit.name));
  };
  return dotPanels(rows, figures, told, p, width);
}

/** Operations on files, one row each. */
export function files(steps: readonly StepView[], p: Palette, width: number): EChartsOption {
  const groups = new Set(steps.map((s) => s.group)).size;
  const rows = steps.map((step) => ({ step, name: fileWord(step, groups), color: p.op[opKind(step)] }));
  const figures: Measure[] = [
    { name: text.study.filesAxis, of: (s) => s.iops, ci95: (s) => s.iops_ci95 ?? null, text: count3, tick: countTick, isLog: true },
    ...(["mean", "p99"] as const).map((q): Measure => ({ name: q === "mean" ? text.picture.mean : q, of: (s) => latency(answeredLatency(s), q), ci95: (s) => answeredLatency(s)?.ci95[q] ?? null, text: time, tick: timeTick, isLog: true })),
  ];
  const told = (index: number): string => {
    const r = rows[index];
    if (!r) return "";
    const s = r.step;
    return tip(r.name, [
      row(r.color, text.study.filesAxis, `${whole(s.iops)} <em>${plusMinus(s.iops_ci95, s.iops)}</em>`),
      row("transparent", text.picture.mean, exactTime(latency(answeredLatency(s), "mean"))),
      row("transparent", "p99", exactTime(latency(answeredLatency(s), "p99"))),
    ], limitWord(s.limit.name));
  };
  return dotPanels(rows, figures, told, p, width);
}

export function commits(steps: readonly StepView[], p: Palette, width: number): EChartsOption {
  const rows = steps.map((step) => ({ step, name: commitWord(step), color: p.op.write }));
  const told = (index: number): string => {
    const s = steps[index];
    if (!s) return "";
    return tip(commitWord(s), [
      row(p.op.write, text.study.recordsAxis, `${whole(s.iops)} <em>${plusMinus(s.iops_ci95, s.iops)}</em>`),
      row("transparent", text.study.durableMean, exactTime(latency(durableLatency(s), "mean"))),
      row("transparent", text.study.durableP99, exactTime(durableP99(s))),
      row("transparent", text.study.writeMean, exactTime(s.write?.lat_ns?.mean ?? null)),
    ], limitWord(s.limit.name));
  };
  return dotPanels(rows, measures(), told, p, width);
}
