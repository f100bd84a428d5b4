/** Facts about the host. The names known are given words; everything else is shown under its own name. */

import type { Json } from "../document";
import { el, facts, smallTable } from "../dom";
import { bytesBinary, bytesDecimal, digits3, time, whole } from "../format";
import { text } from "../text";

const UNITS: readonly [RegExp, (v: number) => string][] = [
  [/^(size|capacity)_bytes$/, bytesDecimal],
  [/_bytes$/, bytesBinary],
  [/_ns$/, time],
  [/_us$/, (v) => time(v * 1e3)],
  [/_ms$/, (v) => time(v * 1e6)],
  [/_s$/, (v) => `${digits3(v)} s`],
  [/_mhz$/, (v) => `${whole(v)} MHz`],
  [/_khz$/, (v) => `${whole(v / 1000)} MHz`],
  [/_hz$/, (v) => `${whole(v / 1e6)} MHz`],
  [/_pct$/, (v) => `${digits3(v)} %`],
  [/_gt_per_s$/, (v) => `${v} GT/s`],
  [/_celsius$/, (v) => `${v} °C`],
];

/** `max_sectors_bytes` -> `Max sectors`: words of a name without its unit. */
export function factName(key: string): string {
  const known = text.machine.keys[key];
  if (known !== undefined) return known;
  const words = key.replace(/_(bytes|ns|us|ms|s|mhz|khz|hz|pct|gt_per_s|celsius)$/, "").replace(/_/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A plain value by the unit in its name; empty when there is nothing to say. */
export function factValue(key: string, value: Json): string {
  if (value === null || value === "") return "";
  if (typeof value === "boolean") return value ? text.machine.yes : text.machine.no;
  if (typeof value === "number") {
    const unit = UNITS.find(([pattern]) => pattern.test(key));
    return unit ? unit[1](value) : Number.isInteger(value) ? whole(value) : digits3(value);
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

const isPlain = (v: Json): boolean => v === null || typeof v !== "object";
const isObject = (v: Json): v is { [key: string]: Json } => v !== null && typeof v === "object" && !Array.isArray(v);
const isPlainList = (v: Json): v is Json[] => Array.isArray(v) && v.every(isPlain);

/** Whole numbers in a row are written as ranges: 0–3, 8. */
export function ranges(values: readonly Json[]): string {
  if (!values.every((v): v is number => typeof v === "number" && Number.isInteger(v))) return values.map((v) => factValue("", v)).join(", ");
  const out: string[] = [];
  for (let i = 0; i < values.length; ) {
    let j = i;
    while (values[j + 1] === (values[j] ?? 0) + 1) j++;
    out.push(j > i ? `${values[i]}–${values[j]}` : String(values[i]));
    i = j + 1;
  }
  return out.join(", ");
}

function inline(key: string, value: Json): string {
  if (isPlainList(value)) return ranges(value);
  if (isObject(value)) return Object.entries(value).map(([k, v]) => [k, inline(k, v)] as const).filter(([, v]) => v !== "").map(([k, v]) => `${factName(k)} ${v}`).join(", ");
  if (Array.isArray(value)) return value.map((v) => inline(key, v)).join("; ");
  return factValue(key, value);
}

function tableOf(rows: readonly { [key: string]: Json }[]): HTMLElement {
  const keys = [...new Set(rows.flatMap((r) => Object.keys(r)))].filter((k) => rows.some((r) => inline(k, r[k] ?? null) !== ""));
  return smallTable(keys.map(factName), rows.map((r) => keys.map((k) => inline(k, r[k] ?? null))), keys.length);
}

/** Known facts in the order of the catalogue, which is the order of importance; JSON objects arrive sorted by name. */
function rank(key: string): number {
  const at = Object.keys(text.machine.keys).indexOf(key);
  return at === -1 ? Number.MAX_SAFE_INTEGER : at;
}

function block(value: { [key: string]: Json }): HTMLElement {
  const node = el("div.block");
  const entries = Object.entries(value).sort(([a], [b]) => rank(a) - rank(b));
  const flat = entries.filter(([, v]) => isPlain(v) || isPlainList(v));
  if (flat.length > 0) node.append(facts(flat.map(([k, v]) => [factName(k), inline(k, v)]), true));
  for (const [key, v] of entries) {
    if (Array.isArray(v) && v.length > 0 && v.every(isObject)) {
      const [only] = v;
      if (v.length <= 4) node.append(el("h3", {}, factName(key)));
      node.append(v.length === 1 && only && isObject(only) ? block(only) : v.length > 4 ? el("details", {}, el("summary", {}, `${factName(key)} (${v.length})`), tableOf(v)) : tableOf(v));
    } else if (isObject(v) && Object.keys(v).length > 0) {
      node.append(el("h3", {}, factName(key)), block(v));
    } else if (Array.isArray(v) && v.length > 0 && !isPlainList(v)) {
      node.append(el("h3", {}, factName(key)), el("p", {}, inline(key, v)));
    }
  }
  return node;
}

/** Everything that was recorded about the host, under the names it has there. */
export function hostFacts(host: Json): HTMLElement | null {
  if (!isObject(host)) return null;
  // The inventory has its own pictures.
  const rest = Object.fromEntries(Object.entries(host).filter(([key]) => key !== "inventory" && key !== "advice"));
  return Object.keys(rest).length > 0 ? block(rest) : null;
}
