/** A few helpers instead of a framework: the page is drawn once and changes in three places. */

import { text } from "./text";

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

/** Text whose numbers stay on one line with their units: `±0.2 %`, `1.20 ms`, `87.1k IOPS`. */
export function withUnits(words: string): string {
  return words.replace(/(\d[kMG]?) (?=(?:%|ns|us|ms|s|min|h|IOPS|[KMGT]?i?B|kB|°C)(?![\w]))/g, "$1\u00a0");
}

/** An element: `el("p.note", { title }, "text")`. Functions become listeners of the event their name says (`onclick`). */
export function el<K extends keyof HTMLElementTagNameMap>(spec: K | `${K}.${string}`, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const [tag, ...classes] = spec.split(".");
  const node = document.createElement(tag as K);
  if (classes.length > 0) node.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.replace(/^on/, ""), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  const isCopied = tag === "code" || tag === "pre" || tag === "option";
  node.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false).map((c) => (typeof c === "string" && !isCopied ? withUnits(c) : c)));
  return node;
}

/** Splits text so that every other part is an option of a command, with its value behind `=`. */
export function splitOptions(words: string): string[] {
  return words.split(/((?<![\w-])--?[a-z][\w-]*(?:=[\w.:<>-]{1,24})?)/);
}

/** Text whose options do not break at their hyphens. */
export function unbroken(words: string): DocumentFragment {
  const out = document.createDocumentFragment();
  out.append(...splitOptions(withUnits(words)).map((part, i) => (i % 2 === 1 ? el("span.option", {}, part) : part)));
  return out;
}

/** Longer words of a command may break, for a phone has no room for them. */
const WORD_MAX = 30;

/** A command that breaks between its words only. */
export function command(words: string): HTMLElement {
  return el("code", {}, ...words.split(" ").flatMap((word, i) => [i === 0 ? null : " ", word.length > WORD_MAX ? word : el("span.option", {}, word)]));
}

/** Words with `code` in backticks, as the sentences of the document have it. */
export function rich(sentence: string): DocumentFragment {
  const out = document.createDocumentFragment();
  sentence.split("`").forEach((part, i, all) => {
    const closed = i % 2 === 1 && i < all.length - 1;
    out.append(closed ? command(part) : unbroken(i % 2 === 1 ? `\`${part}` : part));
  });
  return out;
}

/** Escapes text for the HTML that tooltips take. */
export function escapeHtml(raw: string): string {
  return raw.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** A drop-down with a visible label. */
export function select(label: string, options: readonly { value: string; label: string; group?: string }[], chosen: string, onChange: (value: string) => void): HTMLLabelElement {
  const list = el("select", { onchange: (e) => onChange((e.target as HTMLSelectElement).value) });
  let place: HTMLElement = list;
  let group: string | undefined;
  for (const option of options) {
    if (option.group !== group) {
      group = option.group;
      place = group === undefined ? list : list.appendChild(el("optgroup", { label: group }));
    }
    place.append(el("option", { value: option.value }, option.label));
  }
  list.value = chosen;
  return el("label.pick", {}, el("span", {}, label), list);
}

/** Puts text on the clipboard; `false` when the browser forbids it. */
export async function copyText(content: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(content);
    return true;
  } catch {
    const area = el("textarea", { "aria-hidden": "true", class: "offscreen" });
    area.value = content;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A button that copies and says so for a moment. */
export function copyButton(label: string, done: string, failed: string, content: () => string): HTMLButtonElement {
  const button = el("button.quiet", { type: "button" }, label);
  button.addEventListener("click", () => {
    void copyText(content()).then((ok) => {
      button.textContent = ok ? done : failed;
      window.setTimeout(() => {
        button.textContent = label;
      }, 2000);
    });
  });
  return button;
}

/** Offers text as a file. */
export function saveText(name: string, type: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  el("a", { href: url, download: name }).click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Rows of name and value. */
export function facts(rows: readonly (readonly [string, Child | Child[]])[], wide = false): HTMLDListElement {
  const list = el(wide ? "dl.facts.wide" : "dl.facts");
  for (const [name, value] of rows) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    list.append(el("dt", {}, name), el("dd", {}, ...(Array.isArray(value) ? value : [value])));
  }
  return list;
}

/** A box in which a wide table scrolls. A hint shows while columns are beyond the edge. */
export function scroller(table: HTMLTableElement, attributes: Attributes = {}): HTMLDivElement {
  const box = el("div.scroll", { tabindex: 0, "data-hint": text.moreColumns, ...attributes }, table);
  const sized = new ResizeObserver(() => box.classList.toggle("cut", box.scrollWidth > box.clientWidth + 1));
  sized.observe(box);
  sized.observe(table);
  return box;
}

/** A small table from texts; columns from `numeric` on are set flush right. */
export function smallTable(head: readonly string[], rows: readonly (readonly Child[])[], numeric = 1): HTMLDivElement {
  const align = (i: number): string => (i >= numeric ? "num" : "");
  return scroller(
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...head.map((h, i) => el("th", { scope: "col", class: align(i) }, h)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((c, i) => el("td", { class: align(i) }, c))))),
    ),
  );
}

/** One section of the page. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...children);
}
