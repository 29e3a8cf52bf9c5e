/** Metrics of conversion webhooks, under the names that Kubernetes dashboards use. */
import { counter, Counts, gauge, histogram, Histograms } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";

/** From a millisecond to 16 seconds. */
const DURATION_BUCKETS = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);

const DURATIONS = histogram(
  "apiserver_crd_conversion_webhook_duration_seconds",
  "Duration of calls of conversion webhooks.",
  DURATION_BUCKETS,
  "crd_name",
  "from_version",
  "succeeded",
  "to_version",
);
const REQUESTS = counter(
  "apiserver_conversion_webhook_request_total",
  "Calls of conversion webhooks, by result and cause of failure.",
  "failure_type",
  "result",
);
const FAILURES = gauge(
  "flotilla_conversion_webhook_failures",
  "Calls of a conversion webhook that failed since its last answer.",
  "crd_name",
);

export const conversionMetrics: readonly Metric[] = [DURATIONS, REQUESTS, FAILURES];

export type ConversionFailure = "" | "conversion_call_failure" | "conversion_webhook_invalid_converted_object";

/** The metrics of the conversion webhooks of one cluster. */
export class ConversionMetrics {
  readonly #durations = new Histograms(DURATIONS);
  readonly #requests = new Counts(REQUESTS);
  /** By CRD. */
  readonly #failures = new Map<string, number>();

  called(crd: string, from: string, to: string, seconds: number, failure: ConversionFailure): void {
    const succeeded = failure === "";
    this.#durations.observe([crd, from, String(succeeded), to], seconds);
    this.#requests.add([failure, succeeded ? "success" : "failure"]);
    this.#failures.set(crd, succeeded ? 0 : (this.#failures.get(crd) ?? 0) + 1);
  }

  failuresOf(crd: string): number {
    return this.#failures.get(crd) ?? 0;
  }

  /** The CRD is no longer there, or has no webhook. */
  forget(crd: string): void {
    this.#failures.delete(crd);
  }

  write(text: MetricsText): void {
    this.#durations.write(text);
    this.#requests.write(text);
    text.family(FAILURES);
    for (const [crd, failures] of this.#failures) text.sample(FAILURES.name, [["crd_name", crd]], failures);
  }
}
