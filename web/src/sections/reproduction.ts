/** The articles, redone: the count, predicted over published, the articles' pictures, every figure, every parameter. */

import type { ArticlePicture, FigureRow, Reproduction } from "../document";
import { copyButton, el, rich, section, select, smallTable } from "../dom";
import { percent } from "../format";
import { palette } from "../palette";
import { articleChart, metricWord, publishedOf, scatter, scatterGroups, seriesTones, valueText } from "../pictures/reproduction";
import { errorText } from "../pictures/study";
import { picture } from "../stage";
import { say, text } from "../text";

/** Beyond this error a figure is marked, percent. */
const FAR_PCT = 25;

function answer(doc: Reproduction): HTMLElement {
  const t = text.reproduction;
  const s = doc.summary;
  const share = (n: number, of: number): string => (of === 0 ? "–" : percent(n / of));
  const said = [t.heldOut(s.held_out_within_15_pct, s.held_out, share(s.held_out_within_15_pct, s.held_out)), t.far(s.beyond_25_pct, s.unexplained), s.contradicted > 0 ? t.contradicted(s.contradicted) : "", s.without_prediction > 0 ? t.without(s.without_prediction) : ""];
  return el(
    "section",
    { id: "answer", "aria-label": text.sections.answer },
    el("p.simulated", { role: "note" }, t.simulated),
    el("p.question", {}, t.question),
    el("h1", {}, t.answer(s.within_10_pct, s.figures, share(s.within_10_pct, s.figures))),
    el("ul", {}, ...said.filter((x) => x !== "").map((x) => el("li", {}, x))),
    smallTable([t.article, t.publisher, t.machines], doc.articles.map((a) => [a.url === null ? a.title : el("a", { href: a.url, rel: "noreferrer" }, a.title), a.publisher, a.machines.join(text.comma)]), 9),
  );
}

function scatters(doc: Reproduction): HTMLElement | null {
  const groups = scatterGroups(doc.figures);
  if (groups.length === 0) return null;
  const t = text.reproduction;
  return section("figures", t.scatter, el("p.note", {}, t.scatterNote), el("div.pair", {}, ...groups.map((g) => picture(metricWord(g.metric), null, 300, (p) => scatter(g.rows, g.metric, p)).node)));
}

function legend(names: readonly string[]): HTMLElement {
  const [day, night] = [seriesTones(names.length, palette(false)), seriesTones(names.length, palette(true))];
  return el("ul.legend.always", {}, ...names.map((name, i) => {
    const mark = el("i.block");
    mark.style.setProperty("--day", day[i] ?? "");
    mark.style.setProperty("--night", night[i] ?? "");
    return el("li", {}, mark, name);
  }));
}

function drawn(all: ArticlePicture): HTMLElement {
  const names = all.series.map((s) => s.name);
  return el(
    "div.block",
    {},
    el("h3", {}, say(all.title)),
    names.length > 1 ? legend(names) : null,
    el("div", { class: all.shows.length > 2 ? "triple" : "pair" }, ...all.shows.map((m) => picture(metricWord(m), null, 270, (p, w) => articleChart(all, m, p, w)).node)),
  );
}

function pictures(doc: Reproduction): HTMLElement | null {
  if (doc.pictures.length === 0) return null;
  const t = text.reproduction;
  const titles = new Map(doc.articles.map((a) => [a.id, a.title]));
  const blocks = [...new Set(doc.pictures.map((p) => p.article))].map((id) => el("div", {}, el("p.question", {}, titles.get(id) ?? id), ...doc.pictures.filter((p) => p.article === id).map(drawn)));
  return section("pictures", t.pictures, el("p.note", {}, t.pictureNote), ...blocks);
}

function marksOf(r: FigureRow): HTMLElement {
  const t = text.reproduction;
  const far = r.error_pct !== null && Math.abs(r.error_pct) > FAR_PCT;
  return el(
    "span",
    {},
    ...[
      r.contradiction === null ? null : el("b.bad", { title: r.contradiction }, t.contradicts),
      r.fitted ? el("span", {}, t.fitted) : null,
      far ? el("b.bad", {}, t.off) : null,
      r.counted ? null : el("span.note", {}, t.notCounted),
    ].flatMap((x, i, all) => (x === null ? [] : [all.slice(0, i).some((y) => y !== null) ? text.comma : null, x])),
  );
}

function rowOf(r: FigureRow): (Node | string)[] {
  const t = text.reproduction;
  const relation = r.relation === "=" || r.relation === "between" ? "" : `${r.relation} `;
  const published = r.published_max === null ? `${relation}${valueText(r.published, r.unit)}` : `${valueText(r.published, r.unit)} – ${valueText(r.published_max, r.unit)}`;
  const why = [r.reason, r.contradiction, r.assumed === null ? null : t.assumed(say(r.assumed))].filter((x) => x !== null);
  const far = r.error_pct !== null && Math.abs(r.error_pct) > FAR_PCT;
  return [
    el("span", {}, el("b", {}, metricWord(r.metric)), el("small", { title: r.id }, ` ${r.step === null ? r.id : say(r.step)}`), r.target === null ? null : el("small.note", {}, ` ${r.target}`), ...why.map((w) => el("small.why", {}, rich(say(w))))),
    published,
    valueText(r.predicted, r.unit),
    far ? el("b.bad", {}, errorText(r.error_pct)) : errorText(r.error_pct),
    marksOf(r),
  ];
}

/** The table as text that spreadsheets read. */
function csv(rows: readonly FigureRow[]): string {
  const quoted = (x: string | number | boolean | null): string => (x === null ? "" : /[",\n]/.test(String(x)) ? `"${String(x).replace(/"/g, '""')}"` : String(x));
  const head = ["id", "article", "metric", "unit", "published", "predicted", "error_pct", "fitted", "contradiction", "counted", "step", "target", "reason"];
  return [head.join(","), ...rows.map((r) => [r.id, r.article, r.metric, r.unit, publishedOf(r), r.predicted, r.error_pct, r.fitted, r.contradiction, r.counted, r.step, r.target, r.reason].map(quoted).join(","))].join("\n");
}

function table(doc: Reproduction): HTMLElement {
  const t = text.reproduction;
  const host = el("div.reproduced");
  let article = "";
  const chosen = (): FigureRow[] => doc.figures.filter((r) => article === "" || r.article === article);
  const show = (): void => {
    const ids = doc.articles.map((a) => a.id).filter((id) => chosen().some((r) => r.article === id));
    host.replaceChildren(...ids.map((id) => el("div.block", {}, el("h3", {}, doc.articles.find((a) => a.id === id)?.title ?? id), smallTable([t.figure, t.published, t.predicted, t.error, t.marks], chosen().filter((r) => r.article === id).map(rowOf)))));
  };
  show();
  const pick = select(t.article, [{ value: "", label: t.all }, ...doc.articles.map((a) => ({ value: a.id, label: a.title }))], article, (v) => {
    article = v;
    show();
  });
  return section("steps", t.table, el("div.picks", {}, doc.articles.length > 1 ? pick : null, copyButton(t.copied, text.steps.copied, text.steps.failed, () => csv(chosen()))), host);
}

function parameters(doc: Reproduction): HTMLElement | null {
  const t = text.reproduction;
  if (doc.parameters.length === 0) return null;
  return section("parameters", t.parameters, smallTable([t.parameter, t.machine, t.value, t.fittedTo], doc.parameters.map((p) => [p.parameter, p.machines.join(text.comma), p.value, el("small", {}, p.fitted_to.join(text.comma))]), 9));
}

/** All sections. */
export function reproduction(doc: Reproduction): (HTMLElement | null)[] {
  return [answer(doc), scatters(doc), pictures(doc), table(doc), parameters(doc)];
}
