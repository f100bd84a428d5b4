/** Puts the page together from the one document inside it: a run, a comparison, or the articles redone. */

import { nameOf } from "./brief";
import { parseDocument, unpack, type Document, type Shown } from "./document";
import { el } from "./dom";
import { answer, figures } from "./sections/answer";
import { comparisonAnswer, comparison } from "./sections/comparison";
import { cost } from "./sections/cost";
import { load, tail } from "./sections/load";
import { machine } from "./sections/machine";
import { repeat } from "./sections/repeat";
import { reproduction } from "./sections/reproduction";
import { steps } from "./sections/steps";
import { runBlock, study } from "./sections/study";
import { time } from "./sections/time";
import { clearStage } from "./stage";
import { LANGUAGES, language, say, speak, text, type Language } from "./text";
import { themeSwitch } from "./theme";

function sideList(sections: readonly HTMLElement[]): HTMLElement {
  const links = sections.map((s) => el("a", { href: `#${s.id}` }, s.querySelector("h2")?.textContent ?? text.sections.answer));
  const near = new Set<Element>();
  const watch = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) near.add(entry.target);
        else near.delete(entry.target);
      }
      const current = sections.findIndex((s) => near.has(s));
      links.forEach((link, i) => (i === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    },
    { rootMargin: "-20% 0px -60% 0px" },
  );
  for (const s of sections) watch.observe(s);
  return el("nav", { "aria-label": text.contents }, ...links);
}

/** Sections of a run, in the order a reader asks for them. */
function runSections(doc: Document): (HTMLElement | null)[] {
  const inTime = time(doc);
  const run = runBlock(doc);
  if (run) inTime.node.append(run);
  const showInTime = (index: number): void => {
    inTime.show(index);
    inTime.node.scrollIntoView();
  };
  const own = study(doc);
  const ladders = load(doc);
  const tails = tail(doc);
  // The picture that answers stands first: the study's own, else the ladder, else the one step's latencies.
  const lead = own ?? ladders ?? tails;
  lead.classList.add("lead");
  const rest = [own, ladders, tails].filter((s) => s !== lead);
  return [answer(doc), lead, figures(doc), ...rest, cost(doc), inTime.node, steps(doc, showInTime), machine(doc), repeat(doc)];
}

function languageSwitch(doc: Shown): HTMLElement {
  const codes = Object.keys(LANGUAGES) as Language[];
  const choose = (code: Language): void => {
    speak(code, doc.sentences?.[code] ?? {});
    page(doc);
  };
  const buttons = codes.map((c) => el("button.quiet", { type: "button", lang: LANGUAGES[c].code, "aria-pressed": c === language ? "true" : "false", onclick: () => choose(c) }, LANGUAGES[c].name));
  return el("div.languages", { role: "group", "aria-label": text.language }, ...buttons);
}

/** Sections of whatever the page holds, and what stands above them. */
function content(doc: Shown): { head: string; sections: (HTMLElement | null)[] } {
  if ("run" in doc) return { head: text.runHead(doc.run.id, nameOf(doc)), sections: runSections(doc) };
  if ("articles" in doc) return { head: text.reproduction.head, sections: reproduction(doc) };
  return { head: text.comparison.head(doc.sides.map((s) => say(s.title)).join(text.comparison.versus)), sections: [comparisonAnswer(doc), ...comparison(doc, null)] };
}

function page(doc: Shown): void {
  const app = document.getElementById("fathom-app");
  if (!app) throw new Error("the page has no place for the report");
  clearStage();
  document.documentElement.lang = text.code;
  const { head, sections: all } = content(doc);
  const sections = all.filter((s) => s !== null);
  document.title = `${text.brand} ${head}`;
  app.replaceChildren(
    el("a.skip", { href: "#answer" }, text.skip),
    el("header.top", {}, el("b", {}, text.brand), el("span", {}, head), languageSwitch(doc), themeSwitch()),
    sideList(sections),
    el("main", {}, ...sections),
  );
  app.classList.add("ready");
}

const source = document.getElementById("fathom-document");
try {
  const doc = parseDocument(await unpack(source?.textContent ?? ""));
  const asked = doc.lang;
  if (asked !== undefined && asked in LANGUAGES) speak(asked as Language, doc.sentences?.[asked] ?? {});
  page(doc);
  performance.mark("fathom-ready");
} catch (error) {
  // The static table stays where it is; the reason stands above it.
  const reason = error instanceof Error ? error.message : String(error);
  document.body.prepend(el("p.broken", { role: "alert" }, el("b", {}, `${text.broken}: `), reason));
  console.error(error);
}
