/** Intervals as bars within a plot. Pure. */

/** Half the width of an end, and the length of an arrow head, in pixels. */
const END_PX = 4;

/** Which ends of an interval lie beyond the plot: 1 the lower, 2 the upper, 3 both. */
export type Cut = 0 | 1 | 2 | 3;

/** An interval cut at the ends of its axis, and where it was cut. */
export function within(interval: readonly [number, number], least: number, most: number): [number, number, Cut] {
  const [low, high] = interval;
  return [Math.min(most, Math.max(least, low)), Math.min(most, Math.max(least, high)), ((low < least ? 1 : 0) + (high > most ? 2 : 0)) as Cut];
}

/** Lines that hatch a box, `gap` pixels apart along its edges. */
export function hatchLines(x: number, y: number, width: number, height: number, gap: number): [number, number, number, number][] {
  const lines: [number, number, number, number][] = [];
  // A line of slope 1 meets the left or the lower edge first, then the upper or the right one.
  for (let at = gap; at < width + height; at += gap) {
    const [from, to] = [Math.min(at, height), Math.min(at, width)];
    lines.push([x + Math.max(0, at - height), y + from, x + to, y + Math.max(0, at - width)]);
  }
  return lines;
}

/** An axis ends at most at this many times the highest value, even if an interval is longer. */
const ROOM_MAX = 2;

/** Top of an axis that holds values and, within reason, the upper ends of their intervals. */
export function topOf(values: readonly (number | null | undefined)[], intervals: readonly (readonly [number, number] | null | undefined)[]): number {
  const highest = Math.max(0, ...values.filter((v): v is number => v !== null && v !== undefined));
  return Math.max(highest, ...intervals.map((ci) => Math.min(ci?.[1] ?? 0, ROOM_MAX * highest)));
}

/** A rate below nothing is no part of a plot, and nothing that was cut. */
export function notNegative([low, high]: readonly [number, number]): [number, number] {
  return [Math.max(0, low), Math.max(0, high)];
}

/** Lines of a bar from `a` to `b`, across (`flat`) or upright: an end where the interval ends, an arrow head where it goes on. */
export function barLines(a: readonly [number, number], b: readonly [number, number], flat: boolean, cut: number): [number, number, number, number][] {
  const end = ([x, y]: readonly [number, number]): [number, number, number, number][] => (flat ? [[x, y - END_PX, x, y + END_PX]] : [[x - END_PX, y, x + END_PX, y]]);
  // From the point back towards the middle of the bar.
  const arrow = ([x, y]: readonly [number, number], towards: readonly [number, number]): [number, number, number, number][] => {
    const [dx, dy] = flat ? [Math.sign(towards[0] - x) * 2 * END_PX, 0] : [0, Math.sign(towards[1] - y) * 2 * END_PX];
    return [-END_PX, END_PX].map((aside) => (flat ? [x, y, x + dx, y + aside] : [x, y, x + aside, y + dy]));
  };
  return [[a[0], a[1], b[0], b[1]], ...(cut & 1 ? arrow(a, b) : end(a)), ...(cut & 2 ? arrow(b, a) : end(b))];
}
