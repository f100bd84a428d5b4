/** The machine of a run: what `fathom inspect` saw, as the page draws it. Names are serde's (fathom-host, `inspect`). Pure. */

import type { Document, Json, StepView } from "./document";

export interface LinkRate {
  generation: number;
  width: number;
}

export interface Hop {
  current: LinkRate;
  device_max: LinkRate | null;
  port_max: LinkRate | null;
  usable_bytes_per_s: number;
}

export interface PciFunction {
  address: string;
  kind: "root_port" | "switch_upstream" | "switch_downstream" | "bridge" | "endpoint";
  class: string;
  class_name: string;
  driver: string | null;
  numa_node: number | null;
  hop: Hop | null;
  children: PciFunction[];
}

export interface Cpu {
  id: number;
  core: number;
  package: number;
  node: number;
  siblings: number[];
  allowed: boolean;
}

export interface Controller {
  name: string;
  interrupt_queues: number | null;
  poll_queues: number | null;
  temperature: { celsius: number } | null;
}

export interface Drive {
  name: string;
  kind: string;
  model: string | null;
  size_bytes: number;
  transport: string;
  scheduler: string | null;
  nr_requests: number | null;
  hw_queues: number;
  write_cache: string | null;
  numa_node: number | null;
  pci_address: string | null;
  interrupt_device: string | null;
  controllers: Controller[];
  queue: {
    nomerges: number | null;
    iostats: number | null;
    rq_affinity: number | null;
    read_ahead_bytes: number | null;
    max_request_bytes: number | null;
    wbt_latency_us: number | null;
  };
  temperature: { celsius: number } | null;
}

export interface Vector {
  irq: number;
  name: string;
  device: string;
  queue: number | null;
  affinity: string | null;
  effective: string | null;
}

export interface Inventory {
  kernel: string | null;
  processors: {
    model: string;
    topology: { cpus: Cpu[] };
    sockets: number;
    cores: number;
    smt: string;
    nodes: { id: number; cpus: string | null; memory_bytes: number | null }[];
    frequency: { cpus: string; driver: string | null; governor: string | null }[];
    idle: { cpus: string; name: string; exit_latency_us: number; disabled: boolean }[];
    mitigations: { name: string; state: string }[];
    clocksource: string | null;
    isolated: string | null;
    hypervisor: string | null;
  };
  pcie: { complexes: { name: string; numa_node: number | null; functions: PciFunction[] }[] };
  lanes: {
    nodes: { numa_node: number | null; lanes_max: number; lanes_used: number; lanes_for_drives: number; users: { port: string; lanes_used: number; used_by: string; drive_lanes: number }[] }[];
    uplinks: { switch: string; up_bytes_per_s: number; down_bytes_per_s: number; links_below: number; oversubscription: number }[];
  };
  drives: Drive[];
  arrays: { name: string; level: string | null; members: { name: string; state: string | null }[] }[];
  interrupts: { vectors: Vector[]; irqbalance: boolean };
  limits: { container: string | null; cpu_max: number | null; cpuset: string | null; memory_max_bytes: number | null };
  settings: { of: string; name: string; value: string }[];
  missing: { what?: string; part?: string }[];
}

export interface Advice {
  id: string;
  severity: "warning" | "note";
  subjects: string[];
  reason: string;
  effect: string;
  remedy: string | null;
}

const isObject = (v: Json | undefined): v is { [key: string]: Json } => v !== null && v !== undefined && typeof v === "object" && !Array.isArray(v);

/** The inventory a run stored; `null` for imported and older runs. */
export function inventoryOf(doc: Document): Inventory | null {
  const found = isObject(doc.host) ? doc.host["inventory"] : undefined;
  return isObject(found) ? (found as unknown as Inventory) : null;
}

/** Advice the run stored. */
export function adviceOf(doc: Document): Advice[] {
  const found = isObject(doc.host) ? doc.host["advice"] : undefined;
  return Array.isArray(found) ? (found as unknown as Advice[]) : [];
}

/** Kernel names of the devices behind the targets, all the way down to drives. */
export function targetDrives(doc: Document, inventory: Inventory): Set<string> {
  const targets = isObject(doc.host) && Array.isArray(doc.host["targets"]) ? doc.host["targets"] : [];
  const queue = targets.flatMap((t) => (isObject(t) && isObject(t["device"]) && typeof t["device"]["name"] === "string" ? [t["device"]["name"]] : []));
  queue.push(...doc.steps.flatMap((s) => s.host_delta?.disks.map((d) => d.device) ?? []));
  const found = new Set<string>();
  const seen = new Set<string>();
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const name = next;
    const array = inventory.arrays.find((a) => a.name === name);
    if (array) queue.push(...array.members.map((m) => m.name));
    const drive = inventory.drives.find((d) => name === d.name || new RegExp(`^${d.name}${/\d$/.test(d.name) ? "p" : ""}\\d+$`).test(name));
    if (drive) found.add(drive.name);
  }
  return found;
}

/** `Gen4 x4`. */
export function linkName(rate: LinkRate): string {
  return `Gen${rate.generation} x${rate.width}`;
}

/** The best link both ends of a hop can do, when that is more than it does. */
export function couldBe(hop: Hop): LinkRate | null {
  const ends = [hop.device_max, hop.port_max].filter((r) => r !== null);
  if (ends.length === 0) return null;
  const best = { generation: Math.min(...ends.map((r) => r.generation)), width: Math.min(...ends.map((r) => r.width)) };
  return hop.current.generation < best.generation || hop.current.width < best.width ? best : null;
}

/** Physical cores of a node, each with its CPUs, in the order of their first CPU. */
export function coresOf(cpus: readonly Cpu[], node: number): Cpu[][] {
  const cores = new Map<string, Cpu[]>();
  for (const cpu of cpus.filter((c) => c.node === node)) {
    const key = `${cpu.package}/${cpu.core}`;
    cores.set(key, [...(cores.get(key) ?? []), cpu]);
  }
  return [...cores.values()];
}

/** Nodes with CPUs, in order. */
export function nodesOf(inventory: Inventory): number[] {
  return [...new Set(inventory.processors.topology.cpus.map((c) => c.node))].sort((a, b) => a - b);
}

/** Busy share of each CPU over the window of a step, [0, 1]. Stolen time is the hypervisor's and counts as neither. */
export function busyByCpu(step: StepView): Map<number, number> {
  const shares = new Map<number, number>();
  for (const [cpu, t] of step.host_delta?.cpus ?? []) {
    const busy = t.user_ns + t.system_ns + t.irq_ns + t.softirq_ns;
    const all = busy + t.iowait_ns + t.idle_ns + t.steal_ns;
    if (all > 0) shares.set(cpu, busy / all);
  }
  return shares;
}

/** CPUs of a kernel list such as `0-3,8`. */
export function cpuList(list: string | null): number[] {
  if (list === null || list.trim() === "") return [];
  return list.split(",").flatMap((part) => {
    const [from = "", to = from] = part.split("-");
    const [a, b] = [Number(from), Number(to)];
    return Number.isInteger(a) && Number.isInteger(b) && b - a < 65536 ? Array.from({ length: Math.max(0, b - a + 1) }, (_, i) => a + i) : [];
  });
}

/** The part of the PCIe tree that leads to storage. A switch's lower ports are not kept: the links hang on what is below them. */
export interface Branch {
  fn: PciFunction;
  drives: Drive[];
  below: Branch[];
}

/** The storage branches below some functions. */
export function storageBranches(functions: readonly PciFunction[], inventory: Inventory): Branch[] {
  return functions.flatMap((fn) => {
    const drives = inventory.drives.filter((d) => d.pci_address === fn.address || (d.pci_address === null && d.controllers.some((c) => c.name === fn.address)));
    const below = storageBranches(fn.children, inventory);
    if (fn.kind === "switch_downstream") return below;
    return drives.length > 0 || below.length > 0 || fn.class.startsWith("01") ? [{ fn, drives, below }] : [];
  });
}
