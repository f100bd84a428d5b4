/** Ways of issuing the same I/O, held against each other. Pure. */

import type { StepView } from "./document";

/** CPU time of the whole host per I/O; `null`: not recorded, or hidden in the noise of the host. */
export function cpuPerIo(s: StepView): number | null {
  const cost = s.cpu?.ns_per_io ?? null;
  return cost !== null && cost > 0 ? cost : null;
}

/** The steps that no other beats in both IOPS and CPU per I/O, cheapest first. */
export function paretoFront(steps: readonly StepView[]): StepView[] {
  const costed = steps.flatMap((s) => { const cost = cpuPerIo(s); return cost === null ? [] : [{ s, cost }]; });
  return costed
    .filter((a) => !costed.some((b) => b !== a && b.cost <= a.cost && b.s.iops >= a.s.iops && (b.cost < a.cost || b.s.iops > a.s.iops)))
    .sort((a, b) => a.cost - b.cost || a.s.iops - b.s.iops)
    .map(({ s }) => s);
}
