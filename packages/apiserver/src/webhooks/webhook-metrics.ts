/** Metrics of admission webhooks, under the names that Kubernetes dashboards use. */
import { counter, Counts, gauge, histogram, Histograms } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";
import type { AdmissionHook } from "./admission-hook.ts";
import type { AdmissionOperation } from "../admission-match/match-rules.ts";

const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];

const DURATIONS = histogram(
  "apiserver_admission_webhook_admission_duration_seconds",
  "Duration of calls of admission webhooks.",
  DURATION_BUCKETS,
  "name",
  "type",
  "operation",
  "rejected",
);
const REQUESTS = counter(
  "apiserver_admission_webhook_request_total",
  "Calls of admission webhooks, with the HTTP status code of the verdict or the failure.",
  "name",
  "type",
  "operation",
  "code",
  "rejected",
);
const REJECTIONS = counter(
  "apiserver_admission_webhook_rejection_count",
  "Requests that an admission webhook rejected, or that failed because it could not be called.",
  "name",
  "type",
  "operation",
  "error_type",
  "rejection_code",
);
const FAIL_OPEN = counter(
  "apiserver_admission_webhook_fail_open_count",
  "Requests that were carried out although an admission webhook could not be called.",
  "name",
  "type",
);
const FAILURES = gauge(
  "flotilla_admission_webhook_failures",
  "Calls of an admission webhook that failed since its last answer.",
  "name",
  "type",
  "configuration",
);

export const webhookMetrics: readonly Metric[] = [DURATIONS, REQUESTS, REJECTIONS, FAIL_OPEN, FAILURES];

/** What Kubernetes' metrics call the types. */
const STEP = { mutating: "admit", validating: "validating" } as const;

/** The metrics of the webhooks of one cluster. */
export class WebhookMetrics {
  readonly #durations = new Histograms(DURATIONS);
  readonly #requests = new Counts(REQUESTS);
  readonly #rejections = new Counts(REJECTIONS);
  readonly #failOpen = new Counts(FAIL_OPEN);

  answered(
    { name, type }: AdmissionHook,
    operation: AdmissionOperation,
    { seconds, code, rejected }: { seconds: number; code: number; rejected: boolean },
  ): void {
    this.#durations.observe([name, STEP[type], operation, String(rejected)], seconds);
    this.#requests.add([name, STEP[type], operation, String(code), String(rejected)]);
  }

  rejected(
    { name, type }: AdmissionHook,
    operation: AdmissionOperation,
    cause: "no_error" | "calling_webhook_error" | "apiserver_internal_error",
    code: number,
  ): void {
    this.#rejections.add([name, STEP[type], operation, cause, String(code)]);
  }

  failedOpen({ name, type }: AdmissionHook): void {
    this.#failOpen.add([name, STEP[type]]);
  }

  write(text: MetricsText, hooks: readonly AdmissionHook[]): void {
    this.#durations.write(text);
    this.#requests.write(text);
    this.#rejections.write(text);
    this.#failOpen.write(text);
    text.family(FAILURES);
    for (const { name, type, configuration, breaker } of hooks)
      text.sample(
        FAILURES.name,
        [
          ["name", name],
          ["type", type],
          ["configuration", configuration],
        ],
        breaker.failures,
      );
  }
}
