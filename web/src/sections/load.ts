/** The pictures that answer: IOPS and latency against load, then the tails of one ladder. */

import { answeredTail, families, hasFigures, headlineStep, isOfSync, isSameLoad, lastNines, latency, lines, mainLine, spread, strongest, tailCut, type Line } from "../curves";
import { QUANTILES, type Document, type Quantile, type StepView } from "../document";
import { el, section, select } from "../dom";
import { count3, duration } from "../format";
import { POINTS_MIN } from "../goals";
import { bendNote } from "../options";
import { areLaddersNamed, IOPS_PX, LATENCY_PX, TAILS_PX, iopsOverDepth, latencyOverDepth, latencyOverIops, tails } from "../pictures/load";
import { isRandom, kindOf, marks, type Mark } from "../published";
import { picture } from "../stage";
import { joined, text } from "../text";
import { keys } from "./block";
import { fitsLoad, publishedPick } from "./published";

/** More lines than these are a tangle. */
const LINES_MAX = 8;

/** More curves than these cannot be told apart. */
const CURVES_MAX = 8;

/** Choices of a ladder, grouped by workload. */
function lineOptions(all: readonly Line[]): { value: string; label: string; group: string }[] {
  return [...all].sort((a, b) => a.family.localeCompare(b.family)).map((l) => ({ value: l.key, label: joined(l.family, l.label), group: l.family }));
}

/** Names of the lines that are shown, with their colours. */
function legend(): { node: HTMLElement; show: (all: readonly Line[]) => void } {
  const node = el("div");
  return { node, show: (all) => node.replaceChildren(keys(all, !areLaddersNamed(all))) };
}

/** Whether lines make a picture: one of three points. Single loads are not joined by being near each other. */
function isDrawn(of: readonly Line[]): boolean {
  return of.some((l) => l.steps.filter((s) => s.rate_iops === null).length >= POINTS_MIN);
}

/** Section 3; `null`: no workload was measured under several loads. */
export function load(doc: Document): HTMLElement | null {
  const t = text.picture;
  const every = lines(doc);
  if (every.length === 0) return section("load", text.sections.picture, el("p.note", {}, t.none));
  const all = every.filter((l) => isDrawn(every.filter((other) => other.family === l.family)));
  const names = families(all);
  // A ladder of two loads makes no picture of its own.
  const answered = answerLine(all.filter((l) => l.steps.length >= POINTS_MIN), headlineStep(doc));
  const first = answered?.family ?? names[0];
  const main = answered ?? mainLine(all.filter((l) => l.family === first));
  if (first === undefined || !main) return null;

  let chosen = first;
  // A quantile that most steps are too short for would leave the picture empty.
  const isKnown = (q: Quantile | "mean"): boolean => 2 * main.steps.filter((s) => latency(s.lat_ns, q) !== null).length > main.steps.length;
  let name: Quantile | "mean" = (["p99", "p50"] as const).find(isKnown) ?? "mean";
  let ladder = main;
  let set = "";
  const inFamily = (): Line[] => all.filter((l) => l.family === chosen && l.steps.some((s) => s.rate_iops === null));
  const inSet = (): Line[] => inFamily().filter((l) => set === "" || l.set === set);
  const shown = (): Line[] => strongest(inSet(), LINES_MAX);

  const published = publishedPick(doc, fitsLoad(doc.steps), () => {
    iops.update();
    depth.update();
  });
  /** Published figures of what is drawn: the same operation, order and block size. */
  const beside = (metric: string): Mark[] =>
    marks(published.chosen(), metric, (p) => {
      const first = inFamily()[0]?.steps[0];
      return first !== undefined && first.pattern !== "unknown" && fitsLoad([first], false)(p) && inFamily().some((l) => l.kind === kindOf(p)) && isRandom(p) === (first.pattern !== "sequential");
    });
  const iops = picture(t.iopsOverQd, bendNote(all.map((l) => ({ ...l, loads: l.steps.map((s) => s.queue_depth) })), t.iopsOverQdNote, (range) => `QD ${range}`), IOPS_PX, (p, w) => iopsOverDepth(shown(), p, w, beside("iops")));
  const depth = picture(t.latOverQd(name), null, LATENCY_PX, (p, w) => latencyOverDepth(shown(), name, p, w, beside(`lat_${name}_ns`)));
  const stick = picture(`${t.latOverIops}${text.comma}${ladder.label}`, null, LATENCY_PX, (p, w) => latencyOverIops(ladder, p, w));
  const named = legend();
  const capped = el("p.note");

  const sets = el("span");
  const choose = (): void => {
    const of = inSet().length;
    capped.textContent = of > LINES_MAX ? t.capped(LINES_MAX, of) : "";
    named.show(shown());
    iops.update();
    depth.node.hidden = isUnknown(name);
    depth.update(t.latOverQd(name));
  };
  /** Whether fewer steps than make a picture are long enough for this quantile. */
  const isUnknown = (q: Quantile | "mean"): boolean => shown().flatMap((l) => l.steps).filter((s) => latency(s.lat_ns, q) !== null).length < POINTS_MIN;
  /** More lines than can be drawn are offered by what they share besides threads; the ladder's own set comes first. */
  const offerSets = (line: Line): void => {
    const family = inFamily();
    set = family.length > LINES_MAX ? line.set : "";
    const names = [...new Set(family.map((l) => l.set))];
    sets.replaceChildren(
      set === "" || names.length < 2
        ? ""
        : select(t.set, names.map((n) => ({ value: n, label: n })), set, (v) => {
            set = v;
            choose();
          }),
    );
  };
  const pickLadder = (line: Line): void => {
    ladder = line;
    stick.node.hidden = line.steps.length < POINTS_MIN;
    stick.update(`${t.latOverIops}${text.comma}${joined(line.family, line.label)}`);
  };
  const ladderPick = select(t.line, lineOptions(all), ladder.key, (key) => {
    const line = all.find((l) => l.key === key);
    if (line) pickLadder(line);
  });
  const familyPick =
    names.length > 1
      ? select(t.workload, names.map((n) => ({ value: n, label: n })), chosen, (v) => {
          chosen = v;
          const line = mainLine(all.filter((l) => l.family === v));
          if (!line) return;
          offerSets(line);
          choose();
          const list = ladderPick.querySelector("select");
          if (list) list.value = line.key;
          pickLadder(line);
        })
      : null;
  const quantilePick = select(t.quantile, [...["p50", "p90", "p99", "p99.9"], "mean"].map((q) => ({ value: q, label: q === "mean" ? t.mean : q })), name, (v) => {
    name = v as Quantile | "mean";
    depth.node.hidden = isUnknown(name);
    depth.update(t.latOverQd(v));
  });
  offerSets(ladder);
  choose();
  pickLadder(ladder);
  return section(
    "load",
    text.sections.picture,
    every.reduce((n, l) => n + l.steps.length, 0) < doc.steps.filter(hasFigures).length ? el("p.note", {}, t.repeats) : null,
    familyPick || published.node || set !== "" ? el("div.picks", {}, familyPick, sets, published.node) : null,
    named.node,
    iops.node,
    capped,
    published.note,
    el("div.picks", {}, quantilePick, all.length > 1 ? ladderPick : null),
    el("div.pair", {}, depth.node, stick.node),
  );
}

/** Name of a step within its ladder. */
function within(s: StepView): string {
  return s.rate_iops === null ? `QD${s.queue_depth}` : count3(s.rate_iops);
}

/** What each curve reaches, and what the next quantile would take. */
function cuts(steps: readonly StepView[]): HTMLElement {
  const t = text.tails;
  const sentences = steps.map((s) => {
    const cut = tailCut(s, QUANTILES);
    if (cut.next === null) return t.full(within(s));
    const more = duration(cut.seconds);
    return cut.reached === null ? t.cutShort(within(s), cut.next, more) : t.cut(within(s), cut.reached, cut.next, more);
  });
  return el("ul.cuts", {}, ...sentences.map((s) => el("li", {}, s)));
}

/** Line with the load of the answer; of rounds of one load the answer names the first, a line has the last. */
export function answerLine(all: readonly Line[], answer: StepView | undefined): Line | undefined {
  return answer && (all.find((l) => l.steps.includes(answer)) ?? all.find((l) => l.steps.some((s) => isSameLoad(s, answer))));
}

/** Line that the tails open on: that of the answer, else the longest; of those of one load the one that reaches deepest. */
export function tailLine(all: readonly Line[], answer: StepView | undefined): Line | undefined {
  const reach = (l: Line): number => Math.max(...l.steps.map(lastNines));
  const [longest] = [...all].sort((a, b) => b.steps.length - a.steps.length || reach(b) - reach(a));
  return answerLine(all, answer) ?? longest;
}

/** Section 4. */
export function tail(doc: Document): HTMLElement {
  const t = text.tails;
  const all = lines(doc)
    .map((l) => ({ ...l, steps: l.steps.filter((s) => answeredTail(s).length >= POINTS_MIN) }))
    .filter((l) => l.steps.length > 0);
  const headline = headlineStep(doc);
  const first = tailLine(all, headline);
  if (!first) return section("tails", text.sections.tails, el("p.note", {}, t.none));
  let line: Line = first;
  const shown = (): StepView[] => spread(line.steps, CURVES_MAX, headline);
  const caption = (): string => `${shown().some(isOfSync) ? t.titleOfSync : t.title}${text.comma}${joined(line.family, line.label)}`;
  const chart = picture(caption(), null, TAILS_PX, (p, w) => tails(shown(), line.kind, p, w, within));
  const notes = el("div");
  const show = (): void => {
    const steps = shown();
    notes.replaceChildren(cuts(steps), line.steps.length > steps.length ? el("p.note", {}, t.shown(steps.length, line.steps.length)) : "");
    chart.update(caption());
  };
  show();
  const pick = select(t.line, lineOptions(all), line.key, (key) => {
    line = all.find((l) => l.key === key) ?? line;
    show();
  });
  return section("tails", text.sections.tails, all.length > 1 ? el("div.picks", {}, pick) : null, chart.node, el("p.note", {}, t.rule), notes);
}

