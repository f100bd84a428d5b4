/** Reads beside writes: how much of both keeps the latency. */

import { headlineStep } from "../curves";
import type { Document } from "../document";
import { el, select } from "../dom";
import { time } from "../format";
import { POINTS_MIN, type Shown } from "../goals";
import { surface, SURFACE_PX } from "../pictures/surface";
import { picture } from "../stage";
import type { Palette } from "../palette";
import { gapsOf, surfacesOf, type Of, type Surface } from "../surfaces";
import { joined, text } from "../text";
import { block, legendOf } from "./block";

function goalText(s: Surface): string {
  const { mean_ns, p99_ns } = s.goal ?? {};
  return [mean_ns === undefined ? "" : `${text.picture.mean} <= ${time(mean_ns)}`, p99_ns === undefined ? "" : `p99 <= ${time(p99_ns)}`].filter((x) => x !== "").join(text.comma);
}

export function surfaceBlock(doc: Document): HTMLElement | null {
  const all = surfacesOf(doc).filter((s) => s.pairs.length >= POINTS_MIN);
  const [first] = all;
  if (!first) return null;
  const t = text.study;
  let [of, name]: [Of, Shown] = ["all", first.goal?.p99_ns === undefined && first.goal?.mean_ns !== undefined ? "mean" : "p99"];
  const title = (s: Surface): string => joined(all.length > 1 ? s.group : "", t.surfaceTitle(name === "mean" ? text.picture.mean : name, t.pairOf[of]));
  const charts = all.map((s) => ({ s, chart: picture(title(s), null, SURFACE_PX, (p, w) => surface(s, headlineStep(doc)?.index, of, name, p, w)) }));
  const update = (): void => charts.forEach(({ s, chart }) => chart.update(title(s)));
  const quantile = select(text.picture.quantile, ["p50", "p99", "p99.9", "mean"].map((q) => ({ value: q, label: q === "mean" ? text.picture.mean : q })), name, (v) => {
    name = v as Shown;
    update();
  });
  const whose = select(t.pairWhose, (["all", "read", "write"] as const).map((v) => ({ value: v, label: t.pairOf[v] })), of, (v) => {
    of = v as Of;
    update();
  });
  const legend = legendOf([{ label: first.goal === null ? t.pairHeld : t.pairKeeps(goalText(first)), tone: (p) => p.op.mixed }, ...(all.some((s) => gapsOf(s).length > 0) ? [{ label: text.study.pairOutcome.unknown, tone: (p: Palette) => p.muted, mark: "hatched" as const }] : [])], true);
  return block(t.surface, el("div.picks", {}, quantile, whose, legend), ...charts.map((c) => c.chart.node), el("p.note", {}, t.surfaceNote));
}
