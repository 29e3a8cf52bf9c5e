/** One request as policies see it: in the versions that they name, and with the parameters of their bindings. */
import { Namespace } from "@flotilla/kubernetes";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { AdmissionInput } from "@flotilla/cel";
import { admissionInput } from "../admission-match/admission-input.ts";
import type { AdmissionRequest } from "../admission-match/admission-request.ts";
import { inVersion } from "../admission-match/equivalents.ts";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { isNamespaceKind } from "../resources/resources.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { matchedVersion } from "./match-resources.ts";
import type { PolicyCandidate } from "./policy-index.ts";
import { findParams, kindName, paramVersion } from "./policy-params.ts";

export interface PolicyDependencies {
  readonly store: ObjectStore;
}

/** A policy to evaluate, with one binding and one parameter. */
export interface Invocation<T> {
  readonly candidate: PolicyCandidate<T>;
  readonly binding: PolicyCandidate<T>["bindings"][number]["binding"];
  /** The version in which the policy sees the objects. */
  readonly served: ServedVersion;
  readonly params: DeepReadonly<JsonObject> | undefined;
}

/** A policy or binding that cannot be used for the request. */
interface ConfigurationProblem<T> {
  readonly candidate: PolicyCandidate<T>;
  readonly binding: string | undefined;
  readonly message: string;
}

export type Selected<T> = (Invocation<T> & { readonly message?: undefined }) | ConfigurationProblem<T>;

export class PolicyRequest {
  readonly #deps: PolicyDependencies;
  readonly #request: AdmissionRequest;
  readonly #inputs = new Map<ServedVersion, AdmissionInput>();

  constructor(deps: PolicyDependencies, request: AdmissionRequest) {
    this.#deps = deps;
    this.#request = request;
  }

  /** What is evaluated, in order. Match conditions are not evaluated yet. */
  *select<T>(candidates: readonly PolicyCandidate<T>[]): Generator<Selected<T>> {
    for (const candidate of candidates) {
      const served = matchedVersion(this.#deps.store, candidate.plan, this.#request);
      if (served) yield* this.#bindings(candidate, served);
    }
  }

  *#bindings<T>(candidate: PolicyCandidate<T>, served: ServedVersion): Generator<Selected<T>> {
    const { store } = this.#deps;
    const { cluster, namespace } = this.#request.context;
    const { paramKind } = candidate.policy;
    const kind = paramKind && paramVersion(cluster.table, paramKind);
    if (paramKind && !kind) {
      const missing = `failed to find resource referenced by paramKind: '${kindName(paramKind)}'`;
      yield { candidate, binding: undefined, message: `failed to configure policy: ${missing}` };
      return;
    }
    for (const { binding, plan } of candidate.bindings) {
      if (plan && !matchedVersion(store, plan, this.#request)) continue;
      const { params, problem } = findParams({ store, cluster, kind, reference: binding.paramRef, namespace });
      if (params) for (const one of params) yield { candidate, binding, served, params: one };
      else yield { candidate, binding: binding.name, message: `failed to configure binding: ${problem}` };
    }
  }

  /** The variables of expressions. */
  input<T>({ served, params }: Invocation<T>): AdmissionInput {
    let input = this.#inputs.get(served);
    if (!input) {
      const question = { request: this.#request, served, ...inVersion(served, this.#request) };
      input = { ...admissionInput(question), namespaceObject: this.#namespace() };
      this.#inputs.set(served, input);
    }
    return params ? { ...input, params } : input;
  }

  #namespace(): AdmissionInput["namespaceObject"] {
    const { cluster, namespace, served } = this.#request.context;
    if (namespace === undefined || isNamespaceKind(served.resource)) return undefined;
    return createClusterReader(this.#deps.store, cluster).get(Namespace, undefined, namespace);
  }
}
