/** Metrics of webhook calls, for Prometheus. */
import { Histogram } from "@flotilla/base";
import type { Labels, Metric, MetricsText } from "@flotilla/base";
import type { Operation } from "@flotilla/kubernetes";
import { FAILURE_REASONS } from "@flotilla/client";
import type { FailureReason } from "@flotilla/client";

/** From a webhook on the same network to the maximum timeout. */
const DURATION_SECONDS = [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const DURATION: Metric = {
  name: "flotilla_interpreter_webhook_duration_seconds",
  type: "histogram",
  help: "Duration of interpreter webhook calls, including queueing and retries.",
  labels: ["webhook", "operation"],
  buckets: DURATION_SECONDS,
};
const FAILURES: Metric = {
  name: "flotilla_interpreter_webhook_failures_total",
  type: "counter",
  help: "Interpreter webhook calls without a usable response.",
  labels: ["webhook", "operation", "reason"],
};

const FAILING: Metric = {
  name: "flotilla_interpreter_webhook_failing",
  type: "gauge",
  help: "1 if the last call of a webhook failed.",
  labels: ["webhook", "operation"],
};

export const hookMetrics: readonly Metric[] = [DURATION, FAILURES, FAILING];

interface Counts {
  readonly durations: Histogram;
  readonly failures: Record<FailureReason, number>;
  /** The last call failed. */
  isFailing: boolean;
}

/** Metrics of one webhook. */
export class HookMetrics {
  readonly byOperation = new Map<Operation, Counts>();

  /** Records a finished call, including queueing and all attempts. */
  ended(operation: Operation, tookMs: number, failure?: FailureReason): void {
    const counts = this.#of(operation);
    counts.durations.observe(tookMs / 1000);
    if (failure) counts.failures[failure] += 1;
    counts.isFailing = failure !== undefined;
  }

  #of(operation: Operation): Counts {
    let counts = this.byOperation.get(operation);
    if (!counts) {
      counts = {
        durations: new Histogram(DURATION_SECONDS),
        failures: Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0])) as Record<FailureReason, number>,
        isFailing: false,
      };
      this.byOperation.set(operation, counts);
    }
    return counts;
  }
}

export function writeHookMetrics(text: MetricsText, hooks: ReadonlyMap<string, HookMetrics>): void {
  const samples = [...hooks].flatMap(([webhook, { byOperation }]) =>
    [...byOperation].map(([operation, counts]) => ({
      labels: [
        ["webhook", webhook],
        ["operation", operation],
      ] as Labels,
      ...counts,
    })),
  );
  text.family(DURATION);
  for (const { labels, durations } of samples) durations.write(text, DURATION.name, labels);
  text.family(FAILURES);
  for (const { labels, failures } of samples)
    for (const reason of FAILURE_REASONS) text.sample(FAILURES.name, [...labels, ["reason", reason]], failures[reason]);
  text.family(FAILING);
  for (const { labels, isFailing } of samples) text.sample(FAILING.name, labels, isFailing ? 1 : 0);
}
