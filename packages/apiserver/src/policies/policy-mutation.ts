/**
 * Applies the MutatingAdmissionPolicies of one request, one after the other. When one of them, or what follows them,
 * changes the object, all that have `reinvocationPolicy: IfNeeded` are applied once more, as in kube-apiserver: also the
 * policy that made the only change.
 */
import { equalJson } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { AdmissionRequest } from "../admission-match/admission-request.ts";
import { converted } from "../admission-match/equivalents.ts";
import { metadataOf } from "../codec/metadata.ts";
import type { ServedVersion } from "../resources/resources.ts";
import type { MutatingPolicy, ObjectType } from "./mutating-policy.ts";
import { mutationDenied } from "./policy-denial.ts";
import type { Denied } from "./policy-denial.ts";
import type { PolicyMetrics } from "./policy-metrics.ts";
import type { PolicyCandidate } from "./policy-index.ts";
import { PolicyRequest } from "./policy-request.ts";
import type { Invocation, PolicyDependencies } from "./policy-request.ts";
import { DEFAULT_REASON } from "./validating-policy.ts";

type Mutating = Invocation<MutatingPolicy>;

/** An object that is not of the kind of its resource, such as a Scale, is merged without a schema. */
const ANY_TYPE: ObjectType = {
  schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  builtIn: false,
};

export class PolicyMutation {
  readonly #deps: PolicyDependencies;
  readonly #candidates: readonly PolicyCandidate<MutatingPolicy>[];
  /** Invocations that may be repeated. */
  readonly #invoked = new Set<string>();
  #isChanged = false;
  #isRepeated = false;
  #last: JsonObject | undefined;

  readonly #metricsOf: (request: AdmissionRequest) => PolicyMetrics;

  constructor(
    deps: PolicyDependencies,
    candidates: readonly PolicyCandidate<MutatingPolicy>[],
    metricsOf: (request: AdmissionRequest) => PolicyMetrics,
  ) {
    this.#deps = deps;
    this.#candidates = candidates;
    this.#metricsOf = metricsOf;
  }

  /** The changed object; undefined when the policies change nothing. Throws when one fails. */
  run(request: AdmissionRequest): JsonObject | undefined {
    return this.#pass(request, () => true);
  }

  /** Applies policies again after a change. Does so once. */
  repeat(request: AdmissionRequest): JsonObject | undefined {
    if (this.#isRepeated || this.#invoked.size === 0) return undefined;
    if (!this.#isChanged && equalJson(this.#last, request.object)) return undefined;
    const changed = this.#pass(request, (key) => this.#invoked.has(key));
    this.#isRepeated = true;
    return changed;
  }

  #pass(request: AdmissionRequest, isWanted: (key: string) => boolean): JsonObject | undefined {
    const denied: Denied[] = [];
    const deny = (policy: string, binding: string | undefined, message: string, reason?: string): void => {
      denied.push({ policy, binding, message, reason });
    };
    let object = request.object;
    for (const selected of new PolicyRequest(this.#deps, request).select(this.#candidates)) {
      const { policy } = selected.candidate;
      if (selected.message !== undefined) {
        if (!policy.ignoresFailures) deny(policy.name, selected.binding, selected.message);
        continue;
      }
      const key = keyOf(selected);
      if (!isWanted(key)) continue;
      const problems: string[] = [];
      const startMs = performance.now();
      const next = this.#apply(selected, { ...request, object }, problems);
      if (next !== "skipped")
        this.#metricsOf(request).mutated(
          policy.name,
          selected.binding.name,
          problems.length > 0,
          (performance.now() - startMs) / 1000,
        );
      if (!policy.ignoresFailures)
        for (const problem of problems) deny(policy.name, selected.binding.name, problem, DEFAULT_REASON);
      if (next === "skipped") continue;
      if (next) {
        this.#isChanged = true;
        object = next;
      }
      if (policy.compiled.isReinvocable) this.#invoked.add(key);
    }
    if (denied.length > 0) throw mutationDenied(request, denied);
    this.#last = object;
    return object === request.object ? undefined : object;
  }

  /** Undefined when nothing changes, "skipped" when the policy is not for the object. */
  #apply(invocation: Mutating, request: AdmissionRequest, problems: string[]): JsonObject | "skipped" | undefined {
    const { candidate, served } = invocation;
    const { conditions, mutations } = candidate.policy.compiled;
    const input = new PolicyRequest(this.#deps, request).input(invocation);
    const { matches, error } = conditions.match(input);
    if (error !== undefined) problems.push(error);
    if (!matches) return "skipped";
    const before = input.object as JsonObject | undefined;
    if (!before) return undefined;
    let object = before;
    for (const mutate of mutations) {
      const result = mutate({ ...input, object }, object, typeOf(request, served));
      if (result.object) object = result.object;
      else problems.push(result.problem);
    }
    if (equalJson(object, before)) return undefined;
    return request.kind ? object : converted(request.context, object, served, request.context.served);
  }
}

const typeOf = ({ kind }: AdmissionRequest, { schema, resource }: ServedVersion): ObjectType =>
  kind ? ANY_TYPE : { schema, builtIn: resource.kind.builtIn };

function keyOf({ candidate, binding, params }: Mutating): string {
  const { namespace = "", name = "" } = params ? metadataOf(params as JsonObject) : {};
  return JSON.stringify([candidate.policy.name, binding.name, namespace, name]);
}
