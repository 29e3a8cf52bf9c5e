/** What is counted of the calls of webhooks, for Prometheus. */
import { Histogram } from "../../base/index.ts";
import type { Labels, MetricsText } from "../../base/index.ts";
import type { Operation } from "../operations.ts";
import { FAILURE_REASONS } from "./webhook-error.ts";
import type { FailureReason } from "./webhook-error.ts";

/** From a webhook next door to the longest that one may take. */
const DURATION_SECONDS = [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const DURATION = "flotilla_interpreter_webhook_duration_seconds";
const FAILURES = "flotilla_interpreter_webhook_failures_total";

interface Counts {
  readonly durations: Histogram;
  readonly failures: Record<FailureReason, number>;
}

/** Of one webhook. */
export class HookMetrics {
  readonly byOperation = new Map<Operation, Counts>();

  /** A call ended after its waiting and all its attempts. */
  ended(operation: Operation, tookMs: number, failure?: FailureReason): void {
    const counts = this.#of(operation);
    counts.durations.observe(tookMs / 1000);
    if (failure) counts.failures[failure] += 1;
  }

  #of(operation: Operation): Counts {
    let counts = this.byOperation.get(operation);
    if (!counts) {
      counts = { durations: new Histogram(DURATION_SECONDS), failures: Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0])) as Record<FailureReason, number> };
      this.byOperation.set(operation, counts);
    }
    return counts;
  }
}

export function writeHookMetrics(text: MetricsText, hooks: ReadonlyMap<string, HookMetrics>): void {
  const samples = [...hooks].flatMap(([webhook, { byOperation }]) => [...byOperation].map(([operation, counts]) => ({ labels: [["webhook", webhook], ["operation", operation]] as Labels, ...counts })));
  text.family(DURATION, "histogram", "How long calls of interpreter webhooks took, with waiting and repetitions.");
  for (const { labels, durations } of samples) durations.write(text, DURATION, labels);
  text.family(FAILURES, "counter", "Calls of interpreter webhooks that gave no answer that can be used.");
  for (const { labels, failures } of samples) for (const reason of FAILURE_REASONS) text.sample(FAILURES, [...labels, ["reason", reason]], failures[reason]);
}
