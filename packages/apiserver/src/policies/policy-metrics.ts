/** Metrics of admission policies, under the names that Kubernetes dashboards use. */
import { counter, Counts, histogram, Histograms } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";

/** As in kube-apiserver: half a microsecond to a second. */
const DURATION_BUCKETS = [0.000_000_5, 0.001, 0.01, 0.1, 1];

const VALIDATIONS = counter(
  "apiserver_validating_admission_policy_check_total",
  "Evaluations of ValidatingAdmissionPolicies, by binding and enforcement action.",
  "policy",
  "policy_binding",
  "error_type",
  "enforcement_action",
);
const VALIDATION_DURATIONS = histogram(
  "apiserver_validating_admission_policy_check_duration_seconds",
  "Duration of evaluations of ValidatingAdmissionPolicies.",
  DURATION_BUCKETS,
  "policy",
  "policy_binding",
  "error_type",
  "enforcement_action",
);
const MUTATIONS = counter(
  "apiserver_mutating_admission_policy_check_total",
  "Evaluations of MutatingAdmissionPolicies, by binding.",
  "policy",
  "policy_binding",
  "error_type",
);
const MUTATION_DURATIONS = histogram(
  "apiserver_mutating_admission_policy_check_duration_seconds",
  "Duration of evaluations of MutatingAdmissionPolicies.",
  DURATION_BUCKETS,
  "policy",
  "policy_binding",
  "error_type",
);

export const policyMetrics: readonly Metric[] = [VALIDATIONS, VALIDATION_DURATIONS, MUTATIONS, MUTATION_DURATIONS];

export type PolicyAction = "allow" | "deny" | "audit" | "warn";

/** The metrics of the policies of one cluster. */
export class PolicyMetrics {
  readonly #validations = new Counts(VALIDATIONS);
  readonly #validationDurations = new Histograms(VALIDATION_DURATIONS);
  readonly #mutations = new Counts(MUTATIONS);
  readonly #mutationDurations = new Histograms(MUTATION_DURATIONS);

  validated(policy: string, binding: string, hasFailed: boolean, action: PolicyAction, seconds: number): void {
    const labels = [policy, binding, errorType(hasFailed), action];
    this.#validations.add(labels);
    this.#validationDurations.observe(labels, seconds);
  }

  mutated(policy: string, binding: string, hasFailed: boolean, seconds: number): void {
    const labels = [policy, binding, errorType(hasFailed)];
    this.#mutations.add(labels);
    this.#mutationDurations.observe(labels, seconds);
  }

  write(text: MetricsText): void {
    this.#validations.write(text);
    this.#validationDurations.write(text);
    this.#mutations.write(text);
    this.#mutationDurations.write(text);
  }
}

const errorType = (hasFailed: boolean): string => (hasFailed ? "invalid_error" : "no_error");
