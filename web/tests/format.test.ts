import { UNITS } from "../src/generated/units";
import { describe, expect, it } from "vitest";
import type { LatencyView } from "../src/document";
import * as f from "../src/format";
import { factName, factValue, ranges } from "../src/sections/facts";
import { generator } from "./fixture";

describe("numbers", () => {
  it("have three significant digits and carry into the next unit when they round up to it", () => {
    expect([f.count3(183_400), f.count3(999_600), f.count3(12_100), f.count3(950), f.count3(0)]).toEqual(["183k", "1.00M", "12.1k", "950", "0"]);
    expect([f.time(78_000), f.time(999_600), f.time(850), f.time(3e9)]).toEqual(["78.0 us", "1.00 ms", "850 ns", "3.00 s"]);
  });

  it("that do not exist are a dash, never a zero", () => {
    for (const print of [f.count3, f.time, f.megabytes, f.mebibytes, f.bytesBinary, f.whole, f.duration, f.percent]) {
      expect([print(null), print(undefined), print(Number.NaN)]).toEqual(["–", "–", "–"]);
    }
  });

  it("stay within half a percent of what they print, whatever the size", () => {
    const random = generator(3);
    const unit: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
    for (let i = 0; i < 2000; i++) {
      const ns = 10 ** (random() * 12);
      const [number = "", word = ""] = f.time(ns).split(" ");
      const back = Number(number) * (unit[word] ?? Number.NaN);
      expect(Math.abs(back - ns) / ns, `${ns}: ${number} ${word}`).toBeLessThanOrEqual(0.0051);
    }
  });

  it("on axes drop the zeros after the point, and only those", () => {
    expect([0, 100_000, 2500, 50e6, 1e9].map(f.timeTick)).toEqual(["0", "100 us", "2.5 us", "50 ms", "1 s"]);
    expect([0, 50_000, 1.5e6, 600_000, 10].map(f.countTick)).toEqual(["0", "50k", "1.5M", "600k", "10"]);
  });

  it("of rates come in decimal and binary units", () => {
    expect([f.megabytes(749_568_000), f.mebibytes(749_568_000)]).toEqual(["750", "715"]);
    expect(f.figure(3.388e9, "bytes_per_s")).toBe("3.39 GB/s (3.16 GiB/s)");
    expect(f.figure(2240, "ns_per_io")).toBe("2.24 us per I/O");
  });

  it("of every unit that a document can name stand in words", () => {
    expect(UNITS.map((unit) => f.figure(90, unit))).toEqual([
      "90.0 IOPS", "90.0 B/s (90.0 B/s)", "90.0 B", "90", "90.0 ns", "<0.1 s", "90.0 ns per I/O", "90.0 IOPS per core", "90 %", "+90.0 %",
      "90.0x", "90.00x", "+90.0 % a minute", "90.00 cores", "90", "90.00 per I/O", "90 °C", "90.0 Hz", "90 ppm", "90.0 W", "90.0 s", "90.0/s",
    ]);
  });

  it("of older documents keep the units of theirs", () => {
    expect([f.figure(2e9, "bytes/s"), f.figure(41, "%"), f.figure(1.5, "x"), f.figure(3, "ios"), f.figure(7, "furlongs")]).toEqual(["2.00 GB/s (1.86 GiB/s)", "41 %", "1.50x", "3", "7 furlongs"]);
  });

  it("of sizes are fio's words for blocks and whole where they are whole", () => {
    expect([512, 1536, 4096, 131072, 1048576].map(f.blockSize)).toEqual(["512", "1536", "4k", "128k", "1m"]);
    expect([f.bytesBinary(4096), f.bytesBinary(2 ** 31), f.bytesBinary(1.3e9), f.bytesDecimal(1_920_383_410_176)]).toEqual(["4 KiB", "2 GiB", "1.21 GiB", "1.92 TB"]);
  });

  it("of an interval are half its width in percent", () => {
    expect(f.plusMinus([182_000, 184_000], 183_000)).toBe("±0.55 %");
    expect(f.plusMinus([90, 110], 100)).toBe("±10 %");
    expect([f.plusMinus(null, 5), f.plusMinus([0, 0], 0)]).toEqual(["", ""]);
  });

  it("of time spans are words", () => {
    expect([0.03, 4, 40, 60, 72.4, 7500].map(f.duration)).toEqual(["<0.1 s", "4.0 s", "40 s", "1 min", "1 min 12 s", "2 h 5 min"]);
  });
});

describe("a quantile", () => {
  const lat = { samples: 10, mean: 1, stddev: 1, min: 1, max: 1, p50: 168_000, p90: null, p95: null, p99: null, "p99.9": null, "p99.99": null, "p99.999": null, ci95: {}, needs: { p99: { ios: 9990, seconds: 40 } } } as LatencyView;

  it("is its value, what it needs, or nothing", () => {
    expect(f.quantile(lat, "p50")).toEqual({ kind: "value", text: "168 us" });
    expect(f.quantile(lat, "p99")).toEqual({ kind: "needs", seconds: 40, ios: 9990 });
    expect([f.quantile(lat, "p90"), f.quantile(null, "p50")]).toEqual([{ kind: "none" }, { kind: "none" }]);
  });
});

describe("facts about the host", () => {
  it("take their unit from their name", () => {
    expect([factValue("memory_bytes", 33554432000), factValue("size_bytes", 1_920_383_410_176), factValue("x_khz", 3_400_000), factValue("read_only", false)]).toEqual(["31.3 GiB", "1.92 TB", "3\u202f400 MHz", "no"]);
  });

  it("that nobody knows yet are shown under their own name", () => {
    expect([factName("max_sectors_bytes"), factName("cpu_model")]).toEqual(["Max sectors", "CPU"]);
  });

  it("write CPU lists as ranges", () => {
    expect([ranges([0, 1, 2, 3, 8]), ranges([]), ranges([5]), ranges(["a", "b"])]).toEqual(["0–3, 8", "", "5", "a, b"]);
  });
});
