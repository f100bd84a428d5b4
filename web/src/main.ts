/** Puts the page together from the one document inside it. */

import { parseDocument, type Document } from "./document";
import { el } from "./dom";
import { answer, figures } from "./sections/answer";
import { cost } from "./sections/cost";
import { load, tail } from "./sections/load";
import { machine } from "./sections/machine";
import { repeat } from "./sections/repeat";
import { steps } from "./sections/steps";
import { time } from "./sections/time";
import { text } from "./text";
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

function page(doc: Document): void {
  const app = document.getElementById("fathom-app");
  if (!app) throw new Error("the page has no place for the report");
  const inTime = time(doc);
  const showInTime = (index: number): void => {
    inTime.show(index);
    inTime.node.scrollIntoView();
  };
  const sections = [answer(doc), figures(doc), load(doc), tail(doc), cost(doc), inTime.node, steps(doc, showInTime), machine(doc), repeat(doc)].filter((s) => s !== null);
  app.replaceChildren(
    el("a.skip", { href: "#answer" }, text.skip),
    el("header.top", {}, el("b", {}, text.brand), el("span", {}, text.runHead(doc.run.id, doc.run.study)), themeSwitch()),
    sideList(sections),
    el("main", {}, ...sections),
  );
  app.classList.add("ready");
}

const source = document.getElementById("fathom-document");
try {
  page(parseDocument(source?.textContent ?? ""));
  performance.mark("fathom-ready");
} catch (error) {
  // The static table stays where it is; the reason stands above it.
  const reason = error instanceof Error ? error.message : String(error);
  document.body.prepend(el("p.broken", { role: "alert" }, el("b", {}, `${text.broken}: `), reason));
  console.error(error);
}
