/** Writes made durable in several ways, operations on whole files, and streams. Pure. */

import { family, hasFigures, latency, opWord } from "./curves";
import type { Document, LatencyView, StepView } from "./document";
import { blockSize, count3 } from "./format";
import { joined, text } from "./text";

/** Whether a step makes its writes durable one by one or some at a time. */
function isDurable(s: StepView): boolean {
  return s.durability.sync !== null || s.durability.write_through !== "none";
}

/** True for a step that creates, examines or deletes whole files. */
function isOfFiles(s: StepView): boolean {
  return s.op.startsWith("file");
}

/** Operations on whole files in the order of the plan. */
export function fileLoads(doc: Pick<Document, "steps">): StepView[] {
  return doc.steps.filter((s) => hasFigures(s) && isOfFiles(s));
}

/** `create 4k + fsync T4`, with the group where there are several. */
export function fileWord(s: StepView, groups: number): string {
  const operation = text.study.fileOps[s.op] ?? s.op;
  return joined(groups > 1 ? s.group : "", operation, s.op === "filecreate" ? blockSize(s.block_size_bytes) : "", s.load_words, s.threads > 1 ? `T${s.threads}` : "");
}

/** Streams that ran at once, and their loads alone, in the order of the plan. */
export function streamLoads(doc: Pick<Document, "steps">): StepView[] {
  return doc.steps.filter((s) => hasFigures(s) && (s.role?.stream || s.role?.alone));
}

/** `A: 4k random read QD16`, with `alone` where the stream had the targets for itself. */
export function streamWord(s: StepView): string {
  const load = joined(family(s), opWord(s), s.threads > 1 ? `T${s.threads}` : "", s.rate_iops === null ? `QD${s.queue_depth}` : `${count3(s.rate_iops)} IOPS`);
  const name = s.role?.stream?.name ?? s.role?.alone?.name ?? "";
  return `${name}: ${s.role?.stream ? load : joined(load, text.study.alone)}`;
}

/** Durable loads in the order of the plan. */
export function durableLoads(doc: Pick<Document, "steps">): StepView[] {
  return doc.steps.filter((s) => hasFigures(s) && isDurable(s) && !isOfFiles(s));
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
