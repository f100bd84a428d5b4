/**
 * The JSON document of a run, as the binary writes it. Its types are written from the Rust ones (fathom-judge, `document.rs`; fathom-lab, `reproduce/score.rs`):
 * `generated/document.ts`. Here stands what a page holds beside them, and how the text is read.
 *
 * Times are nanoseconds, rates per second, sizes bytes, unless the name says otherwise. A number that is not finite
 * arrives as `null`, therefore the formatting takes `null` everywhere.
 */

import { records, type Columns } from "./columns";
import type { Comparison as ComparisonDocument, Document as RunDocument, Reproduction as ReproductionDocument } from "./generated/document";

export type {
  Brief, CeilingView, CheckView, ClockUse, ComparedMetric, ComparedStep, CpuTime, CpuView, CurvePoint, Difference, DirectionView, DriveHealthView as DriveHealth,
  EvidenceView, FeatureUse, Figure, FigureRow, FioCommand, GoalView, HostDelta, IoFailure, KneeView, LadderPoint, LadderView, LatencyView, LimitView, LinkLoad, LoadPart, LoopCell, LoopView, NeedView, OpenLoop, Overhead,
  OwnSteadyView, PathsView, Picture as ArticlePicture, PicturePoint, Plan, PredictedView, PredictionView, PtsView, PublishedMetric, PurgeReport, ReadWrite, Reference, ReferencePoint, RunInfo, SeriesView, Side, Spread, SteadyView, Step as PlanStep,
  StepView, ArrayView, PairView, StageView, SurfaceView, ThreadCpu, ThreadRecord, Trust, Unit, Verdict, VerifyReport, Warning,
} from "./generated/document";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What a page holds beside its document. */
interface Page {
  /** Sentences of the document in other languages, by their English. */
  sentences?: Record<string, Record<string, string>>;
  /** Language the report was asked for in. */
  lang?: string;
}

export type Document = RunDocument & Page;
export type Comparison = ComparisonDocument & Page;

/** Names of the quantiles, in the order people read them. */
export const QUANTILES = ["p50", "p90", "p95", "p99", "p99.9", "p99.99", "p99.999"] as const;
export type Quantile = (typeof QUANTILES)[number];

/** Published figures beside what simulated machines give. */
export type Reproduction = ReproductionDocument & Page;

/** Whatever a page can show. */
export type Shown = Document | Comparison | Reproduction;

/** Error of a document that the page cannot show. */
export class DocumentError extends Error {}

/** The schema this viewer was written for; it reads older ones too. */
export const SCHEMA = 2;

/**
 * The JSON text of what a page holds: the binary writes it deflated (RFC 1950) in base64; plain JSON is taken as it is.
 */
export async function unpack(held: string): Promise<string> {
  const packed = held.trim();
  if (packed === "" || packed.startsWith("{") || packed.startsWith("<")) return packed;
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

/**
 * Reads the document from its JSON text. Seeds are kept as text, because `JSON.parse` would round them; the pattern
 * cannot meet anything inside a JSON string, where the quote before the colon would carry a backslash.
 */
export function parseDocument(json: string): Shown {
  if (json.trim() === "" || json.trim() === "<!--fathom-document-->") {
    throw new DocumentError("This page holds no run. Reports are written by `fathom report RUN`.");
  }
  // A seed stands behind its name, or in a column of its own.
  const value = JSON.parse(json.replace(/"seed":\s*(\d+|\[[^\]]*\]|\{[^{}]*\})/g, (_, seeds: string) => `"seed":${seeds.replace(/\d+/g, '"$&"')}`)) as Shown;
  if (!(value.schema <= SCHEMA)) {
    throw new DocumentError(`This page reads documents up to schema ${SCHEMA}, the run was written with schema ${value.schema}.`);
  }
  if ("steps" in value) value.steps = records(value.steps as never[] | Columns);
  if ("run" in value) {
    value.run.plan.steps = records(value.run.plan.steps as never[] | Columns);
    value.run.fio_commands = records(value.run.fio_commands as never[] | Columns);
  }
  return value;
}
