/** Writes made durable in several ways, operations on files, and streams. */

import { durableLoads, fileLoads, streamLoads } from "../commits";
import { hasFigures } from "../curves";
import type { Document } from "../document";
import { POINTS_MIN } from "../goals";
import { commits, files, streams } from "../pictures/commits";
import { panelsPx } from "../pictures/panels";
import { picture } from "../stage";
import { text } from "../text";
import { block } from "./block";

/** Loads that ran at once, where they are what the run is about. */
export function streamBlock(doc: Document): HTMLElement | null {
  const steps = streamLoads(doc);
  if (steps.length < 2 || steps.length < doc.steps.filter(hasFigures).length) return null;
  return block(text.study.streams, picture(text.study.streamsTitle, text.study.streamsNote, (w) => panelsPx(steps.length, w), (p, w) => streams(steps, p, w)).node);
}

/** Each operation on files. */
export function fileBlock(doc: Document): HTMLElement | null {
  const steps = fileLoads(doc);
  if (steps.length < POINTS_MIN) return null;
  return block(text.study.files, picture(text.study.filesTitle, text.study.filesNote, (w) => panelsPx(steps.length, w), (p, w) => files(steps, p, w)).node);
}

/** Each way and size beside the others, where a run tried several. */
export function commitBlock(doc: Document): HTMLElement | null {
  const steps = durableLoads(doc);
  const ways = new Set(steps.map((s) => `${s.block_size_bytes} ${s.load_words}`));
  if (ways.size < POINTS_MIN) return null;
  return block(text.study.commits, picture(text.study.commitsTitle, text.study.commitsNote, (w) => panelsPx(steps.length, w), (p, w) => commits(steps, p, w)).node);
}
