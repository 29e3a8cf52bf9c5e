/** Metrics of authorization webhooks, under the names of Kubernetes. */
import { counter, Counts, histogram, Histograms } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";

const CALLS = counter(
  "apiserver_authorization_webhook_evaluations_total",
  "Calls of authorization webhooks, by result.",
  "name",
  "result",
);
const DURATIONS = histogram(
  "apiserver_authorization_webhook_duration_seconds",
  "Duration of calls of authorization webhooks.",
  [0.005, 0.02, 0.1, 0.2, 0.5, 1, 2, 5, 10],
  "name",
  "result",
);
const FAILED_OPEN = counter(
  "apiserver_authorization_webhook_evaluations_fail_open_total",
  "Requests that were decided without an authorization webhook, because it failed and its policy is NoOpinion.",
  "name",
);

export const authorizationMetrics: readonly Metric[] = [CALLS, DURATIONS, FAILED_OPEN];

export class AuthorizationMetrics {
  readonly #calls = new Counts(CALLS);
  readonly #durations = new Histograms(DURATIONS);
  readonly #failedOpen = new Counts(FAILED_OPEN);

  called(name: string, result: string, seconds: number): void {
    this.#calls.add([name, result]);
    this.#durations.observe([name, result], seconds);
  }

  failedOpen(name: string): void {
    this.#failedOpen.add([name]);
  }

  write(text: MetricsText): void {
    this.#calls.write(text);
    this.#durations.write(text);
    this.#failedOpen.write(text);
  }
}
