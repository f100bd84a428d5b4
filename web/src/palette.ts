/** Colours after Okabe and Ito: told apart by colour-blind readers and on paper. One thing has one colour everywhere. */

import type { OpKind } from "./curves";

export interface Palette {
  dark: boolean;
  ink: string;
  muted: string;
  hairline: string;
  paper: string;
  warn: string;
  op: Record<OpKind, string>;
  cost: { user: string; system: string; irq: string; worker: string };
  /** From idle to busy. */
  heat: string[];
}

const LIGHT: Palette = {
  dark: false,
  ink: "#1b1e22",
  muted: "#5a626b",
  hairline: "#e1e4e8",
  paper: "#ffffff",
  warn: "#a33b00",
  op: { read: "#0072b2", write: "#d9700a", mixed: "#009e73", trim: "#cc79a7" },
  cost: { user: "#009e73", system: "#cc79a7", irq: "#e3c700", worker: "#8a9199" },
  heat: ["#f4f6f8", "#b9d9ea", "#56b4e9", "#0072b2", "#00304d"],
};

const DARK: Palette = {
  dark: true,
  ink: "#e7eaed",
  muted: "#9ba4ad",
  hairline: "#2b3138",
  paper: "#14171b",
  warn: "#ffb38a",
  op: { read: "#4aa8e0", write: "#f0a030", mixed: "#2bbf94", trim: "#dd9cc0" },
  cost: { user: "#1fae86", system: "#cc79a7", irq: "#e6d24a", worker: "#7d858e" },
  heat: ["#1b2026", "#123c57", "#0072b2", "#56b4e9", "#d7eefb"],
};

/** The palette for a theme. */
export function palette(dark: boolean): Palette {
  return dark ? DARK : LIGHT;
}

function channels(hex: string): [number, number, number] {
  const n = Number.parseInt(hex.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

/** A colour between two, `share` of the way from `a` to `b`. */
export function blend(a: string, b: string, share: number): string {
  const [x, y] = [channels(a), channels(b)];
  const mixed = x.map((v, i) => Math.round(v + ((y[i] ?? v) - v) * share));
  return `#${mixed.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

/** `n` shades of one colour, from pale to full and on towards ink: an ordered series, such as queue depths. */
export function shades(base: string, p: Palette, n: number): string[] {
  if (n === 1) return [base];
  return Array.from({ length: n }, (_, i) => {
    const at = i / (n - 1);
    return at < 0.6 ? blend(blend(base, p.paper, p.dark ? 0.4 : 0.58), base, at / 0.6) : blend(base, p.ink, ((at - 0.6) / 0.4) * 0.48);
  });
}

/** Colour of a share in [0, 1] on the scale from idle to busy. */
export function heatTone(share: number, p: Palette): string {
  const at = Math.min(1, Math.max(0, share)) * (p.heat.length - 1);
  const low = Math.min(Math.floor(at), p.heat.length - 2);
  return blend(p.heat[low] ?? p.paper, p.heat[low + 1] ?? p.ink, at - low);
}

/** Whether dark words are read better on this colour. */
export function isPale(hex: string): boolean {
  const [r, g, b] = channels(hex);
  return 0.299 * r + 0.587 * g + 0.114 * b > 140;
}

/** Colour of one of several paths, which colour-blind readers tell apart as well. */
export function pathTone(index: number, p: Palette): string {
  const tones = [p.op.read, p.op.write, p.op.mixed, p.op.trim, p.cost.irq, p.ink, p.warn, p.muted];
  return tones[index % tones.length] ?? p.ink;
}
