/** Light or dark: the system's choice unless the reader makes another. */

import { el } from "./dom";
import { setDark } from "./stage";
import { text } from "./text";

const KEY = "fathom-theme";
const CHOICES = ["auto", "light", "dark"] as const;
type Choice = (typeof CHOICES)[number];

function stored(): Choice {
  try {
    const found = CHOICES.find((c) => c === localStorage.getItem(KEY));
    return found ?? "auto";
  } catch {
    return "auto"; // Some browsers keep no storage for files; then the choice lasts as long as the page.
  }
}

function store(choice: Choice): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // See `stored`.
  }
}

/** Three buttons; the charts follow. */
export function themeSwitch(): HTMLElement {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let choice = stored();
  const buttons = CHOICES.map((c) => el("button.quiet", { type: "button", onclick: () => choose(c) }, text.theme[c]));
  const apply = (): void => {
    if (choice === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = choice;
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", CHOICES[i] === choice ? "true" : "false"));
    setDark(choice === "dark" || (choice === "auto" && system.matches));
  };
  const choose = (c: Choice): void => {
    choice = c;
    store(c);
    apply();
  };
  system.onchange = apply;
  apply();
  return el("div.theme", { role: "group", "aria-label": text.theme.label }, ...buttons);
}
