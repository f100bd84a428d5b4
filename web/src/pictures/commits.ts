/** Ways to make writes durable: rate, mean and p99 of what makes them so. */

import type { EChartsOption } from "echarts";
import { commitWord, durableLatency, durableP99 } from "../commits";
import { latency, limitWord } from "../curves";
import type { StepView } from "../document";
import { count3, countTick, plusMinus, time, timeTick, whole } from "../format";
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
