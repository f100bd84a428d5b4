/** RAID levels against what their members allow. */

import { arrayCells, arrayShare, comparedLoads, type ArrayCell } from "../arrays";
import { isRandomOp, latency, limitWord } from "../curves";
import type { Document } from "../document";
import { bytesDecimal, count3, digits3, time } from "../format";
import { el, smallTable } from "../dom";
import { arrayBars, arrayPx, shareText } from "../pictures/arrays";
import { picture } from "../stage";
import { say, text } from "../text";
import { block, legendOf } from "./block";

/** What the busiest member does, of its even share: 1.00 where all do as much. */
function busiest(c: ArrayCell): string {
  const there = c.view.member_shares_pct.filter((share) => share > 0);
  return there.length === 0 ? "" : `${digits3(Math.max(...there) / (100 / there.length))}x`;
}

const onOneLine = (words: string): string => words.replace(/ /g, "\u00a0");

/** A picture for each load that several levels were put under, and all steps as a table. */
export function arrayBlock(doc: Document): HTMLElement | null {
  const cells = arrayCells(doc);
  if (cells.length === 0) return null;
  const t = text.study;
  const charts = comparedLoads(doc);
  const legend = legendOf([{ label: t.membersAllow, tone: (p) => p.ink }, { label: t.bare, tone: (p) => p.muted, mark: "diamond" }], true);
  const rows = cells.map((c) => {
    const s = c.step;
    return [
      c.view.missing > 0 ? t.without(c.name, c.view.missing) : c.name, onOneLine(say(c.view.load)), `T${s.threads}\u00a0QD${s.queue_depth}`,
      isRandomOp(s.op) ? count3(s.iops) : `${bytesDecimal(s.bytes_per_s)}/s`, shareText(arrayShare(c)), digits3(c.view.member_reads), digits3(c.view.member_writes), busiest(c),
      time(s.lat_ns?.mean ?? null), time(latency(s.lat_ns, "p99")), limitWord(s.limit.name),
    ];
  });
  const table = smallTable([t.array, text.picture.workload, t.load, t.rate, t.shareOfMembers, t.memberReads, t.memberWrites, t.busiest, text.picture.mean, "p99", text.steps.columns.limit], rows, 3);
  const rebuilds = cells.flatMap((c) => {
    const r = c.view.rebuild;
    if (r === null) return [];
    const speed = `${bytesDecimal(r.bytes_per_s)}/s`;
    return [[
      c.name, onOneLine(say(c.view.load)), `T${c.step.threads}\u00a0QD${c.step.queue_depth}`, r.asked_bytes_per_s === null ? t.noLimit : `${bytesDecimal(r.asked_bytes_per_s)}/s`,
      r.ended_first ? t.endedFirst(speed) : speed, r.whole_s === null ? "" : time(1e9 * r.whole_s), time(r.p99_ns), time(r.whole_p99_ns), r.rate_ratio === null ? "" : `${digits3(r.rate_ratio)}x`,
      c.view.written_per_byte === null ? "" : digits3(c.view.written_per_byte),
    ]];
  });
  const limits = rebuilds.length === 0 ? null : el("div", {}, el("p.note", {}, t.rebuildsNote), smallTable([t.array, text.picture.workload, t.load, t.limit, t.rebuiltAt, t.wholeIn, "p99", t.wholeP99, t.rateOfWhole, t.writtenPerByte], rebuilds, 3));
  return block(t.arrays, charts.length > 0 ? el("div.picks", {}, legend) : null, ...charts.map((load) => picture(load.title, null, arrayPx(load), (p, w) => arrayBars(load, p, w)).node), el("p.note", {}, t.arraysNote), limits, el("details", {}, el("summary", {}, t.arrayTable(rows.length)), table));
}
