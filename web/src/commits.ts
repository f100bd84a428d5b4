/** Writes that were made durable, each way beside the others. Pure. */

import { hasFigures, latency } from "./curves";
import type { Document, LatencyView, StepView } from "./document";
import { blockSize } from "./format";
import { joined } from "./text";

/** Whether a step makes its writes durable one by one or some at a time. */
function isDurable(s: StepView): boolean {
  return s.durability.sync !== null || s.durability.write_through !== "none";
}

/** Durable loads in the order of the plan. */
export function durableLoads(doc: Pick<Document, "steps">): StepView[] {
  return doc.steps.filter((s) => hasFigures(s) && isDurable(s));
}

/** `4k + fdatasync`, `log: 4k + fdatasync`, `4k + fdatasync T16`. */
export function commitWord(s: StepView): string {
  const stream = s.role?.stream ? `${s.role.stream.name}: ` : "";
  return `${stream}${joined(blockSize(s.block_size_bytes), s.load_words, s.threads > 1 ? `T${s.threads}` : "")}`;
}

/** Latency of what makes the writes durable: of the sync, or of the write where that is durable itself. */
export function durableLatency(s: StepView): LatencyView | null {
  return (s.durability.sync === null ? s.write?.lat_ns : s.syncs?.lat_ns) ?? null;
}

/** p99 of it, where there are samples enough. */
export function durableP99(s: StepView): number | null {
  return latency(durableLatency(s), "p99");
}
