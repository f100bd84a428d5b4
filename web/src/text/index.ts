/** The words in use. Modules import `text` and read it when they draw, so that another language needs a new drawing only. */

import { english, type Text } from "./en";
import { chinese } from "./zh";

export type { Text } from "./en";

/** Languages by their code. */
export const LANGUAGES = { en: english, zh: chinese } as const satisfies Record<string, Text>;
export type Language = keyof typeof LANGUAGES;

/** The words in use. */
export let text: Text = english;

/** Language of the words in use. */
export let language: Language = "en";

let sentences: Readonly<Record<string, string>> = {};

/** Takes another language. `own` are the document's own sentences in it, by their English. */
export function speak(code: Language, own: Readonly<Record<string, string>>): void {
  language = code;
  text = LANGUAGES[code];
  sentences = own;
}

/** A sentence of the document in the language in use; as it stands where there is no other. */
export function say(sentence: string): string {
  return sentences[sentence] ?? sentence;
}

/** A word of the document (a limit, a placement, an operation) in the language in use. */
export function word(name: string): string {
  return text.words[name] ?? name.replace(/_/g, " ");
}

/** Words put together: between two Chinese ones stands no space. */
export function joined(...words: string[]): string {
  return words.filter((w) => w !== "").join(" ").replace(/([\u4e00-\u9fff]) (?=[\u4e00-\u9fff])/g, "$1");
}
