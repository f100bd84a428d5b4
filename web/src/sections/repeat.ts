/** What it takes to do it again, and what to know before believing it. */

import { isImported } from "../curves";
import type { Document, StepView } from "../document";
import { copyButton, el, facts, rich, section, smallTable } from "../dom";
import { say, text } from "../text";

/** Texts that are the same in several steps are said once, with the steps they belong to. */
export function grouped(entries: readonly (readonly [string, string])[]): { said: string; labels: string[] }[] {
  const found = new Map<string, string[]>();
  for (const [said, label] of entries) {
    const labels = found.get(said);
    if (labels) labels.push(label);
    else found.set(said, [label]);
  }
  return [...found.entries()].map(([said, labels]) => ({ said, labels }));
}

const NAMED = 4;

function groupedList(entries: readonly (readonly [string, string])[]): HTMLElement {
  return el(
    "ul",
    {},
    ...grouped(entries).map((g) => el("li", {}, rich(say(g.said)), el("span.note", {}, ` ${text.repeat.steps(g.labels.slice(0, NAMED).map(say).join("; "), Math.max(0, g.labels.length - NAMED))}`))),
  );
}

function block(title: string, ...children: (Node | string | null)[]): HTMLElement {
  return el("div.block", {}, el("h3", {}, title), ...children);
}

function code(content: string): HTMLElement {
  return el("div.code", {}, el("pre", { tabindex: 0 }, content), copyButton(text.repeat.copy, text.answer.copied, text.steps.failed, () => content));
}

function checks(steps: readonly StepView[]): HTMLElement {
  const t = text.repeat;
  const names = [...new Set(steps.flatMap((s) => s.checks.map((c) => c.name)))];
  if (names.length === 0) return block(t.checks, el("p.note", {}, t.noChecks));
  const rows = names.map((name) => {
    const all = steps.flatMap((s) => s.checks.filter((c) => c.name === name));
    const bad = all.filter((c) => c.ok === false).length;
    return [t.checkNames[name] ?? name.replace(/_/g, " "), String(all.filter((c) => c.ok === true).length), bad === 0 ? "0" : el("b.bad", {}, String(bad)), String(all.filter((c) => c.ok === null).length)];
  });
  const violated = steps.flatMap((s) => s.checks.filter((c) => c.ok === false).map((c) => [c.sentence, s.label] as const));
  return block(t.checks, smallTable(t.checkColumns, rows), violated.length > 0 ? el("div.caveats", {}, el("h4", {}, t.violated), groupedList(violated)) : null);
}

function seeds(doc: Document): string {
  const all = [...new Set(doc.run.plan.steps.map((s) => String(s.seed)))];
  const [only] = all;
  if (only === undefined) return "";
  return all.length === 1 ? text.repeat.seedSame(only) : text.repeat.seedMany(all.length);
}

/** Section 9. */
export function repeat(doc: Document): HTMLElement {
  const t = text.repeat;
  const warnings = doc.steps.flatMap((s) => s.warning_texts.map((w) => [w, s.label] as const));
  const commands = doc.run.fio_commands;
  return section(
    "repeat",
    text.sections.repeat,
    block(t.warnings, warnings.length > 0 ? groupedList(warnings) : el("p.note", {}, t.noWarnings)),
    checks(doc.steps),
    block(t.command, code(doc.run.command), ...(isImported(doc) ? [] : [el("p.note", {}, t.againLabel), code(t.again(doc.run.id))])),
    doc.run.plan.source === "" ? null : block(t.plan, code(doc.run.plan.source)),
    doc.run.plan.notes.length > 0 ? block(t.notes, el("ul", {}, ...doc.run.plan.notes.map((n) => el("li", {}, say(n))))) : null,
    commands.length > 0
      ? block(t.fio, el("p.note", {}, t.fioNote(commands.length, doc.steps.length)), code(commands.map((c) => c.command).join("\n")))
      : null,
    block(t.versions, facts([[t.program, doc.fathom], [t.schema, String(doc.schema)], [t.seeds, seeds(doc)]])),
    block(t.method, el("ul", {}, ...t.methods.map((m) => el("li", {}, m))), el("p.note", {}, t.methodsFile)),
  );
}
