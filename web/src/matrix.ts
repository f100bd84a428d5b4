/** Tables of block size by mix, and what was written until a drive was saturated. Pure. */

import { hasFigures, type OpKind, opKind, wholeIntervals } from "./curves";
import type { Document, LoopView, StepView } from "./document";
import { blockSize } from "./format";
import { text, word } from "./text";

/** What the workloads of one load gave, by block size (rows) and share of reads (columns). */
export interface Matrix {
  title: string;
  unit: string;
  blocks: string[];
  mixes: string[];
  cells: { row: number; column: number; mean: number; ci95: [number, number] | null; step: StepView }[];
}

/** A matrix has at least so many rows and columns. */
const SIDE_MIN = 2;
const CELLS_MIN = 6;

function mixWord(read: number): string {
  return read === 100 ? word("read") : read === 0 ? word("write") : `${read}/${100 - read}`;
}

/** The loops whose workloads are a matrix of block sizes and mixes. */
export function matrices(doc: Document): Matrix[] {
  const byIndex = new Map(doc.steps.map((s) => [s.index, s]));
  return (doc.loops ?? []).flatMap((loop) => {
    const cells = loop.cells.flatMap((c) => { const step = byIndex.get(c.step); return step ? [{ ...c, step }] : []; });
    const blocks = [...new Set(cells.map((c) => c.step.block_size_bytes))].sort((a, b) => a - b);
    const mixes = [...new Set(cells.map((c) => c.step.read_pct))].sort((a, b) => b - a);
    const first = cells[0]?.step;
    if (!first || Math.min(blocks.length, mixes.length) < SIDE_MIN || cells.length < CELLS_MIN) return [];
    return [{
      title: loopTitle(loop, first), unit: loop.unit, blocks: blocks.map(blockSize), mixes: mixes.map(mixWord),
      cells: cells.map((c) => ({ row: blocks.indexOf(c.step.block_size_bytes), column: mixes.indexOf(c.step.read_pct), mean: c.mean, ci95: c.ci95, step: c.step })),
    }];
  });
}

function loopTitle(loop: LoopView, first: StepView): string {
  return `${loop.test === null ? "" : `${text.study.tests[loop.test] ?? loop.test}${text.comma}`}T${first.threads} QD${first.queue_depth}`;
}

/** A workload of writes from its first round to its last: what had been written, and how fast it went. */
export interface Saturation {
  title: string;
  kind: OpKind;
  /** Bytes written before the middle of each interval, and its IOPS. */
  points: [number, number][];
  /** Bytes of all its targets; `null`: not known. */
  footprint: number | null;
  /** Top of the axis, above which intervals are counted rather than drawn. */
  top: number;
  /** How many intervals lie above it, and the highest. */
  clipped: { count: number; highest: number } | null;
}

/** Intervals over this many times the 99th percentile of all are spikes that would press the others flat. */
const SPIKE = 1.5;

/** Loops of one workload that writes. */
export function saturations(doc: Document): Saturation[] {
  return (doc.loops ?? []).flatMap((loop) => {
    if (loop.cells.length !== 1 || loop.rounds < 2) return [];
    const steps = doc.steps.filter((s) => s.role?.round?.loop_id === loop.loop_id && hasFigures(s) && s.series.start_s.length > 1);
    const first = steps[0];
    if (!first || first.read_pct > 0) return [];
    let written = 0;
    const points = steps.flatMap((s): [number, number][] => {
      const before = written;
      // A purged drive in virtual time may age faster than the clock.
      const window = s.clock?.shortened;
      const passed_s = window?.why === "drives_aged" ? window.asked_ns / 1e9 : s.runtime_s;
      written += s.bytes_per_s * passed_s;
      return s.series.iops.slice(0, wholeIntervals(s)).map((iops, i) => {
        const at = ((s.series.start_s[i] ?? 0) + (s.series.start_s[i + 1] ?? s.runtime_s)) / 2;
        return [before + (s.bytes_per_s * passed_s * at) / s.runtime_s, iops];
      });
    });
    if (points.length < 3) return [];
    const rates = points.map(([, iops]) => iops).sort((a, b) => a - b);
    const high = rates[Math.floor(0.99 * (rates.length - 1))] ?? 0;
    const highest = rates[rates.length - 1] ?? 0;
    const count = rates.filter((r) => r > SPIKE * high).length;
    return [{ title: loopTitle(loop, first), kind: opKind(first), points, footprint: first.footprint_bytes, top: 1.04 * (count > 0 ? SPIKE * high : highest), clipped: count > 0 ? { count, highest } : null }];
  });
}
