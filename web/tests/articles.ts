/** The articles redone: a small table of published and simulated figures, as `fathom reproduce` writes it. */

import type { FigureRow, PicturePoint, PublishedMetric, Reproduction } from "../src/document";

function row(id: string, metric: PublishedMetric, published: number, predicted: number | null, more: Partial<FigureRow> = {}): FigureRow {
  return {
    id, article: "pinning-2017", metric, unit: metric === "iops" ? "iops" : metric === "tpm" ? "count" : "ns", published, published_max: null, relation: "=", predicted,
    error_pct: predicted === null ? null : (100 * (predicted - published)) / published, fitted: false, contradiction: null, counted: true,
    step: "4k random read T1 QD1", target: "sim:bench/drive", assumed: null, reason: null, ...more,
  };
}

function points(values: readonly number[], published: readonly number[]): PicturePoint[] {
  return values.map((v, i) => ({ x: String(2 ** i), step: `4k random read T1 QD${2 ** i}`, values: { iops: v, lat_mean_ns: (2 ** i * 1e9) / v }, published: [{ id: `p${i}`, metric: "iops", value: published[i] ?? v, value_max: null }] }));
}

/** One article with a picture, figures that are fitted, off, contradicted and not predicted, and a parameter. */
export function articles(): Reproduction {
  return {
    schema: 2,
    window: { ramp_ms: 20, runtime_ms: 100, seed: 1 },
    articles: [{ id: "pinning-2017", title: "Binding threads on a fast drive", publisher: "A magazine", url: "https://example.org/pinning", machines: ["bench"] }],
    figures: [
      row("read-qd1", "iops", 71_000, 73_400, { fitted: true }),
      row("read-qd1-pinned", "iops", 89_500, 86_900, { assumed: "one worker" }),
      row("read-max", "iops", 580_000, 561_000),
      row("read-lat", "lat_mean_ns", 11_000, 11_400),
      row("write-max", "iops", 500_000, 340_000, { reason: "The article does not say how long the drive was written before." }),
      row("read-cpu", "lat_mean_ns", 20_000, 55_000, { contradiction: "64 in flight over 580k IOPS give 110 us", counted: false }),
      row("tpm", "tpm", 250_000, null, { reason: "No step stands for a database.", counted: false, step: null, target: null }),
    ],
    pictures: [{ article: "pinning-2017", title: "4k random read", x: "queue depth", shows: ["iops", "lat_mean_ns"], series: [{ name: "unpinned", points: points([71e3, 135e3, 240e3, 380e3], [73e3, 130e3, 250e3, 390e3]) }, { name: "pinned", points: points([89e3, 160e3, 280e3, 400e3], [86e3, 158e3, 275e3, 410e3]) }] }],
    parameters: [{ machines: ["bench"], parameter: "cost of an I/O", value: "3.1 us", fitted_to: ["read-qd1"] }],
    summary: { figures: 5, within_10_pct: 4, beyond_25_pct: 1, unexplained: 0, held_out: 4, held_out_within_15_pct: 3, without_prediction: 1, contradicted: 1 },
  };
}
