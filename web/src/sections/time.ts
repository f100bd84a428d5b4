/** One step over time: rate, p99, and what the CPUs did. */

import { family, hasFigures, headlineStep, opKind } from "../curves";
import type { Document, StepView } from "../document";
import { el, section, select, smallTable } from "../dom";
import { bytesDecimal, percent } from "../format";
import { hasP99, heat, hostHeat, hostRates, overTime, overTimePx, temperatures } from "../pictures/time";
import { picture } from "../stage";
import { say, text } from "../text";

/** One statement where the rule of the specification and Fathom's own test of the same rounds disagree; `null`: they agree. */
export function twoTests(step: StepView): string | null {
  const s = step.steady;
  if (!s?.pts || !s.own || s.own.reached === s.reached) return null;
  return (s.reached ? text.time.onlyRule : text.time.onlyOwn)(text.time.rounds(s.rounds), say(s.own.sentence));
}

export function steadiness(step: StepView): string {
  const t = text.time;
  const s = step.steady;
  if (!s) return t.unjudged;
  const signed = (x: number): string => `${x > 0 ? "+" : x < 0 ? "−" : ""}${percent(Math.abs(x) / 100).replace(" %", "")}`;
  // A test of rounds is judged by them, any other step by the intervals of its window.
  const over = s.pts ? t.rounds(s.rounds) : t.intervals(s.rounds);
  const rule = hasP99(step) ? t.p99Rule : t.noP99;
  const both = twoTests(step);
  if (both !== null) return `${both}${text.gap}${rule}`;
  const head = s.reached ? t.steady(over) : s.why === "cannot_tell" ? t.unsure(over) : t.notSteady(over);
  const pct = s.drift_pct_per_minute;
  if (pct === null) return `${head}. ${rule}`;
  const drift = s.drift_ci95 ? t.drift(signed(pct), signed(s.drift_ci95[0]), signed(s.drift_ci95[1])) : t.driftPlain(signed(pct));
  return `${head}; ${drift}. ${rule}`;
}

const celsius = (c: number | null): string => (c === null ? "–" : `${c.toFixed(0)} °C`);
const bytes = (n: number | null): string => (n === null ? "–" : bytesDecimal(n));

/** What the drives reported over a step. */
function health(step: StepView): HTMLElement | null {
  const all = step.drive_health ?? [];
  if (all.length === 0) return null;
  const t = text.time;
  const rows = all.map((d) => [
    d.device, `${celsius(d.celsius_first)} → ${celsius(d.celsius_last)}`, celsius(d.celsius_max), celsius(d.warning_celsius), bytes(d.host_written_bytes), bytes(d.nand_written_bytes),
    d.write_amplification === null ? "–" : d.write_amplification.toFixed(2), d.throttled === null ? "–" : el("b.bad", {}, t.signs[d.throttled] ?? d.throttled),
  ]);
  return el("div.block", {}, el("h3", {}, t.health), smallTable(t.healthColumns, rows, 1));
}

function heatHeight(rows: number): number {
  return 96 + Math.min(420, Math.max(rows * 6, Math.min(rows * 22, 200)));
}

/** Section 6, and a way for the table to choose its step. */
export function time(doc: Document): { node: HTMLElement; show: (index: number) => void } {
  const t = text.time;
  const steps = doc.steps.filter((s) => s.series.start_s.length > 0);
  const answer = headlineStep(doc);
  const first = steps.find((s) => s === answer) ?? steps.find(hasFigures) ?? steps[0];
  if (!first) return { node: section("time", text.sections.time, el("p.note", {}, t.none)), show: () => undefined };
  let step = first;
  const series = picture(say(step.label), null, () => overTimePx(step), (p, w) => overTime(step, p.op[opKind(step)], p, w));
  const cpus = picture(text.cost.heat, null, () => heatHeight(Math.max(1, ...step.series.cpu_busy.map((b) => b.length))), (p) => (step.series.cpu_busy.length > 0 ? heat(step, p) : null), "canvas");
  const hosts = picture(t.hosts, null, () => heatHeight(hostRates(step)?.hosts.length ?? 1), (p) => hostHeat(step, p), "canvas");
  const warmth = picture(text.time.temperature, null, 190, (p) => temperatures(step, p));
  const drives = el("div");
  const said = el("p.note");
  const unsampled = el("p.note", {}, text.cost.heatNone);
  const pick = select(t.step, steps.map((s) => ({ value: String(s.index), label: say(s.label), group: family(s) })), String(step.index), (v) => show(Number(v)));
  const list = pick.querySelector("select");
  const show = (index: number): void => {
    step = steps.find((s) => s.index === index) ?? step;
    if (list) list.value = String(step.index);
    said.textContent = steadiness(step);
    cpus.node.hidden = step.series.cpu_busy.length === 0;
    unsampled.hidden = step.series.cpu_busy.length > 0;
    hosts.node.hidden = hostRates(step) === null;
    warmth.node.hidden = !(step.drive_health ?? []).some((d) => d.samples.filter((s) => s.celsius !== null).length > 1);
    drives.replaceChildren(health(step) ?? "");
    series.update(say(step.label));
    cpus.update();
    hosts.update();
    warmth.update();
  };
  const move = (by: number): void => {
    const next = steps[steps.indexOf(step) + by];
    if (next) show(next.index);
  };
  show(step.index);
  const picks = el(
    "div.picks",
    {},
    pick,
    el(
      "span.steer",
      {},
      el("button.quiet", { type: "button", "aria-label": t.previous, title: t.previous, onclick: () => move(-1) }, "←"),
      el("button.quiet", { type: "button", "aria-label": t.next, title: t.next, onclick: () => move(1) }, "→"),
    ),
  );
  return { node: section("time", text.sections.time, steps.length > 1 ? picks : null, series.node, said, hosts.node, cpus.node, unsampled, warmth.node, drives), show };
}
