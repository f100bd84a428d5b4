/** Lists of records that the binary wrote by column (fathom-report, `html/columns.rs`), put together again. Pure. */

import type { Json } from "./document";

/** A list by column: how many records, and their fields. */
export interface Columns {
  count: number;
  column: Json;
}

/** Stands for a field that a record does not have. */
const WITHOUT = Symbol("without");
type Held = Json | typeof WITHOUT;

/** The value of one field in each of `count` records. */
function values(column: Json, count: number): Held[] {
  if (Array.isArray(column)) return column;
  if (column === null || typeof column !== "object") throw new Error("the page holds a list that is cut short");
  const { each, of, all, is } = column;
  if (each !== undefined) return Array.from({ length: count }, () => structuredClone(each));
  const kinds = typeof is === "string" ? is : "o".repeat(count);
  if (Array.isArray(all)) {
    let next = 0;
    return [...kinds].map((kind) => (kind === "." ? WITHOUT : (all[next++] ?? null)));
  }
  const objects = Array.from({ length: kinds.split("o").length - 1 }, (): { [key: string]: Json } => ({}));
  for (const [name, field] of Object.entries((of ?? {}) as { [key: string]: Json })) {
    values(field, objects.length).forEach((value, i) => {
      const object = objects[i];
      if (value !== WITHOUT && object) object[name] = value;
    });
  }
  let next = 0;
  return [...kinds].map((kind) => (kind === "." ? WITHOUT : kind === "n" ? null : (objects[next++] ?? null)));
}

/** The records of a list, whichever way it was written. */
export function records<T>(list: T[] | Columns): T[] {
  return Array.isArray(list) ? list : (values(list.column, list.count) as T[]);
}
