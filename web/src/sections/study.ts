/** The pictures that a study is about, chosen by what its steps vary. */

import { countOn, groupSets, predicted, scaleLines, type ScaleAxis, type ScaleLine } from "../cells";
import { hasFigures, isKneeLocated, opKind, plainLine, rankCount } from "../curves";
import type { Document, ReferencePoint, StepView } from "../document";
import { el, section, smallTable } from "../dom";
import { count3, time } from "../format";
import { POINTS_MIN } from "../goals";
import { errorText, predictedOverMeasured, RUN_PX, scaling, SCALING_PX, stretches, wholeRun, type Stretch } from "../pictures/study";
import { areNamedBeside, bendNote } from "../options";
import { marks } from "../published";
import { picture } from "../stage";
import { say, text, word } from "../text";
import { block, keys, legendOf } from "./block";
import { arrayBlock } from "./arrays";
import { commitBlock, fileBlock, streamBlock } from "./commits";
import { comparison } from "./comparison";
import { goalBlock, percentileBlock } from "./goals";
import { groupBlock } from "./groups";
import { pathBlock } from "./paths";
import { fitsLoad, publishedPick } from "./published";
import { stageBlock } from "./stages";
import { surfaceBlock } from "./surface";
import { matrixBlock, saturationBlock, settleBlock } from "./rounds";

/** More curves than these cannot be told apart. */
const LINES_MAX = 6;

/** Whether a target is a file: drives are named below /dev, by serial number, or as parts of a simulated machine. */
function isFile(target: string): boolean {
  return !/^(\/dev\/|serial:|sim:)/.test(target);
}

/** Whether each rank of a step had a host for itself. */
function hasHostEach(s: StepView): boolean {
  return new Set([...(s.ranks?.ranks ?? []), ...(s.ranks?.lost ?? [])].map((r) => r.host)).size === rankCount(s);
}

/** The points that were planned and have no figures, once. */
function omitted(doc: Document, axis: ScaleAxis, called: string): HTMLElement | null {
  const asked = (s: StepView): number => (axis === "devices" ? (s.role?.devices ?? s.devices) : axis === "ranks" ? (s.role?.ranks?.count ?? rankCount(s)) : s.threads);
  const measured = new Set(doc.steps.filter(hasFigures).map(asked));
  const missing = [...new Set(doc.steps.filter((s) => s.phase === "measure" && s.state !== "measured" && s.state !== "imported").map(asked))].filter((n) => !measured.has(n)).sort((a, b) => a - b);
  return missing.length === 0 ? null : el("p.note", {}, text.study.omitted(called, missing.join(text.comma)));
}

function scaleBlock(doc: Document): HTMLElement | null {
  const all = scaleLines(doc);
  // Groups under a matrix of threads and depths have their own curves.
  if (all.length === 0 || groupSets(doc).length > 0) return null;
  const t = text.study;
  const blocks = (["ranks", "devices", "threads"] as const).flatMap((axis) => {
    const of = all.filter((l) => l.axis === axis);
    if (of.length === 0) return [];
    const shown: ScaleLine[] = of.slice(0, LINES_MAX);
    const named = shown.map((l) => plainLine(l.label, l.kind, l.steps));
    const rows = of.map((l) => {
      const last = l.steps[l.steps.length - 1] as StepView;
      return [l.label, `${countOn(l.steps[0] ?? last, axis)} → ${countOn(last, axis)}`, `${Math.round(100 * (l.efficiency[l.efficiency.length - 1] ?? NaN))} %`, l.knee ? (isKneeLocated(l.knee) ? t.kneeIn : t.kneeWithin)(...l.knee.between) : "–", l.knee?.takes_over && isKneeLocated(l.knee) ? word(l.knee.takes_over) : "–", word(last.limit.name)];
    });
    const fits = (q: ReferencePoint): boolean => axis === "devices" && q.devices !== null && q.metric === "iops" && fitsLoad(of.flatMap((l) => l.steps), true)(q);
    const steps = of.flatMap((l) => l.steps);
    const isOverFiles = axis === "devices" && steps.every((step) => step.targets.every(isFile));
    const isOverHosts = axis === "ranks" && steps.every(hasHostEach);
    const called = text.study.axes[isOverFiles ? "files" : isOverHosts ? "hosts" : axis];
    const published = publishedPick(doc, fits, () => chart.update());
    const chart = picture(t.scaling(called), bendNote(shown.map((l) => ({ ...l, loads: l.steps.map((s) => countOn(s, axis)) })), t.scalingNote, (range) => `${range} ${called}`), SCALING_PX, (p, w) => scaling(shown, called, p, w, marks(published.chosen(), "iops", fits)));
    return [el("div", {}, chart.node, keys(named, !areNamedBeside(named)), published.node ? el("div.picks", {}, published.node) : null, published.note, of.length > shown.length ? el("p.note", {}, text.picture.capped(shown.length, of.length)) : null, omitted(doc, axis, called), smallTable([t.line, called, t.efficiency, t.knee, t.takesOver, text.steps.columns.limit], rows, 1))];
  });
  return block(t.scale, ...blocks);
}

/** What was predicted and what was measured. */
function predictionBlock(doc: Document): HTMLElement | null {
  const all = predicted(doc.steps);
  if (all.length < POINTS_MIN) return null;
  const t = text.study;
  const middle = doc.prediction?.iops_error_pct_median ?? null;
  return block(
    t.prediction,
    middle === null ? null : el("p", {}, t.medianError(middle.toFixed(1), doc.prediction?.steps ?? 0)),
    picture(t.predictedOver, t.predictedNote, 330, (p, w) => predictedOverMeasured(all, p, w)).node,
    el(
      "details",
      {},
      el("summary", {}, t.predictionTable),
      smallTable([text.steps.columns.step, t.measuredAxis, t.predictedAxis, t.error, t.latMeasured, t.latPredicted, t.error], all.map((s) => [say(s.label), count3(s.iops), count3(s.predicted?.iops), errorText(s.predicted?.iops_error_pct), time(s.lat_ns?.mean), time(s.predicted?.lat_ns_mean), errorText(s.predicted?.lat_error_pct)])),
    ),
  );
}

/** Sentence that names the grey areas by the phases they are of. */
export function greyNote(all: readonly Stretch[]): string {
  const phases = [...new Set(all.map((s) => s.step.phase))].filter((phase) => phase !== "measure");
  return text.study.wholeRunNote(phases.map(word).join(text.comma));
}

/** The run from start to end, when it prepared its targets before it measured. */
export function runBlock(doc: Document): HTMLElement | null {
  const all = stretches(doc.steps);
  if (!all.some((s) => s.step.phase !== "measure") || !all.some((s) => hasFigures(s.step))) return null;
  const kinds = [...new Set(all.map((s) => opKind(s.step)))];
  return block(text.study.wholeRun, picture(text.study.wholeRunTitle, greyNote(all), RUN_PX, (p) => wholeRun(all, p)).node, legendOf(kinds.map((k) => ({ label: word(k), tone: (p) => p.op[k] })), true));
}

/** Section 3, for studies that have pictures of their own. */
export function study(doc: Document): HTMLElement | null {
  const blocks = [stageBlock(doc), goalBlock(doc), surfaceBlock(doc), arrayBlock(doc), matrixBlock(doc), groupBlock(doc), pathBlock(doc), commitBlock(doc), fileBlock(doc), streamBlock(doc), scaleBlock(doc), saturationBlock(doc), percentileBlock(doc), settleBlock(doc), predictionBlock(doc)].filter((b) => b !== null);
  const sides = doc.comparison ? comparison(doc.comparison, doc) : [];
  if (blocks.length === 0) return sides[0] ?? null;
  const compared = sides[0] ? [...sides[0].children].filter((c) => c.tagName !== "H2") : [];
  return section("study", text.sections.study, ...compared, ...blocks);
}
