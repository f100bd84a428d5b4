/** The machine drawn: nodes with their cores, and from each the PCIe tree down to the drives, coloured by load. */

import type { Document, StepView } from "../document";
import { el } from "../dom";
import { bytesBinary, bytesDecimal, percent } from "../format";
import { busyByCpu, coresOf, couldBe, cpuList, linkName, nodesOf, storageBranches, targetDrives, type Branch, type Cpu, type Drive, type Hop, type Inventory } from "../host";
import { heatTone, palette } from "../palette";
import { text } from "../text";

/** Thickness of a link's bar by its lanes, pixels. */
function thickness(width: number): number {
  return Math.max(2, Math.round(2 + 2.2 * Math.log2(width)));
}

/** Gives an element the colour of a share in [0, 1], for day and night. */
function toned(node: HTMLElement, share: number): HTMLElement {
  node.style.setProperty("--day", heatTone(share, palette(false)));
  node.style.setProperty("--night", heatTone(share, palette(true)));
  node.classList.add("tone");
  return node;
}

interface Load {
  step: StepView | null;
  busy: Map<number, number>;
  workers: Set<number>;
  interrupts: Set<number>;
  targets: Set<string>;
}

function cpuCell(cpu: Cpu, load: Load): HTMLElement {
  const t = text.machine;
  const share = load.busy.get(cpu.id);
  const said = [
    t.cpu(cpu.id, cpu.core),
    share === undefined ? "" : t.busy(percent(share)),
    load.workers.has(cpu.id) ? t.worker : "",
    load.interrupts.has(cpu.id) ? t.interruptsHere : "",
    cpu.allowed ? "" : t.notAllowed,
  ].filter((s) => s !== "").join(text.comma);
  const cell = el("i", { title: said, class: [load.workers.has(cpu.id) ? "worker" : "", load.interrupts.has(cpu.id) ? "irq" : "", cpu.allowed ? "" : "barred"].join(" ") });
  return share === undefined ? cell : toned(cell, share);
}

function cores(cpus: readonly Cpu[], node: number, load: Load): HTMLElement {
  const all = coresOf(cpus, node);
  const shares = all.flatMap((c) => c.map((cpu) => load.busy.get(cpu.id))).filter((s) => s !== undefined);
  const mean = shares.length === 0 ? "" : text.machine.meanBusy(percent(shares.reduce((a, b) => a + b, 0) / shares.length));
  const grid = el(
    "div.cores",
    { role: "img", "aria-label": text.machine.coresAria(node, all.length, mean) },
    ...all.map((core) => el("span", {}, ...core.map((cpu) => cpuCell(cpu, load)))),
  );
  if (all.length > 40) grid.classList.add("many");
  return el("div", {}, grid, el("p.note", {}, text.machine.coresOf(all.length, all.reduce((n, c) => n + c.length, 0)), mean === "" ? null : `${text.comma}${mean}`));
}

function wire(hop: Hop, share: number | null): HTMLElement {
  const bar = el("i.wire", { "aria-hidden": "true" });
  bar.style.height = `${thickness(hop.current.width)}px`;
  return toned(bar, share ?? 0);
}

function linkWords(hop: Hop, address: string, load: Load): { words: (Node | string | null)[]; share: number | null } {
  const t = text.machine;
  const carried = load.step?.links?.find((l) => l.address === address);
  const better = couldBe(hop);
  const usable = bytesDecimal(hop.usable_bytes_per_s);
  const flow = carried ? t.carried(bytesDecimal(Math.max(carried.read_bytes_per_s, carried.write_bytes_per_s)), usable, percent(carried.load_share)) : t.usable(usable);
  return {
    share: carried?.load_share ?? null,
    words: [el("b.link", {}, linkName(hop.current)), " ", el("span.note", {}, flow), better ? el("span.bad", {}, ` ${t.trainedDown(linkName(better))}`) : null],
  };
}

function driveName(drive: Drive, load: Load): HTMLElement {
  const parts = [drive.model, bytesDecimal(drive.size_bytes)].filter((x) => x !== null && x !== "");
  const isTarget = load.targets.has(drive.name);
  return el("span.drive", {}, el(isTarget ? "b" : "span", {}, drive.name), isTarget ? el("em", {}, ` ${text.machine.target}`) : null, el("span.note", {}, ` ${parts.join(" · ")}`));
}

function branch(at: Branch, inventory: Inventory, load: Load): HTMLElement {
  const { fn, drives, below } = at;
  const t = text.machine;
  const link = fn.hop ? linkWords(fn.hop, fn.address, load) : null;
  const uplink = inventory.lanes.uplinks.find((u) => u.switch === fn.address);
  const name = drives.length > 0 ? drives.map((d) => driveName(d, load)) : [el("span", {}, t.kinds[fn.kind === "endpoint" ? fn.class_name : fn.kind] ?? fn.class_name)];
  const short = fn.address.replace(/^0000:/, "");
  return el(
    "li",
    {},
    el(
      "div.hop",
      {},
      fn.hop && link ? wire(fn.hop, link.share) : null,
      el("div", {}, ...name, " ", el("code", {}, short), link ? el("div", {}, ...link.words) : null, uplink ? el("div", { class: uplink.oversubscription > 1.02 ? "bad" : "note" }, t.uplink(uplink.links_below, uplink.oversubscription.toFixed(2))) : null),
    ),
    below.length > 0 ? el("ul", {}, ...below.map((b) => branch(b, inventory, load))) : null,
  );
}

function nodePanel(node: number, inventory: Inventory, load: Load, single: boolean): HTMLElement {
  const t = text.machine;
  const cpus = inventory.processors.topology.cpus;
  const memory = inventory.processors.nodes.find((n) => n.id === node)?.memory_bytes ?? null;
  const socket = cpus.find((c) => c.node === node)?.package ?? 0;
  const lanes = inventory.lanes.nodes.find((l) => l.numa_node === node || (single && l.numa_node === null));
  const complexes = inventory.pcie.complexes.filter((c) => c.numa_node === node || (c.numa_node === null && single));
  const branches = complexes.flatMap((c) => storageBranches(c.functions, inventory));
  const others = lanes?.users.filter((u) => u.drive_lanes === 0 && u.lanes_used > 0) ?? [];
  return el(
    "div.node",
    {},
    el("h3", {}, t.node(socket, node), memory === null ? null : el("span.note", {}, ` ${bytesBinary(memory)}`)),
    cores(cpus, node, load),
    lanes ? el("p.note", {}, t.lanes(lanes.lanes_used, lanes.lanes_max, lanes.lanes_for_drives)) : null,
    branches.length > 0 ? el("ul.tree", {}, ...branches.map((b) => branch(b, inventory, load))) : null,
    others.length > 0 ? el("p.note", {}, t.others(others.map((u) => `${u.used_by} x${u.lanes_used}`).join(text.comma))) : null,
  );
}

function loadOf(doc: Document, inventory: Inventory, step: StepView | null): Load {
  const targets = targetDrives(doc, inventory);
  const devices = new Set(inventory.drives.filter((d) => targets.has(d.name)).flatMap((d) => [d.interrupt_device, ...d.controllers.map((c) => c.name)]));
  const vectors = inventory.interrupts.vectors.filter((v) => devices.has(v.device) && v.queue !== null);
  const interrupts = new Set(vectors.flatMap((v) => cpuList(v.effective ?? v.affinity)));
  return {
    step,
    busy: step ? busyByCpu(step) : new Map(),
    workers: new Set(step?.workers.flatMap((w) => w.cpus_seen) ?? []),
    // Marks on every CPU would tell nothing.
    interrupts: interrupts.size < inventory.processors.topology.cpus.length ? interrupts : new Set(),
    targets,
  };
}

/** Colours from idle to busy with their ends named. */
function scale(): HTMLElement {
  const steps = Array.from({ length: 6 }, (_, i) => toned(el("i"), i / 5));
  return el("p.scale", { "aria-hidden": "true" }, "0 %", ...steps, "100 %", el("span", {}, el("i.worker.tone"), text.machine.worker), el("span", {}, el("i.irq.tone"), text.machine.interruptsHere));
}

/** All nodes under the load of a step. */
export function topology(doc: Document, inventory: Inventory, step: StepView | null): HTMLElement {
  const load = loadOf(doc, inventory, step);
  const nodes = nodesOf(inventory);
  // Drives whose place is not known belong to no node; with several nodes they are drawn beside them.
  const homeless = nodes.length > 1 ? inventory.pcie.complexes.filter((c) => c.numa_node === null).flatMap((c) => storageBranches(c.functions, inventory)) : [];
  const placed = new Set<string>();
  const note = (b: Branch): void => {
    b.drives.forEach((d) => placed.add(d.name));
    b.below.forEach(note);
  };
  inventory.pcie.complexes.flatMap((c) => storageBranches(c.functions, inventory)).forEach(note);
  const others = inventory.drives.filter((d) => !placed.has(d.name));
  return el(
    "div",
    {},
    scale(),
    el("div", { class: nodes.length > 1 ? "nodes several" : "nodes" }, ...nodes.map((n) => nodePanel(n, inventory, load, nodes.length === 1))),
    homeless.length > 0 ? el("div.node", {}, el("h3", {}, text.machine.noNode), el("ul.tree", {}, ...homeless.map((b) => branch(b, inventory, load)))) : null,
    others.length > 0 ? el("div.node", {}, el("h3", {}, text.machine.notPcie), el("ul.tree", {}, ...others.map((d) => el("li", {}, el("div.hop", {}, el("div", {}, driveName(d, load), el("span.note", {}, ` · ${d.transport || d.kind}`))))))) : null,
    inventory.arrays.length > 0 ? el("p.note", {}, inventory.arrays.map((a) => `${a.name} ${a.level ?? ""}: ${a.members.map((m) => m.name).join(text.comma)}`).join(" · ")) : null,
  );
}
