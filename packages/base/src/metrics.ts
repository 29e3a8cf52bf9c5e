/**
 * Metrics that are counted where something happens and read on scrape. Each is declared once, with everything that
 * `docs/reference/metrics.md` states about it.
 *
 * Counting costs one map lookup. The number of series is limited: labels beyond the limit are counted together as
 * `other`, so that clients cannot grow the process by inventing kinds or clusters.
 */
import { Histogram } from "./histogram.ts";
import { formatLabels } from "./metrics-text.ts";
import type { MetricsText } from "./metrics-text.ts";
import type { Metric } from "./metric.ts";

export const counter = (name: string, help: string, ...labels: string[]): Metric => ({
  name,
  type: "counter",
  help,
  labels,
});
export const gauge = (name: string, help: string, ...labels: string[]): Metric => ({
  name,
  type: "gauge",
  help,
  labels,
});
export const histogram = (name: string, help: string, buckets: readonly number[], ...labels: string[]): Metric => ({
  name,
  type: "histogram",
  help,
  labels,
  buckets,
});

/** As in Prometheus' client libraries: each bound is the previous one times the factor. */
export function exponentialBuckets(first: number, factor: number, count: number): number[] {
  const buckets: number[] = [];
  for (let bound = first; buckets.length < count; bound *= factor) buckets.push(bound);
  return buckets;
}

/** The default buckets of Prometheus' client libraries. */
export const DEFAULT_BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A hub with a thousand members and a handful of kinds stays below this. */
const MAX_SERIES = 5_000;
const OTHER = "other";
const SEPARATOR = "\u0000";

/** The series of one metric, by label values. */
abstract class Family<S> {
  readonly metric: Metric;
  readonly #maxSeries: number;
  /** Labels are formatted once, because a page is read far more often than a series is created. */
  readonly #series = new Map<
    string,
    { readonly values: readonly string[]; readonly labels: string; readonly figure: S }
  >();

  constructor(metric: Metric, maxSeries = MAX_SERIES) {
    this.metric = metric;
    this.#maxSeries = maxSeries;
  }

  protected abstract create(): S;
  protected abstract writeFigure(text: MetricsText, labels: string, figure: S): void;

  #idOf(values: readonly string[]): string {
    return values.length === 1 ? (values[0] ?? "") : values.join(SEPARATOR);
  }

  protected drop(values: readonly string[]): void {
    this.#series.delete(this.#idOf(values));
  }

  protected find(values: readonly string[]): S | undefined {
    return this.#series.get(this.#idOf(values))?.figure;
  }

  protected of(values: readonly string[]): S {
    const id = this.#idOf(values);
    const known = this.#series.get(id);
    if (known) return known.figure;
    if (this.#series.size >= this.#maxSeries && values.some((value) => value !== OTHER))
      return this.of(values.map(() => OTHER));
    const figure = this.create();
    this.#series.set(id, {
      values,
      labels: formatLabels(this.metric.labels.map((name, index) => [name, values[index] ?? ""] as const)),
      figure,
    });
    return figure;
  }

  /** Drops the series with this label value; they restart at zero if it returns. */
  forget(label: string, value: string): void {
    const at = this.metric.labels.indexOf(label);
    for (const [id, { values }] of this.#series) if (values[at] === value) this.#series.delete(id);
  }

  write(text: MetricsText): void {
    text.family(this.metric);
    for (const { labels, figure } of this.#series.values()) this.writeFigure(text, labels, figure);
  }
}

/** Counters, or up-down gauges; gauges that are back at zero are not written. */
export class Counts extends Family<{ count: number }> {
  add(values: readonly string[], by = 1): void {
    const figure = this.of(values);
    figure.count += by;
    if (figure.count === 0 && this.metric.type === "gauge") this.drop(values);
  }

  get(values: readonly string[]): number {
    return this.find(values)?.count ?? 0;
  }

  protected create(): { count: number } {
    return { count: 0 };
  }

  protected writeFigure(text: MetricsText, labels: string, { count }: { count: number }): void {
    text.figure(this.metric.name, labels, count);
  }
}

export class Histograms extends Family<Histogram> {
  observe(values: readonly string[], value: number): void {
    this.of(values).observe(value);
  }

  protected create(): Histogram {
    return new Histogram(this.metric.buckets ?? DEFAULT_BUCKETS);
  }

  protected writeFigure(text: MetricsText, labels: string, histogram: Histogram): void {
    histogram.writeWith(text, this.metric.name, labels);
  }
}

/** Writes one value per call, for values that are only computed on scrape. */
export function writeGauge(
  text: MetricsText,
  metric: Metric,
  samples: Iterable<readonly [values: readonly string[], value: number]>,
): void {
  text.family(metric);
  for (const [values, value] of samples)
    text.sample(
      metric.name,
      metric.labels.map((name, index) => [name, values[index] ?? ""] as const),
      value,
    );
}
