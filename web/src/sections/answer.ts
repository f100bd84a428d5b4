/** The answer, and the figures that carry it. */

import { adviceOf, intervalsOf, limitOf, nextOf } from "../brief";
import { hasFigures, limitWord, isImported } from "../curves";
import type { Brief, Document, Figure, Json, StepView, Verdict } from "../document";
import { command, copyButton, el, facts, rich, section } from "../dom";
import { bytesBinary, bytesDecimal, date, duration, figure, figureParts, intervalOf, isChange, plusMinus } from "../format";
import { isLowerBound } from "../goals";
import { say, text } from "../text";

function list(title: string, items: readonly string[], kind = ""): HTMLElement | null {
  if (items.length === 0) return null;
  return el("div", { class: kind }, el("h3", {}, title), el("ul", {}, ...items.map((i) => el("li", {}, rich(say(i))))));
}

/** Names of the targets, each once. */
export function subject(doc: Document): string {
  const names = [...new Set(doc.steps.flatMap((s) => s.targets))];
  const shown = names.slice(0, 4).join(", ");
  return names.length > 4 ? `${shown} ${text.answer.more(names.length - 4)}` : shown;
}

/** The first text found under one of these names, looking into nested objects. */
export function findFact(json: Json, names: readonly string[]): Json | undefined {
  if (json === null || typeof json !== "object") return undefined;
  if (!Array.isArray(json)) {
    for (const name of names) {
      const value = json[name];
      if (typeof value === "string" || typeof value === "number") return value;
    }
  }
  for (const value of Object.values(json)) {
    const found = findFact(value, names);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first target's device and file system in a few words. */
function driveOf(host: Json): string {
  const targets = host !== null && typeof host === "object" && !Array.isArray(host) ? host["targets"] : undefined;
  const first = Array.isArray(targets) ? targets[0] : undefined;
  if (first === undefined) return "";
  const size = findFact(first, ["size_bytes"]);
  const parts = [
    findFact(first, ["fs_type"]), findFact(first, ["name"]), findFact(first, ["model"]),
    typeof size === "number" ? bytesDecimal(size) : undefined, findFact(first, ["transport"]),
  ];
  return parts.filter((x) => x !== undefined && x !== "").join(" · ");
}

function hostLine(host: Json): string {
  const memory = findFact(host, ["memory_bytes"]);
  const guest = findFact(host, ["hypervisor"]);
  const parts = [
    findFact(host, ["cpu_model"]),
    typeof memory === "number" ? bytesBinary(memory) : undefined,
    findFact(host, ["kernel"]),
    typeof guest === "string" ? text.answer.guest(guest) : undefined,
  ];
  return parts.filter((x): x is string => typeof x === "string" && x !== "").join(" · ");
}

/** What stands behind the figures, counted from the steps. */
export function counts(steps: readonly StepView[]): string[] {
  const t = text.answer;
  const usable = steps.filter(hasFigures);
  const parts = [t.measured(steps.filter((s) => s.state === "measured" || s.state === "imported").length, steps.length)];
  const refused = steps.filter((s) => s.state === "refused").length;
  const failed = steps.filter((s) => s.state === "failed").length;
  if (refused > 0) parts.push(t.refused(refused));
  if (failed > 0) parts.push(t.failed(failed));
  const widths = usable.flatMap((s) => (s.iops_ci95 && s.iops > 0 ? [(s.iops_ci95[1] - s.iops_ci95[0]) / 2 / s.iops] : [])).sort((a, b) => a - b);
  const [low, high] = [widths[0], widths[widths.length - 1]];
  if (low !== undefined && high !== undefined) parts.push(t.intervals(plusMinus([-low, low], 1), plusMinus([-high, high], 1)));
  const checks = steps.flatMap((s) => s.checks).filter((c) => c.ok !== null);
  if (checks.length > 0) parts.push(t.checks(checks.filter((c) => c.ok).length, checks.length));
  return parts;
}

/** True for a change without an interval: it may be noise. */
export function isUnproved(f: Pick<Figure, "unit" | "ci95">): boolean {
  return isChange(f.unit) && f.ci95 === null;
}

/** Name of a figure. The highest load that keeps a goal is a lower bound where higher loads are inconclusive. */
function figureName(doc: Document, f: Figure): string {
  return isLowerBound(doc, f.step) ? text.figures.lowerBound : say(f.name);
}

/** The answer and its figures as the text of a mail. */
export function asMail(doc: Document): string {
  const out: string[] = [];
  for (const v of doc.verdict) {
    out.push(say(v.question), "", say(v.brief.headline), ...v.brief.rows.map((r) => `  ${[r.name, ...r.cells].map(say).join("  ")}`), "", say(v.answer), "");
    for (const f of v.figures) out.push(`  ${figureName(doc, f)}${text.colon}${figure(f.value, f.unit)} ${intervalOf(f.ci95, f.value, f.unit)} (${say(f.load)})`);
    if (v.figures.length > 0) out.push("");
    for (const e of [...v.evidence, ...v.would_help, ...v.caveats]) out.push(`- ${say(e)}`);
    out.push("");
  }
  out.push(`${subject(doc)} · ${date(doc.run.started)} · ${[trustWords(doc), ...counts(doc.steps)].filter((w) => w !== "").join(text.comma)}`, isImported(doc) ? text.repeat.shown(doc.run.id) : text.repeat.again(doc.run.id));
  return out.join("\n");
}

/** `usable: 95 % intervals are ±8.0 % wide; intervals: headline ±4.2 %, ...`; empty for documents without. */
function trustWords(doc: Document): string {
  if (doc.trust === null) return "";
  const reasons = [...doc.trust.reasons.map(say), intervalsOf(doc)].filter((reason) => reason !== "").join("; ");
  return `${text.answer.level[doc.trust.level]}${reasons === "" ? "" : `${text.colon}${reasons}`}`;
}

/** Trust in the figures: its level, the reasons, and how to improve it. */
function trustLine(doc: Document): HTMLElement | null {
  const { trust } = doc;
  if (trust === null) return null;
  const mend = trust.mend === null ? null : el("span.mend", {}, rich(text.answer.mend(say(trust.mend))));
  return el("p.trust", { "data-level": trust.level }, el("b", {}, text.answer.trust), " ", rich(trustWords(doc)), mend && text.stop, mend);
}

/** Longer cells do not fit one line of a phone. */
const CELL_MAX = 46;

export function briefTable(brief: Brief, limit: string | null = null): HTMLElement | null {
  const rows = [...brief.rows, ...(limit === null ? [] : [{ name: text.steps.columns.limit, cells: [limit] }])];
  if (rows.length === 0) return null;
  const columns = Math.max(...rows.map((r) => r.cells.length));
  // The last cell of a short row has the room of those that the row lacks.
  const cells = (row: Brief["rows"][number]): HTMLElement[] =>
    row.cells.map((cell, i) => el(say(cell).length > CELL_MAX ? "td.long" : "td", i === row.cells.length - 1 && i < columns - 1 ? { colspan: String(columns - i) } : {}, rich(say(cell))));
  return el("table.brief", {}, ...rows.map((r) => el("tr", {}, el("th", { scope: "row" }, say(r.name)), ...cells(r))));
}

/** The command to go on with, else advice; `null`: neither. */
export function nextLine(brief: Brief, advice: ReturnType<typeof adviceOf> | null = null): HTMLElement | null {
  const next = nextOf(brief);
  const line = next === null ? advice : { command: next.command, sentence: say(next.why) };
  if (line === null) return null;
  return el("p.next", {}, el("b", {}, text.answer.next), " ", ...(line.command === null ? [] : [command(line.command), " "]), rich(line.sentence));
}

/** The first look: all that stands before the picture. Documents of older versions have the answer in full alone. */
function firstAnswer(v: Verdict, doc: Document): HTMLElement {
  const headline = say(v.brief.headline);
  return el(
    "div.verdict",
    {},
    el("p.question", {}, say(v.question)),
    el("h1", {}, rich(headline === "" ? say(v.answer) : headline)),
    briefTable(v.brief, limitOf(doc)),
    trustLine(doc),
    nextLine(v.brief, adviceOf(doc)),
  );
}

/** What is folded of an answer: its other sentences, what it rests on, what would help, and its limits. */
function folded(v: Verdict, isFirst: boolean): HTMLElement {
  const t = text.answer;
  return el(
    "div.verdict",
    {},
    isFirst ? null : el("p.question", {}, say(v.question)),
    isFirst ? null : el("p.headline", {}, rich(say(v.brief.headline))),
    isFirst ? null : briefTable(v.brief),
    el("p.answer", {}, rich(say(v.answer))),
    el("div.because", {}, list(t.evidence, v.evidence), list(t.help, v.would_help), list(t.caveats, v.caveats, "caveats")),
  );
}

/** A run in virtual time says so before anything else. */
function simulated(doc: Document): HTMLElement | null {
  const machine = doc.run.plan.machine;
  return machine ? el("p.simulated", { role: "note" }, text.simulated(machine.name)) : null;
}

/** Section 1. */
export function answer(doc: Document): HTMLElement {
  const t = text.answer;
  const state = t.state[doc.run.state] ?? doc.run.state;
  const verdicts = doc.verdict;
  const length = [duration(doc.run.elapsed_s), t.steps(doc.steps.length), state].filter((x) => x !== "").join(" · ");
  return el(
    "section",
    { id: "answer", "aria-label": text.sections.answer },
    simulated(doc),
    ...(verdicts[0] ? [firstAnswer(verdicts[0], doc)] : [el("p.question", {}, say(doc.run.question)), el("h1", {}, t.noVerdict)]),
    el(
      "details.folded",
      {},
      el("summary", {}, t.folded),
      ...verdicts.map((v, i) => folded(v, i === 0)),
      facts([
        [t.subject, [subject(doc), driveOf(doc.host) === "" ? null : ` · ${driveOf(doc.host)}`]],
        [t.host, hostLine(doc.host)],
        [t.when, date(doc.run.started)],
        [t.length, length],
        [t.counts, [el("a", { href: "#repeat" }, counts(doc.steps).join(" · "))]],
      ]),
      copyButton(t.copy, t.copied, text.steps.failed, () => asMail(doc)),
    ),
  );
}

/** Most figures in a row of a wide page. */
const FIGURES_PER_ROW = 7;

/** Figures in a row, so that all rows are about as long. */
export function perRow(figures: number): number {
  return Math.ceil(figures / Math.ceil(figures / FIGURES_PER_ROW));
}

/** Section 2. */
export function figures(doc: Document): HTMLElement | null {
  const all = doc.verdict.flatMap((v) => v.figures);
  if (all.length === 0) return null;
  const cells = all.map((f) => {
    const change = isUnproved(f);
    const { number, unit, also } = change ? figureParts(null, f.unit) : figureParts(f.value, f.unit);
    const step = doc.steps.find((s) => s.index === f.step);
    const expected = step?.predicted;
    const predicted = !expected ? null : f.unit === "iops" ? figure(expected.iops, "iops") : f.unit === "ns" ? figure(expected.lat_ns_mean, "ns") : null;
    return el(
      "div",
      {},
      el("dt", {}, figureName(doc, f)),
      el("dd", {}, el("b", {}, number), el("span.unit", {}, ` ${unit}`)),
      el("dd.note", {}, also === "" ? null : `${also} · `, el("span.ci", {}, change ? text.figures.unproved(figure(f.value, f.unit)) : intervalOf(f.ci95, f.value, f.unit) || text.figures.noInterval), predicted === null ? null : ` · ${text.figures.predicted(predicted)}`),
      el("dd.note", {}, say(f.load)),
      step?.role?.stream ? el("dd.note", {}, text.answer.streamLimit(limitWord(step.limit.name))) : null,
    );
  });
  return section("figures", text.sections.figures, el("dl.figures", { style: `--per-row: ${perRow(cells.length)}` }, ...cells));
}
