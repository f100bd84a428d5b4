/** What each I/O costs the CPU. */

import { families, family, headlineStep, lines, representatives, spread } from "../curves";
import type { Document, StepView } from "../document";
import { el, section, select } from "../dom";
import { palette } from "../palette";
import { cpuPerIo } from "../paths";
import { cost as costOption, costPx } from "../pictures/cost";
import { picture } from "../stage";
import { text } from "../text";

/** As many bars as a page shows without scrolling. */
const BARS_MAX = 28;

const KINDS = ["user", "system", "irq", "worker"] as const;

/** The kinds of CPU time with their colours. */
export function costLegend(): HTMLElement {
  const [day, night] = [palette(false).cost, palette(true).cost];
  return el(
    "ul.legend.always",
    {},
    ...KINDS.map((kind) => {
      const mark = el("i.block");
      mark.style.setProperty("--day", day[kind]);
      mark.style.setProperty("--night", night[kind]);
      return el("li", {}, mark, text.cost.kinds[kind]);
    }),
  );
}

/** Section 5. */
export function cost(doc: Document): HTMLElement {
  const t = text.cost;
  const answer = headlineStep(doc);
  const hasCost = (s: StepView): boolean => cpuPerIo(s) !== null;
  const loads = new Set(representatives(doc));
  const counted = doc.steps.filter((s) => s === answer || (hasCost(s) && loads.has(s)));
  if (!counted.some(hasCost)) return section("cost", text.sections.cost, el("p.note", {}, t.none));
  const names = families(lines(doc)).filter((name) => counted.some((s) => family(s) === name));
  let chosen = counted.length <= BARS_MAX ? "" : answer ? family(answer) : (names[0] ?? "");
  const fitting = (): StepView[] => counted.filter((s) => chosen === "" || family(s) === chosen);
  const shown = (): StepView[] => spread(fitting(), BARS_MAX, answer);
  const chart = picture(t.title, answer ? t.headline : null, (w) => costPx(shown().length, w), (p, w) => costOption(shown(), p, w, answer));
  const notes = el("p.note");
  const show = (): void => {
    const of = fitting();
    const negative = shown().some((s) => s.cpu && Math.min(s.cpu.user_ns_per_io, s.cpu.system_ns_per_io, s.cpu.irq_ns_per_io) < 0);
    notes.textContent = [of.length > BARS_MAX ? t.capped(BARS_MAX, of.length) : "", negative ? t.noise : ""].filter((x) => x !== "").join(" ");
    chart.update();
  };
  show();
  const pick =
    counted.length > BARS_MAX && names.length > 1
      ? el("div.picks", {}, select(text.picture.workload, names.map((n) => ({ value: n, label: n })), chosen, (v) => {
          chosen = v;
          show();
        }))
      : null;
  return section("cost", text.sections.cost, pick, costLegend(), chart.node, notes);
}
