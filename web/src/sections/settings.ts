/** Settings that matter, what was advised, and which CPUs took the interrupts. */

import type { Document, StepView } from "../document";
import { el, rich, smallTable } from "../dom";
import { bytesBinary, percent, time, whole } from "../format";
import { adviceOf, cpuList, targetDrives, type Drive, type Inventory } from "../host";
import { interruptsByCpu } from "../pictures/machine";
import { POINTS_MIN } from "../goals";
import { picture } from "../stage";
import { say, text } from "../text";
import { ranges } from "./facts";

type Row = [name: string, value: string, usual: string];

/** Kernel's own value where it has one worth naming; a row whose value differs from it is set bold. */
function driveRows(d: Drive): Row[] {
  const s = text.machine.settings;
  const nvme = d.name.startsWith("nvme");
  const sum = (of: (c: Drive["controllers"][number]) => number | null): number | null => {
    const known = d.controllers.map(of).filter((n) => n !== null);
    return known.length > 0 ? Math.max(...known) : null;
  };
  const show = (n: number | null | undefined): string => (n === null || n === undefined ? "" : String(n));
  const warmest = Math.max(...d.controllers.map((c) => c.temperature?.celsius ?? -Infinity), d.temperature?.celsius ?? -Infinity);
  const rows: Row[] = [
    [s.scheduler, d.scheduler ?? "", nvme ? "none" : ""],
    [s.nrRequests, show(d.nr_requests), ""],
    [s.hwQueues, show(d.hw_queues), ""],
    [s.interruptQueues, show(sum((c) => c.interrupt_queues)), ""],
    [s.pollQueues, show(sum((c) => c.poll_queues)), ""],
    [s.writeCache, d.write_cache ?? "", ""],
    [s.nomerges, show(d.queue.nomerges), "0"],
    [s.iostats, show(d.queue.iostats), "1"],
    [s.rqAffinity, show(d.queue.rq_affinity), "1"],
    [s.readAhead, d.queue.read_ahead_bytes === null ? "" : bytesBinary(d.queue.read_ahead_bytes), "128 KiB"],
    [s.maxRequest, d.queue.max_request_bytes === null ? "" : bytesBinary(d.queue.max_request_bytes), ""],
    [s.wbt, d.queue.wbt_latency_us === null ? "" : d.queue.wbt_latency_us === 0 ? text.machine.off : time(d.queue.wbt_latency_us * 1000), ""],
    [s.node, show(d.numa_node), ""],
    [s.temperature, Number.isFinite(warmest) ? `${Math.round(warmest)} °C` : "", ""],
  ];
  return rows.filter(([, value]) => value !== "");
}

function machineRows(i: Inventory): Row[] {
  const s = text.machine.settings;
  const p = i.processors;
  const join = (all: readonly (string | null)[]): string => [...new Set(all.filter((x) => x !== null && x !== ""))].join(", ");
  const deepest = [...p.idle].filter((x) => !x.disabled).sort((a, b) => b.exit_latency_us - a.exit_latency_us)[0];
  const active = p.mitigations.filter((m) => m.state.startsWith("Mitigation")).map((m) => m.name);
  const rows: Row[] = [
    [s.governor, join(p.frequency.map((f) => f.governor)), ""],
    [s.frequencyDriver, join(p.frequency.map((f) => f.driver)), ""],
    [s.smt, text.machine.smt[p.smt] ?? p.smt, ""],
    [s.clocksource, p.clocksource ?? "", "tsc"],
    [s.idle, deepest ? `${deepest.name} (${time(deepest.exit_latency_us * 1000)})` : "", ""],
    [s.mitigations, active.join(", "), ""],
    [s.isolated, p.isolated ?? "", ""],
    [s.irqbalance, i.interrupts.irqbalance ? text.machine.yes : text.machine.no, ""],
    [s.hypervisor, p.hypervisor ?? "", ""],
    [s.container, i.limits.container ?? "", ""],
    [s.cpuMax, i.limits.cpu_max === null ? "" : String(i.limits.cpu_max), ""],
    [s.memoryMax, i.limits.memory_max_bytes === null ? "" : bytesBinary(i.limits.memory_max_bytes), ""],
    ...i.settings.map((x): Row => [`${x.of} ${x.name}`, x.value, ""]),
  ];
  return rows.filter(([, value]) => value !== "");
}

function settingsTable(title: string, rows: readonly Row[]): HTMLElement | null {
  if (rows.length === 0) return null;
  const differs = ([, value, usual]: Row): boolean => usual !== "" && value !== usual;
  return el(
    "div",
    {},
    el("h3", {}, title),
    el("dl.facts.wide", {}, ...rows.flatMap((row) => [el("dt", {}, row[0]), el("dd", {}, differs(row) ? el("b", {}, row[1]) : row[1], differs(row) ? el("span.note", {}, ` ${text.machine.usual(row[2])}`) : null)])),
  );
}

/** Settings of the machine and of the drives behind the targets; drives with the same settings are shown once. */
export function settings(doc: Document, inventory: Inventory): HTMLElement {
  const targets = targetDrives(doc, inventory);
  const groups = new Map<string, { names: string[]; rows: Row[] }>();
  for (const drive of inventory.drives.filter((d) => targets.has(d.name) || targets.size === 0)) {
    const rows = driveRows(drive);
    // Temperature differs from drive to drive; it alone does not make a group.
    const key = JSON.stringify(rows.filter(([name]) => name !== text.machine.settings.temperature));
    const known = groups.get(key);
    if (known) known.names.push(drive.name);
    else groups.set(key, { names: [drive.name], rows });
  }
  return el("div", {}, ...[...groups.values()].map((g) => settingsTable(text.machine.settingsOf(g.names.join(", ")), g.rows)), settingsTable(text.machine.settingsHost, machineRows(inventory)));
}

/** What `fathom inspect` advised for this machine. */
export function advice(doc: Document): HTMLElement | null {
  const all = adviceOf(doc);
  if (all.length === 0) return null;
  const t = text.machine;
  return el(
    "div.block",
    {},
    el("h3", {}, t.advice),
    el(
      "ul.advice",
      {},
      ...all.map((a) =>
        el(
          "li",
          {},
          el("b", { class: a.severity === "warning" ? "bad" : "" }, t.severity[a.severity] ?? a.severity),
          " ",
          a.subjects.length > 0 ? el("span", {}, a.subjects.slice(0, 6).join(", "), a.subjects.length > 6 ? ` ${text.answer.more(a.subjects.length - 6)}` : "", text.colon) : null,
          rich(say(a.reason)),
          el("div.note", {}, rich(say(a.effect))),
          a.remedy === null ? null : el("div", {}, rich(say(a.remedy))),
        ),
      ),
    ),
  );
}

/** Height of the bars of interrupts by CPU. */
const INTERRUPTS_PX = 170;

/** Interrupts of the drives' queues during the step: by CPU as bars, by device as a table. */
export function interrupts(doc: Document, inventory: Inventory, step: () => StepView | null): { node: HTMLElement; update: () => void } | null {
  const t = text.machine;
  const devices = targetInterrupts(doc, inventory);
  const vectors = inventory.interrupts.vectors.filter((v) => devices.has(v.device) && v.queue !== null);
  if (vectors.length === 0) return null;
  const cpus = inventory.processors.topology.cpus.map((c) => c.id);
  const counted = (): { device: string; by_cpu: [number, number][]; count: number }[] => (step()?.host_delta?.vectors ?? []).filter((v) => v.queue !== null);
  const chart = picture(t.interruptsTo, null, INTERRUPTS_PX, (p) => (counted().length > 0 ? interruptsByCpu(cpus, counted(), p) : null));
  const table = el("div");
  const update = (): void => {
    const now = step();
    const all = counted();
    // Bars of one or two CPUs say no more than the table.
    chart.node.hidden = all.length === 0 || cpus.length < POINTS_MIN;
    chart.update(now ? t.interruptsOf(say(now.label)) : t.interruptsTo);
    const names = [...new Set(vectors.map((v) => v.device))];
    table.replaceChildren(
      smallTable(
        [t.device, t.queues, t.effective, ...(all.length > 0 ? [t.count, t.perIo, t.busiestCpu] : [])],
        names.map((name) => {
          const own = vectors.filter((v) => v.device === name);
          const to = [...new Set(own.flatMap((v) => cpuList(v.effective ?? v.affinity)))].sort((a, b) => a - b);
          const hits = all.filter((v) => v.device === name);
          const count = hits.reduce((n, v) => n + v.count, 0);
          const byCpu = new Map<number, number>();
          for (const [cpu, n] of hits.flatMap((v) => v.by_cpu)) byCpu.set(cpu, (byCpu.get(cpu) ?? 0) + n);
          const [busiest] = [...byCpu].sort((a, b) => b[1] - a[1]);
          return [
            name, String(own.length), ranges(to),
            ...(all.length > 0 ? [whole(count), now && now.ios > 0 ? (count / now.ios).toFixed(2) : "–", busiest ? t.takes(busiest[0], percent(busiest[1] / Math.max(1, count))) : "–"] : []),
          ];
        }),
        1,
      ),
    );
  };
  update();
  return { node: el("div.block", {}, el("h3", {}, t.interruptsTitle), chart.node, table), update };
}

/** The drivers' names for the interrupts of the drives behind the targets. */
function targetInterrupts(doc: Document, inventory: Inventory): Set<string> {
  const targets = targetDrives(doc, inventory);
  return new Set(inventory.drives.filter((d) => targets.has(d.name)).flatMap((d) => [d.interrupt_device ?? "", ...d.controllers.map((c) => c.name)]));
}
