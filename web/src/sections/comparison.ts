/** Two sides against each other: what else differs, the ratios, the pairs by load, and the table. */

import { comparedNames, pairSets, type PairSet } from "../cells";
import { opKind } from "../curves";
import type { ComparedStep, Comparison, Document } from "../document";
import { command, el, facts, rich, section, select, smallTable } from "../dom";
import { date, figure } from "../format";
import { palette } from "../palette";
import { change, forest, forestPx, metricOf, PAIR_PX, pairs, sideTones } from "../pictures/compare";
import { picture } from "../stage";
import { say, text, word } from "../text";
import { briefTable, nextLine } from "./answer";

/** Workloads under fewer loads than these have their rows in the forest, and no pictures of their own. */
const LOADS_MIN = 3;

/** Rows of the first look, as the terminal prints it; the picture and the table below have all of them. */
const ROWS_FIRST = 3;

/** Rows of the forest on one page; more are chosen by workload. */
const ROWS_MAX = 40;

/** Figures that stand beside each other in the pictures of pairs. */
const BESIDE = ["iops", "lat_mean", "cpu_per_io"];

/** The answer of a comparison page. */
export function comparisonAnswer(c: Comparison): HTMLElement {
  return el(
    "section",
    { id: "answer", "aria-label": text.sections.answer },
    el("p.question", {}, text.comparison.question(c.sides.map((s) => say(s.title)).join(text.comparison.versus))),
    c.besides === null ? null : el("p.besides", {}, rich(say(c.besides))),
    el("h1", {}, rich(say(c.answer))),
    briefTable({ ...c.brief, rows: c.brief.rows.slice(0, ROWS_FIRST) }),
    nextLine(c.brief),
    el(
      "details.folded",
      {},
      el("summary", {}, text.answer.folded),
      c.caveats.length > 0 ? el("div.caveats", {}, el("h3", {}, text.answer.caveats), el("ul", {}, ...c.caveats.map((x) => el("li", {}, rich(say(x)))))) : null,
      facts(c.sides.map((s) => [`${s.name}${text.colon}${say(s.title)}`, [s.study, date(s.started), text.answer.state[s.state] ?? s.state].filter((x) => x !== "").join(" · ")])),
      smallTable([text.comparison.sideColumn, text.repeat.command], c.sides.map((s) => [s.name, command(s.command)]), 9),
    ),
  );
}

function environment(c: Comparison): HTMLElement {
  const t = text.comparison;
  return section(
    "environment",
    t.environment,
    c.environment.length === 0
      ? el("p.note", {}, t.noDifference)
      : smallTable([t.area, t.what, ...c.sides.map((s) => say(s.title))], c.environment.map((d) => [word(d.area), say(d.what), ...d.values.map((v) => v ?? t.notSaid)]), 9),
  );
}

function legend(c: Comparison, set: PairSet): HTMLElement {
  const [day, night] = [sideTones(c, set.kind, palette(false)), sideTones(c, set.kind, palette(true))];
  return el("ul.legend.always", {}, ...c.sides.map((s, i) => {
    const mark = el("i.block");
    mark.style.setProperty("--day", day[i] ?? "");
    mark.style.setProperty("--night", night[i] ?? "");
    return el("li", {}, mark, `${s.name}${text.colon}${say(s.title)}`);
  }));
}

/** The pairs of one workload: rate, latency and CPU beside each other. */
function pairPictures(c: Comparison, set: PairSet): HTMLElement {
  const names = BESIDE.filter((n) => set.cells.some((cell) => [...cell.sides.values()].some((s) => metricOf(s, n))));
  return el("div.block", {}, el("h3", {}, set.title), legend(c, set), el("div.triple", {}, ...names.map((n) => picture(`${set.title}${text.colon}${word(n)}`, null, PAIR_PX, (p, w) => pairs(c, set, n, p, w)).node)));
}

function table(c: Comparison, names: ReadonlyMap<ComparedStep, string>): HTMLElement {
  const t = text.comparison;
  const [a] = c.sides;
  const row = (s: ComparedStep): (Node | string)[] => {
    const m = metricOf(s, s.metric);
    const cell = (name: string): string => {
      const x = metricOf(s, name);
      return x ? change(x.ratio) : "–";
    };
    return [
      el("span", {}, el("i", { class: `op ${opKind(s.load)}` }), " ", names.get(s) ?? "", s.notes.length > 0 ? el("small.warned", { title: s.notes.map(say).join(" ") }, ` ${s.notes.map(say).join(" ")}`) : null),
      say(c.sides.find((x) => x.name === s.side)?.title ?? s.side),
      m ? figure(m.a, m.unit) : "–",
      m ? figure(m.b, m.unit) : "–",
      s.ratio === null ? "–" : change(s.ratio),
      s.ci95 ? `${change(s.ci95[0])} … ${change(s.ci95[1])}` : "–",
      el(s.verdict === "slower" ? "b.bad" : s.verdict === "faster" ? "b" : "span", {}, word(s.verdict)),
      s.p_adjusted === null ? "–" : s.p_adjusted < 0.001 ? "<0.001" : s.p_adjusted.toFixed(3),
      cell("lat_mean"), cell("lat_p99"), cell("cpu_per_io"),
    ];
  };
  return smallTable([t.step, t.sideColumn, say(a?.title ?? "A"), t.other, t.change, t.interval, t.verdict, t.p, word("lat_mean"), word("lat_p99"), word("cpu_per_io")], c.steps.map(row), 2);
}

/** Sections of a comparison. On the page of a run (`run`), what surrounds it stands elsewhere. */
export function comparison(c: Comparison, run: Document | null): HTMLElement[] {
  const t = text.comparison;
  const sets = pairSets(c);
  const names = comparedNames(c.steps, run);
  let name = "iops";
  let chosen = "";
  const named = (s: ComparedStep): string => sets.find((set) => set.cells.some((cell) => [...cell.sides.values()].includes(s)))?.title ?? "";
  const rows = (): ComparedStep[] => c.steps.filter((s) => chosen === "" || named(s) === chosen).slice(0, ROWS_MAX);
  const ratios = picture(t.forest, t.forestNote(String(c.margin_pct)), (w) => forestPx(rows().length, w), (p, w) => forest(c, rows(), name, p, w, names));
  const metrics = [...new Set(c.steps.flatMap((s) => s.metrics.map((m) => m.name)))];
  const picks = el(
    "div.picks",
    {},
    metrics.length > 1 ? select(t.figure, metrics.map((m) => ({ value: m, label: word(m) })), name, (v) => { name = v; ratios.update(); }) : null,
    c.steps.length > ROWS_MAX && sets.length > 1 ? select(text.picture.workload, [{ value: "", label: text.steps.all }, ...sets.map((s) => ({ value: s.title, label: s.title }))], chosen, (v) => { chosen = v; ratios.update(); }) : null,
  );
  const many = sets.filter((s) => s.cells.length >= LOADS_MIN);
  const sections = [
    section(
      "compared",
      run ? t.inRun(c.sides.map((s) => say(s.title)).join(t.versus)) : t.ratios,
      run && many.length > 0 ? el("div", {}, ...many.map((set) => pairPictures(c, set))) : null,
      picks,
      ratios.node,
      run ? el("p", {}, rich(say(c.answer))) : null,
      c.steps.length > ROWS_MAX ? el("p.note", {}, t.capped(ROWS_MAX, c.steps.length)) : null,
      el("p.note", {}, t.fdr(String(Math.round(c.false_discovery_rate * 100)))),
    ),
  ];
  if (!run && many.length > 0) sections.push(section("pairs", t.pairs, ...many.map((set) => pairPictures(c, set))));
  const rest = c.unmatched.length > 0 ? el("div.block", {}, el("h3", {}, t.unmatched), smallTable([t.sideColumn, t.step, t.why], c.unmatched.map((u) => [u.side, say(u.label), say(u.why)]), 9)) : null;
  if (run) sections[0]?.append(el("details", {}, el("summary", {}, t.table), table(c, names), rest ?? ""));
  else sections.push(section("steps", t.table, table(c, names), rest));
  if (run) return sections;
  const [first, ...others] = sections;
  first?.classList.add("lead");
  return [...(first ? [first] : []), environment(c), ...others];
}
