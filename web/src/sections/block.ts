/** What the blocks of a study are made of. */

import type { Line } from "../curves";
import { el } from "../dom";
import { lineLooks } from "../options";
import { palette, type Palette } from "../palette";

/** Colours with their names, by day and by night. */
export function legendOf(entries: readonly { label: string; tone: (p: Palette) => string; mark?: "hatched" | "diamond" }[], always = false): HTMLElement {
  return el(always ? "ul.legend.always" : "ul.legend", {}, ...entries.map((e) => {
    const mark = el("i", { class: e.mark });
    mark.style.setProperty("--day", e.tone(palette(false)));
    mark.style.setProperty("--night", e.tone(palette(true)));
    return el("li", {}, mark, e.label);
  }));
}

/** Names of lines with their colours, where labels beside the lines have no room. */
export function keys(all: readonly Line[], always = false): HTMLElement {
  return legendOf(all.map((l, i) => ({ label: l.label, tone: (p) => lineLooks(all, p)[i]?.color ?? "" })), always);
}

/** A part of the section with its own heading. */
export function block(title: string, ...children: (Node | string | null)[]): HTMLElement {
  return el("div.block", {}, el("h3", {}, title), ...children);
}
