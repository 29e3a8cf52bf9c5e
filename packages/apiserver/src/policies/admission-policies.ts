/**
 * Evaluates the admission policies of a cluster on a request (docs/adr/0036). Nothing is awaited: parameters and
 * Namespaces are in the cache.
 */
import type { ApiError } from "@flotilla/apimachinery";
import { invariant } from "@flotilla/base";
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
  close(): void;
}

export interface AdmissionPolicyDependencies extends PolicyDependencies {
  cache: Cache;
  clusters: ClusterRegistry;
}

export function createAdmissionPolicies(deps: AdmissionPolicyDependencies): AdmissionPolicies {
  const index = createPolicyIndex(deps);
  return {
    find: ({ cluster, served, subresource }, operation) =>
      index.candidates(cluster, { served, subresource, operation }),
    mutation: ({ mutating }) => new PolicyMutation(deps, mutating),
    validate({ validating }, request) {
      const denied = validate(deps, validating, request);
      if (denied) throw denied;
    },
    close: () => index.close(),
  };
}

/** All policies are evaluated, for their warnings and annotations; the first denial is the answer. */
function validate(
  deps: PolicyDependencies,
  candidates: PolicyCandidates["validating"],
  request: AdmissionRequest,
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
    const { denials, errors, annotations } = policy.compiled.evaluate(asked.input(selected));
    for (const denial of denials) enforce(selected, denial, request, denied, audit);
    for (const { key, value } of annotations) audit.add(policy.name, key, value);
    for (const message of errors) denied.push({ policy: policy.name, binding: selected.binding.name, message });
  }
  audit.publish(request.context.audit);
  const [first] = denied;
  return first && validationDenied(request, first);
}

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
