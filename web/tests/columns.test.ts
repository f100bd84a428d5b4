import { describe, expect, it } from "vitest";
import { records } from "../src/columns";

describe("records by column", () => {
  it("come back with what they lack, what is null and what all share", () => {
    const column = {
      of: {
        op: { each: "read" },
        lat: { of: { p50: [1] }, is: "on." },
        list: [[1], [], [2, 3]],
        some: { all: [7], is: "..v" },
      },
    };
    expect(records({ count: 3, column })).toEqual([
      { op: "read", lat: { p50: 1 }, list: [1] },
      { op: "read", lat: null, list: [] },
      { op: "read", list: [2, 3], some: 7 },
    ]);
  });

  it("are taken as they are from a plain list", () => {
    expect(records([{ a: 1 }])).toEqual([{ a: 1 }]);
  });

  it("do not share what each of them holds", () => {
    const [a, b] = records<{ x: number[] }>({ count: 2, column: { of: { x: { each: [1] } } } });
    a?.x.push(2);
    expect(b?.x).toEqual([1]);
  });

  it("are refused when the list is cut short", () => {
    expect(() => records({ count: 1, column: 3 })).toThrow(/cut short/);
  });
});
