/** CPU time of an I/O. Pure. */

import type { StepView } from "./document";

/** CPU time of the whole host per I/O; `null`: not recorded, or hidden in the noise of the host. */
export function cpuPerIo(s: StepView): number | null {
  const cost = s.cpu?.ns_per_io ?? null;
  return cost !== null && cost > 0 ? cost : null;
}
