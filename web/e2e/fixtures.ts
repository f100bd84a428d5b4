/** Fixture pages: one for each study, picture and kind of document. */

import { articles } from "../tests/articles";
import { quick } from "../tests/fixture";
import { commit, comparisonOf, engines, enterprise, filesRun, onMachine, pinning, qos, raid, scaling, settledRun, snia, surfaceRun } from "../tests/studies";
import type { Document, Reference } from "../src/document";
import { assembled, written } from "./browser";

/** Published 4k random reads at the queue depths of the fixture. */
const REFERENCE: Reference = {
  id: "magazine", subject: "Another drive", source: "A magazine, 2017", url: null,
  points: [1, 8, 32].flatMap((depth) => [
    { metric: "iops", value: 20_000 * depth ** 0.6, op: "randread", read_pct: 100, block_size_bytes: 4096, threads: 1, queue_depth: depth, outstanding: depth, devices: 1, placement: null, group: null, doubt: depth === 8 ? "a round figure" : "" },
  ]),
};

/** Adds a drive that overheats in the first step. */
function hot(doc: Document): Document {
  const [first, ...rest] = doc.steps;
  if (!first) throw new Error("the fixture has steps");
  const samples = first.series.start_s.map((at_s, i) => ({ at_s, celsius: 60 + 3 * i, hot: i > 2, host_written_bytes: null, nand_written_bytes: null }));
  const drive = { device: "nvme0n1", source: "nvme" as const, celsius_first: 60, celsius_last: 81, celsius_max: 81, warning_celsius: 70, critical_celsius: 85, host_written_bytes: 1e9, nand_written_bytes: 2.1e9, write_amplification: 2.1, throttled: "level" as const, critical_warnings: [], samples };
  return { ...doc, steps: [{ ...first, series: { ...first.series, hot: samples.map((s) => s.hot) }, drive_health: [drive] }, ...rest], verdict: [] };
}

/** Marks a run as simulated and adds published figures. */
const simulated = (doc: Document): Document => ({ ...doc, run: { ...doc.run, plan: { ...doc.run.plan, machine: { name: "bench", text: "" } } }, references: [REFERENCE] });

const compared = () => comparisonOf(pinning().steps.filter((s) => s.placement === "unpinned"), ["run 6", "run 7"], [{ area: "host", what: "kernel", values: ["6.1", "6.12"] }]);

const MAKERS = {
  quick: () => written(quick(), "quick"),
  pinning: () => written(pinning(), "pinning"),
  enterprise: () => written(enterprise(), "enterprise"),
  scaling: () => written(simulated(scaling()), "scaling"),
  engines: () => written(hot(engines()), "engines"),
  commit: () => written(commit(), "commit"),
  files: () => written(filesRun(), "files"),
  surface: () => written(surfaceRun(), "surface"),
  raid: () => written(raid(), "raid"),
  settled: () => written(settledRun(), "settled"),
  qos: () => written({ ...qos(), references: [REFERENCE] }, "qos"),
  snia: () => written(snia(), "snia"),
  machine: () => written(onMachine("r740xd", scaling()), "machine"),
  comparison: () => written(compared(), "comparison"),
  articles: () => assembled(articles(), "articles"),
};

export type Fixture = keyof typeof MAKERS;
export const FIXTURES = Object.keys(MAKERS) as Fixture[];

const urls = new Map<Fixture, string>();

/** URL of a fixture page. The first call writes the page. */
export function fixture(name: Fixture): string {
  const url = urls.get(name) ?? MAKERS[name]();
  urls.set(name, url);
  return url;
}
