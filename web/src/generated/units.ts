// Written from the Rust types. Refresh: FATHOM_REFRESH=1 cargo test -p fathom-report --test viewer_types

import type { Unit } from "./document";

/** Every unit that a document can name. */
export const UNITS: readonly Unit[] = [
  "iops",
  "bytes_per_s",
  "bytes",
  "block_bytes",
  "ns",
  "duration_ns",
  "ns_per_io",
  "iops_per_core",
  "pct",
  "change_pct",
  "change",
  "times",
  "pct_per_minute",
  "cores",
  "count",
  "per_io",
  "celsius",
  "hertz",
  "ppm",
  "watts",
  "s",
  "per_s",
];
