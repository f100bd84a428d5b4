/** What the chart options share: looks of lines, names beside them, tooltips, published marks, the axis of latencies. */

import { apart, logMarks, type Line } from "./curves";
import { escapeHtml } from "./dom";
import { time, timeTick, whole } from "./format";
import { shades, type Palette } from "./palette";
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

/** Looks of the lines of one picture: colour by operation, shade and symbol by rank within the operation. */
export function lineLooks(all: readonly Line[], p: Palette): { color: string; symbol: string; dash: "solid" | "dashed" | "dotted" }[] {
  return all.map((line) => {
    const same = all.filter((l) => l.kind === line.kind);
    const rank = same.indexOf(line);
    const tones = same.length === 1 ? [p.op[line.kind]] : shades(p.op[line.kind], p, same.length + 1).slice(1);
    return {
      color: tones[rank] ?? p.op[line.kind],
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
export const TALL_ROW_PX = 38;

/** Names of rows above their marks. */
export function nameAbove(p: Palette): object {
  return { inside: true, margin: 0, verticalAlign: "bottom", padding: [0, 0, 8, 0], fontSize: 11.5, color: p.ink, interval: 0, ...rim(p) };
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

export function gridOf(right: number, left = 54): object {
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

export function exactTime(ns: number | null): string {
  if (ns === null) return "–";
  return `${time(ns)} <em>${whole(ns)} ns</em>`;
}
