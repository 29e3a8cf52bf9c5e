/** The declaration of a metric. */

export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** For the reference and for Prometheus: one sentence. */
  readonly help: string;
  /** Label names, in the order in which values are given. */
  readonly labels: readonly string[];
  /** Upper bounds; only for histograms. */
  readonly buckets?: readonly number[];
}
