/** Numbers as people read them: three significant digits, a unit on each, `–` where there is none. Pure. */

import type { LatencyView, Quantile } from "./document";
import type { Unit } from "./generated/document";
import { text } from "./text";

/** Stands where a figure does not exist. */
export const NONE = "–";

type Maybe = number | null | undefined;

function known(x: Maybe): x is number {
  return x !== null && x !== undefined && Number.isFinite(x);
}

/** Three significant digits, no exponent, trailing zeros kept: 0.612, 78.0, 541; all digits before the point. */
export function digits3(x: number): string {
  if (x === 0) return "0";
  const rounded = Number(x.toPrecision(3));
  const magnitude = Math.floor(Math.log10(Math.abs(rounded)));
  return x.toFixed(Math.max(0, 2 - magnitude));
}

/** The value over the largest of the scales that leaves at least 1 after rounding to three digits. */
function scaled(x: number, scales: readonly (readonly [number, string])[]): string {
  const rounded = Math.abs(Number(x.toPrecision(3)));
  for (const [size, unit] of scales) if (rounded >= size) return digits3(x / size) + unit;
  const last = scales[scales.length - 1];
  return last ? digits3(x / last[0]) + last[1] : digits3(x);
}

/** 541k, 1.20M, 950: a count or a rate without unit. */
export function count3(x: Maybe): string {
  if (!known(x)) return NONE;
  return scaled(x, [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]);
}

/** Whole number with narrow spaces between thousands: 1 234 567. */
export function whole(x: Maybe): string {
  if (!known(x)) return NONE;
  return Math.round(x).toString().replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/** Nanoseconds as `78.0 us`, `1.20 ms`. */
export function time(ns: Maybe): string {
  if (!known(ns)) return NONE;
  return scaled(ns, [[1e9, " s"], [1e6, " ms"], [1e3, " us"], [1, " ns"]]);
}

/** A time on an axis: `100 us`, `2.5 ms`, no zeros after the point. */
export function timeTick(ns: number): string {
  return ns === 0 ? "0" : time(ns).replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, "");
}

/** A count on an axis: `50k`, `1.5M`. */
export function countTick(x: number): string {
  return count3(x).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}

/** `497`: the rate in MB/s. */
export function megabytes(bytesPerSecond: Maybe): string {
  if (!known(bytesPerSecond)) return NONE;
  return digits3(bytesPerSecond / 1e6);
}

/** `474`: the same rate in MiB/s. */
export function mebibytes(bytesPerSecond: Maybe): string {
  if (!known(bytesPerSecond)) return NONE;
  return digits3(bytesPerSecond / 1048576);
}

/** A block size in the field's words: `4k`, `1m`, `512`. */
export function blockSize(bytes: Maybe): string {
  if (!known(bytes)) return NONE;
  if (bytes >= 1048576 && bytes % 1048576 === 0) return `${bytes / 1048576}m`;
  if (bytes >= 1024 && bytes % 1024 === 0) return `${bytes / 1024}k`;
  return String(bytes);
}

const BINARY: readonly (readonly [number, string])[] = [[1024 ** 4, " TiB"], [1024 ** 3, " GiB"], [1024 ** 2, " MiB"], [1024, " KiB"], [1, " B"]];

/** Memory or a footprint: `31.2 GiB`; whole multiples without decimals: `4 KiB`. */
export function bytesBinary(bytes: Maybe): string {
  if (!known(bytes)) return NONE;
  for (const [size, unit] of [[1024 ** 4, "TiB"], [1024 ** 3, "GiB"], [1024 ** 2, "MiB"], [1024, "KiB"]] as const) {
    if (bytes >= size && bytes % size === 0 && bytes / size < 1024) return `${bytes / size} ${unit}`;
  }
  return scaled(bytes, BINARY);
}

/** Capacity of a drive: `1.92 TB`. */
export function bytesDecimal(bytes: Maybe): string {
  if (!known(bytes)) return NONE;
  return scaled(bytes, [[1e12, " TB"], [1e9, " GB"], [1e6, " MB"], [1e3, " kB"], [1, " B"]]);
}

/** Half width of an interval as a share of the value: `±0.4 %`, `±>100 %` above the value itself. One without width says nothing: virtual time has no noise. */
export function plusMinus(interval: readonly [number, number] | null | undefined, value: Maybe): string {
  if (!interval || !known(value) || value === 0 || interval[0] === interval[1]) return "";
  const share = Math.abs((interval[1] - interval[0]) / 2 / value);
  return Number.isFinite(share) && share <= 1 ? `±${percent(share)}` : "±>100 %";
}

/** A share as percent: 0.0041 -> `0.41 %`, 0.123 -> `12 %`. Two digits: more would pretend. */
export function percent(share: Maybe): string {
  if (!known(share)) return NONE;
  const value = share * 100;
  if (value === 0) return "0 %";
  if (Math.abs(value) < 0.01) return "<0.01 %";
  const rounded = Number(value.toPrecision(2));
  const magnitude = Math.floor(Math.log10(Math.abs(rounded)));
  return `${rounded.toFixed(Math.max(0, 1 - magnitude))} %`;
}

/** Length of time in words: `1 min 12 s`, `4.0 s`, `2 h 5 min`; what rounds to nothing is still something. */
export function duration(seconds: Maybe): string {
  if (!known(seconds)) return NONE;
  if (seconds > 0 && seconds < 0.05) return "<0.1 s";
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return s % 60 === 0 ? `${s / 60} min` : `${Math.floor(s / 60)} min ${s % 60} s`;
  const minutes = Math.round(s / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `2026-11-21 02:03 UTC` from RFC 3339. */
export function date(rfc3339: string | null): string {
  if (!rfc3339) return NONE;
  const m = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})/.exec(rfc3339);
  return m ? `${m[1]} ${m[2]} UTC` : rfc3339;
}

/** A figure as it is shown: number, unit, and the same in another unit where people use two. */
export interface FigureParts {
  number: string;
  unit: string;
  also: string;
}

function parts(scaledText: string, rest = ""): FigureParts {
  const [number = "", ...words] = scaledText.split(" ");
  return { number, unit: `${words.join(" ")}${rest}`, also: "" };
}

/** A change beyond ten times as much says no more than that. */
export const CHANGE_MAX_PCT = 1000;

/** `+4.2 %`; nothing is neither more nor less. */
function changePct(pct: number): string {
  if (pct > CHANGE_MAX_PCT) return `>+${CHANGE_MAX_PCT} %`;
  const shown = pct.toFixed(1);
  return Number(shown) === 0 ? "0.0 %" : `${pct > 0 ? "+" : ""}${shown} %`;
}

/** How each unit that the document can name is shown: one entry for every unit there is. */
const FORMATS: Record<Unit, (x: number) => FigureParts> = {
  iops: (x) => ({ number: count3(x), unit: "IOPS", also: "" }),
  bytes_per_s: (x) => ({ ...parts(bytesDecimal(x), "/s"), also: `${scaled(x, BINARY)}/s` }),
  bytes: (x) => parts(bytesBinary(x)),
  block_bytes: (x) => ({ number: blockSize(x), unit: "", also: "" }),
  ns: (x) => parts(time(x)),
  duration_ns: (x) => parts(duration(x / 1e9)),
  ns_per_io: (x) => parts(time(x), ` ${text.units.perIo}`),
  iops_per_core: (x) => ({ number: count3(x), unit: text.units.perCore, also: "" }),
  pct: (x) => parts(percent(x / 100)),
  change_pct: (x) => parts(changePct(x)),
  change: (x) => (x >= 10 ? { number: `${x.toFixed(1)}x`, unit: "", also: "" } : parts(changePct((x - 1) * 100))),
  times: (x) => ({ number: `${x.toFixed(2)}x`, unit: "", also: "" }),
  pct_per_minute: (x) => ({ number: changePct(x).replace(" %", ""), unit: text.units.pctPerMinute, also: "" }),
  cores: (x) => ({ number: x.toFixed(2), unit: text.units.cores, also: "" }),
  count: (x) => ({ number: Number.isInteger(x) ? whole(x) : digits3(x), unit: "", also: "" }),
  per_io: (x) => ({ number: x.toFixed(2), unit: text.units.perIo, also: "" }),
  celsius: (x) => ({ number: x.toFixed(0), unit: "°C", also: "" }),
  hertz: (x) => parts(scaled(x, [[1e9, " GHz"], [1e6, " MHz"], [1e3, " kHz"], [1, " Hz"]])),
  ppm: (x) => ({ number: x.toFixed(0), unit: "ppm", also: "" }),
  watts: (x) => ({ number: digits3(x), unit: "W", also: "" }),
  s: (x) => ({ number: digits3(x), unit: "s", also: "" }),
  per_s: (x) => ({ number: count3(x), unit: "/s", also: "" }),
};

/** Words of schema 1 for the same units. */
const OLD_UNITS: Record<string, Unit> = { "bytes/s": "bytes_per_s", "%": "pct", x: "times", ios: "count", "1/s": "per_s" };

/** A figure by the unit the document gives it; one of a newer document is shown under its own name. */
export function figureParts(value: Maybe, unit: string): FigureParts {
  if (!known(value)) return { number: NONE, unit: "", also: "" };
  const format = FORMATS[(OLD_UNITS[unit] ?? unit) as Unit] as ((x: number) => FigureParts) | undefined;
  return format ? format(value) : { number: Number.isInteger(value) ? whole(value) : digits3(value), unit, also: "" };
}

/** The same on one line: `3.39 GB/s (3.16 GiB/s)`. */
export function figure(value: Maybe, unit: string): string {
  const f = figureParts(value, unit);
  const gap = f.unit === "" || f.unit.startsWith("/") ? "" : " ";
  return `${f.number}${gap}${f.unit}${f.also === "" ? "" : ` (${f.also})`}`;
}

/** Units of changes: their intervals stand as they are, for a share of a change near none means nothing. */
const CHANGES: readonly string[] = ["change", "change_pct"] satisfies readonly Unit[];

/** True for units of changes. */
export function isChange(unit: string): boolean {
  return CHANGES.includes(unit);
}

/** The interval of a figure in its unit's manner: `±0.4 %`, for a change `-0.1 % … +0.2 %`; empty where there is none. */
export function intervalOf(ci95: readonly [number, number] | null | undefined, value: Maybe, unit: string): string {
  if (!isChange(unit)) return plusMinus(ci95, value);
  return ci95 && ci95[0] !== ci95[1] ? ci95.map((x) => figure(x, unit)).join(" … ") : "";
}

/** What is known of a quantile: its value, or what it would take to know it, or nothing. */
export type QuantileText =
  | { kind: "value"; text: string }
  | { kind: "needs"; seconds: number; ios: number }
  | { kind: "none" };

/** Looks a quantile up; a missing one says what it needs. */
export function quantile(lat: LatencyView | null, name: Quantile): QuantileText {
  if (!lat) return { kind: "none" };
  const ns = lat[name];
  if (known(ns)) return { kind: "value", text: time(ns) };
  const need = lat.needs[name];
  return need ? { kind: "needs", seconds: need.seconds, ios: need.ios } : { kind: "none" };
}
