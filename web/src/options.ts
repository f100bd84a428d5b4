/** What the chart options share: looks of lines, names beside them, tooltips, published marks, the axis of latencies. */

import { apart, isKneeLocated, limitWord, logMarks, type Line } from "./curves";
import type { KneeView } from "./document";
import { escapeHtml } from "./dom";
import { time, timeTick, whole } from "./format";
import { pathTone, shades, type Palette } from "./palette";
import type { Mark } from "./published";
import { axisStyle } from "./stage";
import { text } from "./text";

/** Below this width a chart has no room for labels beside its lines. */
export const DIRECT_LABEL_MIN_PX = 440;

/** Margins above and below a plot. */
const TOP_PX = 26;
const BOTTOM_PX = 46;

/** About how wide a text of 12 pixels is: Chinese characters are as wide as they are high. */
export function textPx(words: string): number {
  return [...words].reduce((sum, c) => sum + (c > "\u2e80" ? 12.5 : 7), 0);
}

/** Words in lines that fit into a room. */
function folded(words: readonly string[], roomPx: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines[lines.length - 1];
    if (last !== undefined && textPx(`${last} ${word}`) <= roomPx) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The ends of names that fit into a room of so many lines: `from` words are left out of each, and more where it is too long. */
function ends(words: readonly string[][], from: number, roomPx: number, lines: number): string[] {
  return words.map((w) => {
    for (let first = from; ; first++) {
      const rest = [...(first > 0 ? ["…"] : []), ...w.slice(first)];
      const found = folded(rest, roomPx);
      const isWide = found.some((line) => textPx(line) > roomPx);
      if (found.length <= lines && !isWide) return found.join("\n");
      if (first < w.length - 1) continue;
      const letters = [...(w[first] ?? "")];
      while (letters.length > 1 && textPx(`…${letters.join("")}`) > roomPx) letters.shift();
      return `…${letters.join("")}`;
    }
  });
}

/**
 * Names that fit into a room of so many lines. Words that all names begin with are left out first, then words from the front.
 * Where that makes names equal, the words that all names hold are left out.
 */
export function shortened(names: readonly string[], roomPx: number, lines = 1): string[] {
  if (names.every((n) => textPx(n) <= roomPx)) return [...names];
  const words = names.map((n) => n.split(" "));
  const least = Math.min(...words.map((w) => w.length));
  let same = 0;
  while (names.length > 1 && same < least - 1 && words.every((w) => w[same] === words[0]?.[same])) same++;
  const found = ends(words, same, roomPx, lines);
  if (new Set(found).size === new Set(names).size) return found;
  const own = words.map((w) => w.filter((x) => !words.every((other) => other.includes(x))));
  return ends(own, 0, roomPx, lines);
}

/** Widest room for labels beside the lines. */
const LABEL_ROOM_MAX_PX = 240;

/** Room for the labels beside the lines. */
export function labelRoom(all: readonly Line[]): number {
  return 26 + Math.max(0, ...all.map((l) => textPx(l.label)));
}

/** Whether names stand beside the lines of a picture; longer ones stand above it. */
export function areNamedBeside(all: readonly Line[], width = Infinity): boolean {
  return width >= DIRECT_LABEL_MIN_PX && labelRoom(all) <= LABEL_ROOM_MAX_PX;
}

export const SYMBOLS = ["circle", "rect", "triangle", "diamond"];

export type Params = { seriesName?: string; seriesIndex?: number; dataIndex: number; color?: unknown; data?: unknown; value?: unknown };

/** Looks of the lines of one picture: colour by operation or engine, shade and symbol by rank within it. */
export function lineLooks(all: readonly Line[], p: Palette): { color: string; symbol: string; dash: "solid" | "dashed" | "dotted" }[] {
  return all.map((line) => {
    const same = all.filter((l) => (line.tone === undefined ? l.kind === line.kind : l.tone === line.tone));
    const rank = same.indexOf(line);
    const base = line.tone === undefined ? p.op[line.kind] : pathTone(line.tone, p);
    const tones = same.length === 1 ? [base] : shades(base, p, same.length + 1).slice(1);
    return {
      color: tones[rank] ?? base,
      symbol: SYMBOLS[rank % SYMBOLS.length] ?? "circle",
      dash: rank < 4 ? "solid" : rank < 8 ? "dashed" : "dotted",
    };
  });
}

export function row(color: string, name: string, value: string): string {
  return `<tr><td><i style="background:${color}"></i>${escapeHtml(name)}</td><td>${value}</td></tr>`;
}

export function tip(head: string, rows: string[], foot = ""): string {
  return `<div class="tip-in"><b>${escapeHtml(head)}</b><table>${rows.join("")}</table>${foot === "" ? "" : `<small>${escapeHtml(foot)}</small>`}</div>`;
}

/** Name beside the last point of a line, `shift` pixels below its place. */
export function endLabel(label: string, color: string, direct: boolean, shift: number, p: Palette): object {
  if (!direct) return {};
  return { endLabel: { show: true, formatter: label, color, fontSize: 12, distance: 9, offset: [0, shift], backgroundColor: p.paper, padding: [0, 3] } };
}

/** Height of a row whose name stands above its marks, where there is no room beside them. */
export const TALL_ROW_PX = 40;

/** Names of rows above their marks. */
export function nameAbove(p: Palette): object {
  return { inside: true, margin: 0, verticalAlign: "bottom", padding: [0, 0, 10, 0], fontSize: 11.5, color: p.ink, interval: 0, ...rim(p) };
}

/** Letters within a plot stand on a rim of paper, so that no line strikes them through. */
export function rim(p: Palette): { textBorderColor: string; textBorderWidth: number } {
  return { textBorderColor: p.paper, textBorderWidth: 3 };
}

/** Height of the plot of a chart of this height with the margins of `gridOf`. */
export const plotPx = (heightPx: number): number => heightPx - TOP_PX - BOTTOM_PX;

/** Shifts that keep the names beside the lines apart; lines that end more than `room` away from any other do not meet. */
export function apartLabels(ends: readonly { x: number; share: number }[], plot: number, room = 0): number[] {
  const shifts = ends.map(() => 0);
  const left = ends.map((e, i) => ({ ...e, i })).sort((a, b) => a.x - b.x);
  const clusters: (typeof left)[] = [];
  for (const e of left) {
    const last = clusters[clusters.length - 1];
    if (last && e.x - (last[last.length - 1]?.x ?? -Infinity) <= room) last.push(e);
    else clusters.push([e]);
  }
  for (const here of clusters) {
    apart(here.map((e) => (1 - e.share) * plot), 15, -8, plot).forEach((shift, k) => {
      const at = here[k];
      if (at) shifts[at.i] = shift;
    });
  }
  return shifts;
}

/** Margin left of a plot. */
export const PLOT_LEFT_PX = 54;

export function gridOf(right: number, left = PLOT_LEFT_PX): object {
  return { left, right, top: TOP_PX, bottom: BOTTOM_PX, containLabel: false };
}

/** A published figure in a tooltip. */
export function publishedRow(m: Mark, value: string): string {
  const said = [m.load, text.published.mark, m.doubt].filter((x) => x !== "").join(" · ");
  return row("transparent", `◇ ${m.by}`, `${value}<small>${escapeHtml(said)}</small>`);
}

/** Published figures as open diamonds in the colour of their operation. */
export function publishedMarks(published: readonly Mark[], at: (m: Mark) => [number, number], p: Palette): object[] {
  if (published.length === 0) return [];
  return [
    {
      type: "scatter", name: text.published.mark, symbol: "diamond", symbolSize: 12, z: 5, emphasis: { disabled: true },
      data: published.map((m) => ({ value: at(m), itemStyle: { color: "transparent", borderColor: p.op[m.kind], borderWidth: 1.8, borderType: m.doubt === "" ? "solid" : "dotted", opacity: 1 } })),
    },
  ];
}

/** Logarithmic axis of latencies that fits the values, with marks at 1, 2 and 5. */
export function latencyAxis(values: readonly (number | null)[], p: Palette): object {
  const marks = logMarks(values.filter((v): v is number => v !== null));
  const style = axisStyle(p);
  return {
    ...style,
    type: "log",
    name: text.picture.latAxis,
    min: marks[0],
    max: marks[marks.length - 1],
    axisTick: { ...style.axisTick, customValues: marks },
    splitLine: { ...style.splitLine, customValues: marks },
    axisLabel: { color: p.muted, fontSize: 12, customValues: marks, formatter: timeTick },
  };
}

/** Height of a label within a plot. */
const LABEL_PX = 15;

/** A knee and the mark of 95 % of the most, on a plot whose places are shares of its width and height. */
export interface Bend {
  color: string;
  knee: KneeView | null;
  /** Mark at 95 % of the most, with its label. */
  enough: { x: number; y: number; label: string; isFirst: boolean } | null;
}

/** Width and height of a plot, pixels, and the share of its width at a value of the axis. */
export interface Plot {
  width: number;
  height: number;
  share: (x: number) => number;
}

/** Ranges that hold a knee as bands, each named by the part that takes over. Several are strips above each other; equal ones are drawn once. */
export function kneeBands(bends: readonly Bend[], plot: Plot, p: Palette): object[] {
  const named = (k: KneeView): string => (k.takes_over === null ? text.picture.knee : limitWord(k.takes_over));
  const known = new Set<string>();
  const bands = bends.filter((b) => {
    const key = b.knee === null || !isKneeLocated(b.knee) ? "" : [...b.knee.between, named(b.knee)].join(" ");
    return key !== "" && known.size < known.add(key).size;
  });
  return bands.flatMap(({ knee, color }, row) => {
    if (knee === null) return [];
    const [from, to] = knee.between;
    const [middle, half] = [(plot.share(from) + plot.share(to)) / 2, textPx(named(knee)) / 2 / plot.width];
    const side = middle - half < 0 ? "insideBottomLeft" : middle + half > 1 ? "insideBottomRight" : "insideBottom";
    const label = { show: true, position: side, distance: 2, formatter: named(knee), color, fontSize: 12, ...rim(p) };
    const bottom = TOP_PX + plot.height - (LABEL_PX + 1) * row;
    const [top, foot] = bands.length > 1 ? [{ y: bottom - LABEL_PX }, { y: bottom }] : [{}, {}];
    return [{ type: "line", name: "knee", silent: true, tooltip: { show: false }, data: [], markArea: { silent: true, itemStyle: { color, opacity: bands.length > 1 ? 0.2 : 0.1 }, label, data: [[{ xAxis: from, ...top }, { xAxis: to, ...foot }]] } }];
  });
}

/** Labels of the marks of 95 % of the most: none lies on another or on the names of the bands. */
export function enoughLabels(bends: readonly Bend[], plot: Plot, p: Palette): (object | undefined)[] {
  const rows = new Set(bends.map((b) => b.knee?.between.join(" "))).size;
  const taken: { left: number; top: number; width: number }[] = [{ left: 0, top: plot.height - LABEL_PX * rows, width: plot.width }];
  return bends.map(({ enough, color }) => {
    if (enough === null) return undefined;
    const wide = textPx(enough.label);
    const x = enough.x * plot.width;
    // Left of the point the line is below it, right of the point it stays level; from the first point it falls.
    const isLeft = x + wide > plot.width;
    const isAbove = isLeft || enough.isFirst;
    const box = { left: isLeft ? x - wide : x, top: (1 - enough.y) * plot.height + (isAbove ? -LABEL_PX - 8 : 8), width: wide };
    if (box.left < 0 || taken.some((t) => box.left < t.left + t.width && t.left < box.left + box.width && Math.abs(box.top - t.top) < LABEL_PX * (t.left === 0 ? rows : 1))) return undefined;
    taken.push(box);
    return { show: true, position: isAbove ? "top" : "bottom", align: isLeft ? "right" : "left", distance: 8, formatter: enough.label, color, fontSize: 12, ...rim(p) };
  });
}

/** Label of that mark. A phone has room for the load alone, which the sentence about rings explains. */
export function enoughWord(load: string, width: number): string {
  return width < DIRECT_LABEL_MIN_PX ? load : text.picture.enough(load);
}

/** Look of the point that gives 95 % of the most: a ring. */
export function ring(color: string, p: Palette): object {
  return { symbolSize: 12, itemStyle: { color: p.paper, borderColor: color, borderWidth: 2.5 } };
}

/** A line with a knee, its loads on the axis, and its mark of 95 % of the most. */
export interface Bent {
  label: string;
  knee: KneeView | null;
  loads: number[];
  enough: unknown;
}

/** Longer lists of ranges leave the names of their lines out. */
const NAMED_RANGES_MAX = 3;

/** Sentences that explain the bands and the rings of some lines, and why a knee has no band; `axis` names a range of loads. */
export function bendNote(lines: readonly Bent[], first: string, axis: (range: string) => string): string {
  const t = text.picture;
  const wide = lines.filter((l) => l.knee !== null && !isKneeLocated(l.knee));
  const isSparse = (l: Bent): boolean => !l.loads.some((x) => l.knee !== null && x > l.knee.between[0] && x < l.knee.between[1]);
  const ranges = (of: readonly Bent[]): string =>
    [...new Set(of.map((l) => { const range = axis(text.study.kneeIn(...(l.knee?.between ?? [0, 0]))); return lines.length > 1 && of.length <= NAMED_RANGES_MAX ? t.rangeOf(range, l.label) : range; }))].join(text.comma);
  const [sparse, unsure] = [wide.filter(isSparse), wide.filter((l) => !isSparse(l))];
  return [
    first,
    lines.some((l) => l.knee !== null && isKneeLocated(l.knee)) ? t.kneeNote : "",
    unsure.length > 0 ? t.kneeUnsure(ranges(unsure)) : "",
    sparse.length > 0 ? t.kneeSparse(ranges(sparse)) : "",
    lines.some((l) => l.enough !== undefined) ? t.enoughNote : "",
  ].filter((x) => x !== "").join(text.gap);
}

export function exactTime(ns: number | null): string {
  if (ns === null) return "–";
  return `${time(ns)} <em>${whole(ns)} ns</em>`;
}
