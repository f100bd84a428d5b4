/** The table of every step: sorted, filtered and paged, so that a thousand steps cost no more than fifty. */

import { answeredLatency, depthWord, isOfSync, limitWord, opKind, threadsWord } from "../curves";
import { toCsv } from "../csv";
import type { Document, Quantile, StepView } from "../document";
import { copyButton, el, saveText, scroller, section } from "../dom";
import { count3, duration, mebibytes, megabytes, plusMinus, quantile, time } from "../format";
import { detail } from "./detail";
import { ascending, matches, sortSteps, type SortKey } from "../order";
import { cpuPerIo } from "../paths";
import { say, text, word } from "../text";

/** Rows on a page. */
const PAGE = 50;

/** On paper everything is shown up to this many rows; beyond, the page at hand. */
const PRINT_MAX = 300;

interface Column {
  key: SortKey;
  label: string;
  title: string | null;
  cell: (s: StepView) => Node | string;
}

function quantileCell(s: StepView, name: Quantile): Node | string {
  const q = quantile(answeredLatency(s), name);
  if (q.kind === "value") return q.text;
  return q.kind === "needs" ? el("span.needs", { title: text.steps.needs(duration(q.seconds)) }, `+${duration(q.seconds)}`) : "–";
}

function columns(): Column[] {
  const c = text.steps.columns;
  const h = text.steps.titles;
  return [
    { key: "threads", label: c.threads, title: h.threads, cell: threadsWord },
    { key: "queue_depth", label: c.qd, title: h.qd, cell: depthWord },
    { key: "iops", label: c.iops, title: null, cell: (s) => count3(s.iops) },
    { key: "ci", label: c.ci, title: h.ci, cell: (s) => plusMinus(s.iops_ci95, s.iops) || "–" },
    { key: "bytes_per_s", label: c.mb, title: null, cell: (s) => megabytes(s.bytes_per_s) },
    { key: "bytes_per_s", label: c.mib, title: null, cell: (s) => mebibytes(s.bytes_per_s) },
    { key: "mean", label: c.mean, title: h.lat, cell: (s) => time(answeredLatency(s)?.mean) },
    { key: "p50", label: c.p50, title: h.lat, cell: (s) => quantileCell(s, "p50") },
    { key: "p99", label: c.p99, title: h.lat, cell: (s) => quantileCell(s, "p99") },
    { key: "p99.9", label: c.p999, title: h.lat, cell: (s) => quantileCell(s, "p99.9") },
    { key: "max", label: c.max, title: h.lat, cell: (s) => time(answeredLatency(s)?.max) },
    { key: "cpu", label: c.cpu, title: h.cpu, cell: (s) => time(cpuPerIo(s)) },
  ];
}

/** Section 7. */
export function steps(doc: Document, showInTime: (index: number) => void): HTMLElement {
  const t = text.steps;
  const cols = columns();
  const width = cols.length + 2;
  let sorted: { key: SortKey; up: boolean } = { key: "index", up: true };
  let wanted = "";
  let page = 0;
  let everything = false;
  const open = new Set<number>();
  // Threads and queue depth have columns of their own: a name has them only where workloads alone would be equal.
  const workloads = doc.steps.map((s) => s.workload_title || s.label);
  const isShort = new Set(workloads).size === workloads.length;
  const name = (s: StepView): string => say(isShort ? s.workload_title || s.label : s.label);
  const body = el("tbody");
  const said = el("p.note", { role: "status" });

  const chosen = (): StepView[] => sortSteps(doc.steps.filter((s) => matches(s, wanted, say(s.label))), sorted.key, sorted.up);

  const rowsOf = (s: StepView): HTMLElement[] => {
    const isOpen = open.has(s.index);
    const opener = el("button.opener", { type: "button", "aria-expanded": isOpen ? "true" : "false", "aria-label": t.details(say(s.label)), onclick: () => toggle(s.index) }, el("i", { class: `op ${opKind(s)}` }), el("span", {}, name(s)));
    const head = el("th", { scope: "row" }, opener, s.phase === "measure" ? null : el("small", {}, word(s.phase)), s.warnings.length > 0 ? el("small.warned", {}, t.warned(s.warnings.length)) : null);
    const bad = s.state !== "measured" && s.state !== "imported";
    const load = cols.slice(0, 2).map((c) => el("td.num", {}, c.cell(s)));
    const row = bad
      ? el("tr.bad", { "data-step": s.index }, head, ...load, el("td.why", { colspan: width - 3 }, el("div", {}, el("b", {}, `${t.states[s.state] ?? s.state}: `), say(s.reason ?? ""))))
      : el("tr", { "data-step": s.index }, head, ...load, ...cols.slice(2).map((c) => el("td.num", {}, c.cell(s))), el("td.limit", { title: say(s.limit.sentence) }, limitWord(s.limit.name)));
    return isOpen ? [row, el("tr.opened", {}, el("td", { colspan: width }, detail(s, doc, showInTime)))] : [row];
  };
  const previous = el("button.quiet", { type: "button", onclick: () => turn(-1) }, t.previous);
  const next = el("button.quiet", { type: "button", onclick: () => turn(1) }, t.next);

  const draw = (): void => {
    const list = chosen();
    const pages = Math.max(1, Math.ceil(list.length / PAGE));
    page = Math.min(page, pages - 1);
    const from = everything ? 0 : page * PAGE;
    const part = everything ? list : list.slice(from, from + PAGE);
    body.replaceChildren(...part.flatMap(rowsOf));
    if (list.length === 0) body.append(el("tr", {}, el("td", { colspan: width }, t.nothing)));
    said.textContent = list.length === 0 ? "" : t.shown(from + 1, from + part.length, list.length, doc.steps.length);
    previous.hidden = next.hidden = pages === 1;
    previous.disabled = page === 0;
    next.disabled = page === pages - 1;
    for (const th of head.querySelectorAll<HTMLElement>("th[data-key]")) {
      th.setAttribute("aria-sort", th.dataset["key"] !== sorted.key ? "none" : sorted.up ? "ascending" : "descending");
    }
  };
  const turn = (by: number): void => {
    page += by;
    draw();
  };
  const toggle = (index: number): void => {
    if (!open.delete(index)) open.add(index);
    draw();
    body.querySelector<HTMLElement>(`tr[data-step="${index}"] .opener`)?.focus();
  };
  const sortBy = (key: SortKey): void => {
    sorted = sorted.key === key ? { key, up: !sorted.up } : { key, up: ascending(key) };
    page = 0;
    draw();
  };
  const header = (key: SortKey, label: string, title: string | null, kind = "num"): HTMLElement =>
    el("th", { scope: "col", class: kind, "data-key": key, title }, el("button", { type: "button", onclick: () => sortBy(key) }, label));
  const head = el(
    "tr",
    {},
    header("index", t.columns.step, null, ""),
    ...cols.map((c) => header(c.key, c.label, c.title)),
    header("limit", t.columns.limit, null, "limit"),
  );
  const filter = el("input", {
    type: "search",
    placeholder: t.placeholder,
    "aria-label": t.filter,
    oninput: (e) => {
      wanted = (e.target as HTMLInputElement).value;
      page = 0;
      draw();
    },
  });
  window.addEventListener("beforeprint", () => {
    everything = chosen().length <= PRINT_MAX;
    draw();
  });
  window.addEventListener("afterprint", () => {
    everything = false;
    draw();
  });
  draw();
  return section(
    "steps",
    text.sections.steps,
    el(
      "div.picks",
      {},
      filter,
      copyButton(t.copy, t.copied, t.failed, () => toCsv(chosen())),
      el("button.quiet", { type: "button", onclick: () => saveText(`fathom-${doc.run.id}.csv`, "text/csv", toCsv(chosen())) }, t.save),
    ),
    scroller(el("table.steps", {}, el("thead", {}, head), body), { role: "region", "aria-label": text.sections.steps }),
    el("div.pager", {}, said, previous, next),
    doc.steps.some((s) => (["p50", "p99", "p99.9"] as const).some((q) => quantile(answeredLatency(s), q).kind === "needs")) ? el("p.note", {}, t.needsNote) : null,
    doc.steps.some(isOfSync) ? el("p.note", {}, t.ofSync) : null,
  );
}
