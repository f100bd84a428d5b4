import { describe, expect, it } from "vitest";
import { hatchLines, barLines, notNegative, topOf, within } from "../src/intervals";

describe("intervals beyond the plot", () => {
  it("are cut at its edge, and say at which", () => {
    expect(within([0.9, 1.1], 0.25, 4)).toEqual([0.9, 1.1, 0]);
    expect(within([0.01, 1.1], 0.25, 4)).toEqual([0.25, 1.1, 1]);
    expect(within([0.9, 50], 0.25, 4)).toEqual([0.9, 4, 2]);
    expect(within([-3, 50], 0.25, 4)).toEqual([0.25, 4, 3]);
  });

  it("hatching stays within its box", () => {
    const lines = hatchLines(10, 20, 30, 12, 5);
    expect(lines).toHaveLength(8);
    for (const [x1, y1, x2, y2] of lines) {
      expect([x1, x2].every((x) => x >= 10 && x <= 40) && [y1, y2].every((y) => y >= 20 && y <= 32)).toBe(true);
      expect(x2 - x1).toBeCloseTo(y1 - y2);
    }
  });

  it("are held by the axis up to twice the highest value", () => {
    expect(topOf([5, null, 10], [[4, 12], null])).toBe(12);
    expect(topOf([5, 10], [[1, 400]])).toBe(20);
    expect(topOf([], [])).toBe(0);
  });

  it("of a rate begin at 0 at the lowest", () => {
    expect(notNegative([-5, 20])).toEqual([0, 20]);
    expect(notNegative([-5, -2])).toEqual([0, 0]);
    expect(notNegative([3, 20])).toEqual([3, 20]);
  });

  it("end in an arrow head where they go on, and in a line across where they end", () => {
    // Upright: from (10, 90) at the bottom to (10, 20) at the top of the plot, which it leaves.
    const lines = barLines([10, 90], [10, 20], false, 2);
    expect(lines).toEqual([[10, 90, 10, 20], [6, 90, 14, 90], [10, 20, 6, 28], [10, 20, 14, 28]]);
    expect(barLines([10, 90], [10, 20], false, 0)).toHaveLength(3);
    // Across, both ends cut: four lines of heads beside the bar.
    expect(barLines([5, 50], [95, 50], true, 3)).toEqual([[5, 50, 95, 50], [5, 50, 13, 46], [5, 50, 13, 54], [95, 50, 87, 46], [95, 50, 87, 54]]);
  });
});
