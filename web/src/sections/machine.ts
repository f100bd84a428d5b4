/** The machine: drawn, with its settings, what was advised, and everything else that is known of it. */

import { family, hasFigures } from "../curves";
import type { Document, StepView } from "../document";
import { el, section, select } from "../dom";
import { inventoryOf } from "../host";
import { say, text } from "../text";
import { hostFacts } from "./facts";
import { advice, interrupts, settings } from "./settings";
import { topology } from "./topology";

/** The step whose load is shown first: the one with the most bytes, for it asks most of the links. */
function busiest(steps: readonly StepView[]): StepView | null {
  return steps.reduce<StepView | null>((best, s) => (best === null || s.bytes_per_s > best.bytes_per_s ? s : best), null);
}

/** Section 8. */
export function machine(doc: Document): HTMLElement {
  const t = text.machine;
  const facts = hostFacts(doc.host);
  const inventory = inventoryOf(doc);
  if (!inventory) return section("machine", text.sections.machine, facts ?? el("p.note", {}, t.none));
  const counted = doc.steps.filter((s) => hasFigures(s) && s.host_delta !== null);
  const drawing = el("div");
  const first = busiest(counted);
  let shown = first;
  const vectors = interrupts(doc, inventory, () => shown);
  const show = (step: StepView | null): void => {
    shown = step;
    drawing.replaceChildren(topology(doc, inventory, step));
    vectors?.update();
  };
  show(first);
  const pick =
    counted.length > 1
      ? select(t.loadOf, counted.map((s) => ({ value: String(s.index), label: say(s.label), group: family(s) })), String(first?.index), (v) => show(counted.find((s) => s.index === Number(v)) ?? null))
      : null;
  return section(
    "machine",
    text.sections.machine,
    pick ? el("div.picks", {}, pick) : null,
    drawing,
    advice(doc),
    vectors?.node ?? null,
    settings(doc, inventory),
    facts ? el("details.all-facts", {}, el("summary", {}, t.allFacts), facts) : null,
  );
}
