/**
 * Evaluates the admission policies of a cluster on a request (docs/adr/0036). Nothing is awaited: parameters and
 * Namespaces are in the cache.
 */
import type { ApiError } from "@flotilla/apimachinery";
import { invariant } from "@flotilla/base";
import type { MetricsText } from "@flotilla/base";
import type { AdmissionRequest } from "../admission-match/admission-request.ts";
import type { AdmissionOperation } from "../admission-match/match-rules.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { RequestContext } from "../request/context.ts";
import type { Cache } from "../store/cache.ts";
import { AuditAnnotations } from "./audit-annotations.ts";
import { validationDenied } from "./policy-denial.ts";
import type { Denied } from "./policy-denial.ts";
import { createPolicyIndex } from "./policy-index.ts";
import type { PolicyCandidates } from "./policy-index.ts";
import { PolicyMetrics } from "./policy-metrics.ts";
import type { PolicyAction } from "./policy-metrics.ts";
import { PolicyMutation } from "./policy-mutation.ts";
import { PolicyRequest } from "./policy-request.ts";
import type { Invocation, PolicyDependencies } from "./policy-request.ts";
import type { PolicyDenial, ValidatingPolicy } from "./validating-policy.ts";

export interface AdmissionPolicies {
  /** The policies whose rules match the request; undefined when there are none. */
  find(context: RequestContext, operation: AdmissionOperation): PolicyCandidates | undefined;
  /** For one request. Its object may be changed in several rounds. */
  mutation(candidates: PolicyCandidates): PolicyMutation;
  /** Throws when a policy denies the request. */
  validate(candidates: PolicyCandidates, request: AdmissionRequest): void;
  writeMetrics(cluster: string, text: MetricsText): void;
  /** The cluster was removed. */
  forget(cluster: string): void;
  close(): void;
}

export interface AdmissionPolicyDependencies extends PolicyDependencies {
  cache: Cache;
  clusters: ClusterRegistry;
}

export function createAdmissionPolicies(deps: AdmissionPolicyDependencies): AdmissionPolicies {
  const index = createPolicyIndex(deps);
  const metrics = new Map<string, PolicyMetrics>();
  const metricsOf = ({ context: { cluster } }: AdmissionRequest): PolicyMetrics => {
    const known = metrics.get(cluster.name);
    if (known) return known;
    const created = new PolicyMetrics();
    // A request may end after its cluster was removed; nothing would forget these.
    if (deps.clusters.get(cluster.name)) metrics.set(cluster.name, created);
    return created;
  };
  return {
    find: ({ cluster, served, subresource }, operation) =>
      index.candidates(cluster, { served, subresource, operation }),
    mutation: ({ mutating }) => new PolicyMutation(deps, mutating, metricsOf),
    validate({ validating }, request) {
      if (validating.length === 0) return;
      const denied = validate(deps, validating, request, metricsOf(request));
      if (denied) throw denied;
    },
    writeMetrics: (cluster, text) => (metrics.get(cluster) ?? new PolicyMetrics()).write(text),
    forget: (cluster) => void metrics.delete(cluster),
    close: () => index.close(),
  };
}

/** All policies are evaluated, for their warnings and annotations; the first denial is the answer. */
function validate(
  deps: PolicyDependencies,
  candidates: PolicyCandidates["validating"],
  request: AdmissionRequest,
  metrics: PolicyMetrics,
): ApiError | undefined {
  const denied: Denied[] = [];
  const audit = new AuditAnnotations();
  const asked = new PolicyRequest(deps, request);
  for (const selected of asked.select(candidates)) {
    const { policy } = selected.candidate;
    if (selected.message !== undefined) {
      if (!policy.ignoresFailures)
        denied.push({ policy: policy.name, binding: selected.binding, message: selected.message });
      continue;
    }
    const startMs = performance.now();
    const { denials, errors, annotations } = policy.compiled.evaluate(asked.input(selected));
    const actions = denials.length === 0 ? ALLOWED : selected.binding.actions.map(actionOf);
    const seconds = (performance.now() - startMs) / 1000;
    for (const action of errors.length > 0 ? DENIED : actions)
      metrics.validated(policy.name, selected.binding.name, errors.length > 0, action, seconds);
    for (const denial of denials) enforce(selected, denial, request, denied, audit);
    for (const { key, value } of annotations) audit.add(policy.name, key, value);
    for (const message of errors) denied.push({ policy: policy.name, binding: selected.binding.name, message });
  }
  audit.publish(request.context.audit);
  const [first] = denied;
  return first && validationDenied(request, first);
}

const ALLOWED: readonly PolicyAction[] = ["allow"];
const DENIED: readonly PolicyAction[] = ["deny"];
const actionOf = (action: string): PolicyAction => (action === "Warn" ? "warn" : action === "Audit" ? "audit" : "deny");

/** Does what the binding wants to be done about a failed validation. */
function enforce(
  { candidate: { policy }, binding }: Invocation<ValidatingPolicy>,
  { message, reason, index }: PolicyDenial,
  { context }: AdmissionRequest,
  denied: Denied[],
  audit: AuditAnnotations,
): void {
  for (const action of binding.actions)
    switch (action) {
      case "Deny":
        denied.push({ policy: policy.name, binding: binding.name, message, reason });
        break;
      case "Warn":
        context.warn(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
        );
        break;
      case "Audit":
        audit.addFailure({
          message,
          policy: policy.name,
          binding: binding.name,
          expressionIndex: index,
          validationActions: binding.actions,
        });
        break;
      default:
        invariant(false, `the validation action ${action} must be known`);
    }
}
