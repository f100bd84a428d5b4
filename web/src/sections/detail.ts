/** Everything else that is known of one step, for the row that was opened. */

import { QUANTILES, type Document, type LatencyView, type StepView } from "../document";
import { el, facts, rich, smallTable } from "../dom";
import { bytesBinary, count3, date, digits3, duration, figure, percent, quantile, time, whole } from "../format";
import { depthWord, engineWord, isUnknown, limitWord, threadsWord } from "../curves";
import { say, text, word } from "../text";

function latencyTable(step: StepView): HTMLElement | null {
  const t = text.detail;
  const kinds: [string, string, LatencyView | null | undefined][] = [
    [t.lat, "lat", step.lat_ns], [t.slat, "slat", step.slat_ns], [t.clat, "clat", step.clat_ns], [t.service, "service", step.service_ns],
    ...(step.read && step.write
      ? ([[t.readLat, "", step.read.lat_ns], [t.writeLat, "", step.write.lat_ns], [t.trimLat, "", step.trim?.lat_ns]] as [string, string, LatencyView | null | undefined][])
      : []),
    [t.syncLat, "sync", step.syncs?.lat_ns],
  ];
  const rows = kinds.flatMap(([name, key, lat]) => {
    if (!lat) return [];
    const cells = QUANTILES.map((q) => {
      const found = quantile(lat, q);
      if (found.kind === "value") return el("span", { title: intervalTitle(lat, q) }, found.text);
      return found.kind === "needs" ? el("span.needs", {}, text.steps.needs(duration(found.seconds))) : "–";
    });
    const load = `T${threadsWord(step)} QD${depthWord(step)}`;
    return [[el("span", { title: t.kindTitles[key] ?? "" }, `${name} ${load}`), time(lat.min), time(lat.mean), time(lat.stddev), ...cells, time(lat.max), whole(lat.samples)]];
  });
  if (rows.length === 0) return null;
  return el("div", {}, el("h4", {}, t.latency), smallTable(["", t.min, text.picture.mean, t.stddev, ...QUANTILES, "max", t.samples], rows));
}

function intervalTitle(lat: LatencyView, name: string): string | null {
  const ci = lat.ci95[name];
  return ci ? `95 %: ${time(ci[0])} ${text.units.to} ${time(ci[1])}` : null;
}

function list(title: string, items: readonly (string | Node)[], kind = ""): HTMLElement | null {
  if (items.length === 0) return null;
  return el("div", { class: kind }, el("h4", {}, title), el("ul", {}, ...items.map((i) => el("li", {}, typeof i === "string" ? rich(say(i)) : i))));
}

function factRows(step: StepView, doc: Document): HTMLElement {
  const f = text.detail.facts;
  const planned = doc.run.plan.steps.find((s) => s.index === step.index);
  const busiest = step.cpu?.busiest_cpu;
  return facts([
    [f.targets, step.targets.join(", ")],
    [f.started, step.started === null ? "" : date(step.started)],
    [f.runtime, step.runtime_s > 0 ? duration(step.runtime_s) : ""],
    [f.setup, step.setup_ms > 0 ? time(step.setup_ms * 1e6) : ""],
    [f.ios, step.ios > 0 || step.errors > 0 ? `${whole(step.ios)}${step.errors > 0 ? `, ${whole(step.errors)} ${f.errors}` : ""}` : ""],
    [f.rate, step.rate_iops === null ? "" : `${count3(step.rate_iops)} IOPS`],
    [f.predicted, step.predicted ? `${count3(step.predicted.iops)} IOPS, ${time(step.predicted.lat_ns_mean)}` : ""],
    [f.placement, step.cpus.length > 0 ? `${word(step.placement)}${text.colon}CPU ${step.cpus.join(", ")}` : word(step.placement)],
    [f.footprint, [step.footprint_bytes === null ? "" : `${bytesBinary(step.footprint_bytes)}, `, isUnknown(step, "direct") ? "" : f.cache[step.direct ? 0 : 1] ?? ""]],
    [text.detail.engine, engineWord(step) === step.engine ? `${step.engine} ${step.mode}` : engineWord(step)],
    [f.busiest, busiest ? `CPU ${busiest[0]}, ${percent(busiest[1])}` : ""],
    [f.stolen, step.cpu && step.cpu.steal_pct > 0 ? percent(step.cpu.steal_pct / 100) : ""],
    [f.noInterval, step.iops_ci95_why_none ? say(step.iops_ci95_why_none) : ""],
    [f.depth, step.depth ? text.detail.depthText(digits3(step.depth.in_flight), digits3(step.depth.asked)) : ""],
    [f.overhead, step.overhead ? text.detail.overheadText(time(step.overhead.loop_ns_per_io), time(step.overhead.batch_stamp_error_ns_mean), digits3(step.overhead.ios_per_submit)) : ""],
    [f.clock, step.clock ? text.detail.clockText(step.clock.source, time(step.clock.read_cost_ns), digits3(step.clock.drift_ppm)) : ""],
    [f.seed, planned ? String(planned.seed) : ""],
  ], true);
}

function openLoop(step: StepView): string[] {
  const o = step.open_loop;
  if (!o) return [];
  const t = text.detail;
  const [a, b] = o.submit_delay_ns_mean_halves;
  return [t.openLoopText(count3(o.intended_iops), `${time(a)} → ${time(b)}`, whole(o.backlog_end_ios)), ...(o.unsustainable ? [t.unsustainable] : [])];
}

function verified(step: StepView): string[] {
  const v = step.verify;
  if (!v) return [];
  const bad = (["torn", "misplaced", "stale", "corrupt", "foreign"] as const).filter((k) => v[k] > 0).map((k) => text.detail.bad(v[k], k));
  return [text.detail.verified(whole(v.blocks_checked)), ...bad, ...v.examples];
}

/** The most each part could give, lowest first: the first one is what the load runs into. */
function ceilings(step: StepView): HTMLElement | null {
  const all = step.ceilings ?? [];
  if (all.length === 0) return null;
  const t = text.detail;
  const rows = all.map((c) => [word(c.name), count3(c.iops), c.bytes_per_s === null ? "" : figure(c.bytes_per_s, "bytes_per_s"), c.iops > 0 ? percent(step.iops / c.iops) : "–", say(c.sentence)]);
  return el("div", {}, el("h4", {}, t.ceilings), smallTable([t.part, "IOPS", word("bytes_per_s"), t.reached, t.computed], rows.map((r) => r.map((x) => x)), 9));
}

/** What each process had, of a step that several ran at once, and how they began. */
function ranks(step: StepView): HTMLElement | null {
  const of = step.ranks;
  if (!of) return null;
  const t = text.detail;
  const p99 = (quantiles: [number, number][] | undefined) => quantiles?.find(([q]) => q === 0.99)?.[1];
  const rows = of.ranks.map((r) => {
    const seconds = r.runtime_ns / 1e9;
    return [String(r.rank), r.host, count3(r.ios / seconds), figure(r.bytes / seconds, "bytes_per_s"), time(p99(r.lat?.quantiles)), `${time(r.start_ns)} ±${time(r.clock.bound_ns)}`];
  });
  const lost = of.lost.map((r) => [String(r.rank), r.host, say(r.why), "–", "–", "–"]);
  return el("div", {}, el("h4", {}, t.ranks), smallTable(t.rankColumns, [...rows, ...lost], 2), el("p.note", {}, t.ranksNote(time(of.start_skew_ns), time(of.start_skew_bound_ns), time(of.together_ns))));
}

/** The opened row's content. */
export function detail(step: StepView, doc: Document, showInTime: (index: number) => void): HTMLElement {
  const t = text.detail;
  // Documents of versions before have a word where the sentence now holds a probability.
  const confidence = step.limit.probability == null ? (t.confidence[step.limit.confidence] ?? step.limit.confidence) : "";
  const features = step.features.filter((x) => x.state !== "not_asked");
  const why = step.limit.sentence === "" ? limitWord(step.limit.name) : say(step.limit.sentence);
  const fio = doc.run.fio_commands.find((c) => c.step === step.index)?.command;
  const disks = step.host_delta?.disks ?? [];
  return el(
    "div.detail",
    {},
    step.reason === null ? null : el("p.refusal", {}, el("b", {}, say(step.reason)), step.help === null ? null : " ", step.help === null ? null : rich(say(step.help))),
    el(
      "div.because",
      {},
      list(t.warnings, step.warning_texts, "caveats"),
      step.ios > 0 ? list(confidence === "" ? t.limit : `${t.limit} (${confidence})`, [why, ...step.limit.evidence.map((e) => `${e.label ? say(e.label) : word(e.name)}${text.colon}${figure(e.value, e.unit)}`)]) : null,
      list(t.help, step.limit.would_help ?? []),
      list(t.checks, step.checks.map((c) => el("span", {}, el("b", { class: c.ok === false ? "bad" : "" }, c.ok === null ? "? " : c.ok ? "✓ " : "✗ "), say(c.sentence)))),
      list(t.openLoop, openLoop(step)),
      list(t.verify, verified(step)),
      list(t.failures, step.failures.map((x) => t.failure(x.op, whole(x.count), x.errno, whole(x.first_offset_bytes)))),
    ),
    ceilings(step),
    latencyTable(step),
    factRows(step, doc),
    features.length === 0 ? null : el("div", {}, el("h4", {}, t.features), el("p", {}, features.map((x) => `${x.name.replace(/_/g, " ")}${x.used ? "" : `: ${t.notUsed}`}${x.detail === "" ? "" : ` (${say(x.detail)})`}`).join(" · "))),
    disks.length === 0
      ? null
      : el("div", {}, el("h4", {}, t.disks), smallTable(t.diskColumns, disks.map((d) => [d.device, whole(d.read_ios), bytesBinary(d.read_bytes), whole(d.write_ios), bytesBinary(d.write_bytes), whole(d.read_merges + d.write_merges), time(d.busy_ns)]))),
    step.workers.length === 0
      ? null
      : el("details", {}, el("summary", {}, `${t.workers} (${step.workers.length})`), smallTable(t.workerColumns, step.workers.map((w) => [String(w.index), w.targets.join(", "), w.cpus_allowed.join(" ") || "–", w.cpus_seen.join(" ") || "–", whole(w.ios), whole(w.passes), whole(w.in_flight_max)]), 4)),
    ranks(step),
    fio === undefined ? null : el("div", {}, el("h4", {}, t.fio), el("pre", { tabindex: 0 }, fio)),
    step.series.start_s.length > 0 ? el("button.quiet", { type: "button", onclick: () => showInTime(step.index) }, t.inTime) : null,
  );
}
