/** Writes made durable in several ways. */

import { durableLoads } from "../commits";
import type { Document } from "../document";
import { POINTS_MIN } from "../goals";
import { commits } from "../pictures/commits";
import { panelsPx } from "../pictures/panels";
import { picture } from "../stage";
import { text } from "../text";
import { block } from "./block";

/** Each way and size beside the others, where a run tried several. */
export function commitBlock(doc: Document): HTMLElement | null {
  const steps = durableLoads(doc);
  const ways = new Set(steps.map((s) => `${s.block_size_bytes} ${s.load_words}`));
  if (ways.size < POINTS_MIN) return null;
  return block(text.study.commits, picture(text.study.commitsTitle, text.study.commitsNote, (w) => panelsPx(steps.length, w), (p, w) => commits(steps, p, w)).node);
}
