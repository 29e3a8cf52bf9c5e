/** Metrics of aggregated servers, under the names that Kubernetes dashboards use. */
import { counter, Counts, gauge } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";

const UNAVAILABLE = gauge(
  "aggregator_unavailable_apiservice",
  "1 if the server behind an APIService is unavailable, 0 otherwise.",
  "name",
);
const FAILURES = counter(
  "aggregator_unavailable_apiservice_total",
  "How often the server behind an APIService became unavailable, by reason.",
  "name",
  "reason",
);

export const aggregationMetrics: readonly Metric[] = [UNAVAILABLE, FAILURES];

/** The metrics of the APIServices of one cluster. */
export class AggregationMetrics {
  readonly #down = new Map<string, boolean>();
  readonly #failures = new Counts(FAILURES);

  checked(name: string, isUp: boolean, reason: string): void {
    if (!isUp && this.#down.get(name) !== true) this.#failures.add([name, reason]);
    this.#down.set(name, !isUp);
  }

  forget(name: string): void {
    this.#down.delete(name);
  }

  write(text: MetricsText): void {
    text.family(UNAVAILABLE);
    for (const [name, isDown] of this.#down) text.sample(UNAVAILABLE.name, [["name", name]], isDown ? 1 : 0);
    this.#failures.write(text);
  }
}
