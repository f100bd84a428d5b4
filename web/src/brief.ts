/** What of a first look a page draws. Pure. */

import { hasFigures, headlineFigure, headlineStep, limitWord, isImported } from "./curves";
import type { Brief, Document, PairView, StepView } from "./document";
import { count3, isChange, plusMinus } from "./format";
import { say, text } from "./text";

/** The command to go on with; `null` where there is none, or where it would only make the page that is being read. */
export function nextOf(brief: Brief): NonNullable<Brief["next"]> | null {
  const leadsHere = brief.next !== null && /^fathom (report |compare .* -o )/.test(brief.next.command);
  return leadsHere ? null : brief.next;
}

/** Name of a run: its study or its job file; the loads of a run without either. */
export function nameOf(doc: Pick<Document, "run" | "steps">): string {
  const [first, ...more] = [...new Set(doc.steps.map((s) => say(s.label)))];
  if (doc.run.study !== "io" || first === undefined) return doc.run.study;
  return more.length === 0 ? first : `${first} ${text.answer.more(more.length)}`;
}

/** Intervals of the headline and of the widest step, each with its name; the reasons of the trust have the median. Empty where trust does not depend on intervals. */
export function intervalsOf(doc: Pick<Document, "steps" | "verdict" | "trust">): string {
  const figure = headlineFigure(doc);
  const width = (s: StepView): number => (s.iops_ci95 ? (s.iops_ci95[1] - s.iops_ci95[0]) / s.iops : 0);
  const steps = doc.steps.filter((s) => hasFigures(s) && s.iops_ci95 && !s.stages?.length).sort((a, b) => width(a) - width(b));
  const widest = steps[steps.length - 1];
  if (!["usable", "poor"].includes(doc.trust?.level ?? "") || !figure?.ci95 || isChange(figure.unit) || steps.length < 2 || !widest?.iops_ci95) return "";
  return text.answer.widths(plusMinus(figure.ci95, figure.value), plusMinus(widest.iops_ci95, widest.iops), say(widest.label));
}

/** Step of the same workload whose rate is nearest to a step's and whose limit is a part of the machine. */
function limitedStep(doc: Pick<Document, "steps">, answer: StepView): StepView | undefined {
  const away = (s: StepView): number => Math.abs(Math.log(s.iops / answer.iops));
  const isPart = (s: StepView): boolean => !["rate", "unknown", "queue_depth"].includes(s.limit.name);
  return doc.steps.filter((s) => hasFigures(s) && isPart(s) && s.op === answer.op && s.pattern === answer.pattern && s.block_size_bytes === answer.block_size_bytes).sort((a, b) => away(a) - away(b))[0];
}

/** The nearest pair of higher rates that was tried and failed, with its outcome. */
function failedPair(doc: Pick<Document, "surfaces">, answer: StepView): string | null {
  const pairs = doc.surfaces.flatMap((s) => s.pairs);
  const kept = pairs.find((q) => q.step === answer.index);
  if (!kept) return null;
  const sum = (q: PairView): number => q.reads_per_s + q.writes_per_s;
  const [nearest] = pairs.filter((q) => (q.outcome === "not_held" || q.outcome === "missed") && q.reads_per_s >= 0.99 * kept.reads_per_s && q.writes_per_s >= 0.99 * kept.writes_per_s).sort((a, b) => sum(a) - sum(b));
  return nearest ? `${text.study.pairRates(count3(nearest.reads_per_s), count3(nearest.writes_per_s))}${text.colon}${text.study.pairOutcome[nearest.outcome]}` : null;
}

/** Sentence about the limit of the headline, with its load and its evidence; `null` where the first look names that limit already. */
export function limitOf(doc: Pick<Document, "steps" | "verdict" | "surfaces">): string | null {
  const step = headlineStep(doc);
  const brief = doc.verdict[0]?.brief;
  // Each stream has its limit in its own row; a change has none.
  if (!step || !brief || step.role?.stream || isChange(headlineFigure(doc)?.unit ?? "")) return null;
  // An offered rate limits itself; a reader asks for the part that limits higher rates.
  if (step.limit.name === "rate") {
    const limited = limitedStep(doc, step);
    const beyond = limited ? say(limited.limit.sentence) : failedPair(doc, step);
    if (beyond !== null) return text.answer.beyond(beyond);
  }
  const said = [brief.headline, ...brief.rows.flatMap((r) => [r.name, ...r.cells])].map(say).join(" ");
  const sentence = say(step.limit.sentence);
  return sentence === "" || said.includes(limitWord(step.limit.name)) ? null : `${say(step.label)}${text.colon}${sentence}`;
}

/** Advice where no command leads on: that of the answer, else what would raise the limit of the headline, else a repetition. */
export function adviceOf(doc: Pick<Document, "steps" | "verdict" | "run" | "trust">): { sentence: string; command: string | null } {
  if (isImported(doc)) return { sentence: text.repeat.shownLabel, command: text.repeat.shown(doc.run.id) };
  const step = headlineStep(doc);
  // A step at an offered rate advises a higher rate, which may be one that was tried and failed.
  const limited = step?.limit.name === "rate" ? limitedStep(doc, step) : step;
  const [help] = [...(doc.verdict[0]?.would_help ?? []), ...(limited?.limit.would_help ?? [])];
  return help === undefined ? { sentence: text.repeat.againLabel, command: text.repeat.again(doc.run.id) } : { sentence: say(help), command: null };
}
