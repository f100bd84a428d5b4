/** The first words of an answer, which a reader takes in at one look; the others are folded. Pure. */

/** An answer up to this long stands whole. Chinese says as much in half the characters. */
const WHOLE_MAX = 170;

const isChinese = (words: string): boolean => /[\u4e00-\u9fff]/.test(words);

/** An answer as its first sentence and the rest, which is empty where the answer is short. */
export function headline(answer: string): { first: string; rest: string } {
  const most = isChinese(answer) ? WHOLE_MAX / 2 : WHOLE_MAX;
  if (answer.length <= most) return { first: answer, rest: "" };
  // A sentence ends at a full stop before a space and what a sentence begins with: not in 4.2, not in "vs. x".
  const end = /[.!?](?= [A-Z0-9`])|[。！？]/.exec(answer);
  const at = end ? end.index + 1 : answer.length;
  return { first: answer.slice(0, at), rest: answer.slice(at).trim() };
}
