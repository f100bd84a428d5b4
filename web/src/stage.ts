/** Charts come to life when they come into view, follow the theme and the width, and are all there on paper. */

import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent, VisualMapComponent } from "echarts/components";
import { init, use, type EChartsType } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import type { EChartsOption } from "echarts";
import { el, withUnits } from "./dom";
import { palette, type Palette } from "./palette";
import { text } from "./text";

use([
  BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart, GridComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent,
  VisualMapComponent, LabelLayout, SVGRenderer, CanvasRenderer,
]);

/** Width of the text block of a printed A4 page, CSS pixels. */
const PRINT_WIDTH_PX = 690;

/** Width that heights are laid out for before a chart has its place. */
const FIRST_WIDTH_PX = 360;

/** Builds a chart for a palette and the width at hand; `null`: nothing to draw. */
export type Build = (p: Palette, widthPx: number) => EChartsOption | null;

/** One chart with its caption. */
export interface Picture {
  node: HTMLElement;
  /** Draws again after the data behind it changed. */
  update: (caption?: string) => void;
}

interface Player {
  host: HTMLElement;
  build: Build;
  renderer: "svg" | "canvas";
  height: (widthPx: number) => number;
  chart: EChartsType | null;
}

const players: Player[] = [];
const byHost = new Map<Element, Player>();
let dark = false;
let printing = false;

const seen = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const player = byHost.get(entry.target);
      if (entry.isIntersecting && player) draw(player);
    }
  },
  { rootMargin: "400px 0px" },
);

const sized = new ResizeObserver((entries) => {
  if (printing) return;
  for (const entry of entries) {
    const player = byHost.get(entry.target);
    if (player?.chart && Math.abs(player.chart.getWidth() - player.host.clientWidth) > 1) draw(player);
  }
});

function draw(player: Player): void {
  const width = printing ? PRINT_WIDTH_PX : player.host.clientWidth;
  if (width === 0) return;
  const height = player.height(width);
  player.host.style.height = `${height}px`;
  const option = player.build(palette(dark && !printing), width);
  if (!option) {
    player.chart?.clear();
    return;
  }
  player.host.dataset["points"] = String(pointsOf(option));
  player.chart ??= init(player.host, null, { renderer: player.renderer, width, height });
  player.chart.resize({ width, height, silent: true });
  player.chart.setOption({ animation: false, textStyle: { fontFamily: getComputedStyle(document.body).fontFamily }, ...option }, { notMerge: true });
  if (printing) player.chart.getZr().flush();
}

/** How many values the marks of a chart stand for: what the tests count. */
function pointsOf(option: EChartsOption): number {
  const series = [option.series ?? []].flat() as { silent?: boolean; data?: unknown[] }[];
  const isGiven = (x: unknown): boolean => {
    const value = x !== null && typeof x === "object" && "value" in x ? (x as { value: unknown }).value : x;
    return [value].flat().every((v) => v !== "-" && v !== null && v !== undefined);
  };
  return series.filter((s) => s.silent !== true).reduce((n, s) => n + (s.data ?? []).filter(isGiven).length, 0);
}

/** A figure with caption and chart. The chart is made when it comes near the window. */
export function picture(caption: string, note: string | null, height: number | ((widthPx: number) => number), build: Build, renderer: "svg" | "canvas" = "svg"): Picture {
  const host = el("div.chart", { role: "img", "aria-label": text.chart.aria(caption) });
  const heading = el("b", {}, caption);
  const node = el("figure", {}, el("figcaption", {}, heading, note !== null && el("span", {}, note)), host);
  const player: Player = { host, build, renderer, height: typeof height === "number" ? () => height : height, chart: null };
  host.style.height = `${player.height(FIRST_WIDTH_PX)}px`;
  players.push(player);
  byHost.set(host, player);
  seen.observe(host);
  sized.observe(host);
  return {
    node,
    update: (newCaption) => {
      if (newCaption !== undefined) {
        heading.textContent = withUnits(newCaption);
        host.setAttribute("aria-label", text.chart.aria(newCaption));
      }
      if (player.chart) draw(player);
      else host.style.height = `${player.height(host.clientWidth || FIRST_WIDTH_PX)}px`;
    },
  };
}

/** Forgets all charts, before the page is put together again. */
export function clearStage(): void {
  for (const player of players) {
    seen.unobserve(player.host);
    sized.unobserve(player.host);
    player.chart?.dispose();
  }
  players.length = 0;
  byHost.clear();
}

/** Draws every living chart in the theme's colours. */
export function setDark(value: boolean): void {
  dark = value;
  for (const player of players) if (player.chart) draw(player);
}

function print(on: boolean): void {
  printing = on;
  for (const player of players) if (on || player.chart) draw(player);
}

window.addEventListener("beforeprint", () => print(true));
window.addEventListener("afterprint", () => print(false));

/** Look that all charts share. */
export function axisStyle(p: Palette): { axisLine: object; axisTick: object; axisLabel: object; splitLine: object; nameTextStyle: object } {
  return {
    axisLine: { lineStyle: { color: p.muted, width: 1 } },
    axisTick: { lineStyle: { color: p.muted } },
    axisLabel: { color: p.muted, fontSize: 12, hideOverlap: true },
    splitLine: { lineStyle: { color: p.hairline, width: 1 } },
    nameTextStyle: { color: p.muted, fontSize: 12 },
  };
}

/** Tooltip that all charts share. */
export function tooltipStyle(p: Palette): object {
  return {
    confine: true,
    backgroundColor: p.dark ? "#22272d" : "#ffffff",
    borderColor: p.dark ? "#3a424b" : "#c9ced4",
    borderWidth: 1,
    padding: [6, 10],
    textStyle: { color: p.ink, fontSize: 12.5 },
    extraCssText: "box-shadow:0 2px 10px rgba(0,0,0,.12);border-radius:3px;font-variant-numeric:tabular-nums",
    transitionDuration: 0,
    className: "tip",
  };
}
