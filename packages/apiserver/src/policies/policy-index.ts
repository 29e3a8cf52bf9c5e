/**
 * The admission policies of every logical cluster with their bindings. Policies are compiled once per generation, and
 * the policies that match a kind of request are remembered until one of them changes.
 */
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "@flotilla/kubernetes";
import type {
  MatchResources,
  MutatingAdmissionPolicySpec,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicySpec,
} from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { CandidateMemo } from "../admission-match/candidate-memo.ts";
import { CONFIGURATION_GROUP, followConfigurations, readConfigured } from "../clusters/cluster-configurations.ts";
import type { RequestTarget } from "../admission-match/match-rules.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { Cache } from "../store/cache.ts";
import type { Resource } from "../resources/resources.ts";
import { planMatch } from "./match-resources.ts";
import type { MatchPlan } from "./match-resources.ts";
import { compileMutatingPolicy } from "./mutating-policy.ts";
import type { MutatingPolicy } from "./mutating-policy.ts";
import { compileValidatingPolicy } from "./validating-policy.ts";
import type { ValidatingPolicy } from "./validating-policy.ts";

type Read<T> = DeepReadonly<T>;

interface Policy<T> {
  readonly name: string;
  /** Changes with every change of the policy. */
  readonly generation: string;
  readonly ignoresFailures: boolean;
  readonly paramKind: Read<ParamKind> | undefined;
  readonly matchConstraints: Read<MatchResources>;
  readonly compiled: T;
}

interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: Read<ParamRef> | undefined;
  readonly matchResources: Read<MatchResources> | undefined;
  /** Of a ValidatingAdmissionPolicy: Deny, Warn, Audit. */
  readonly actions: readonly string[];
}

interface BoundPolicy<T> {
  readonly policy: Policy<T>;
  readonly bindings: readonly Binding[];
}

interface BindingCandidate {
  readonly binding: Binding;
  /** Unset when the binding takes all that its policy takes. */
  readonly plan: MatchPlan | undefined;
}

/** A policy whose rules match a kind of request, with those of its bindings that do too. */
export interface PolicyCandidate<T> {
  readonly policy: Policy<T>;
  readonly plan: MatchPlan;
  readonly bindings: readonly BindingCandidate[];
}

export interface PolicyCandidates {
  readonly mutating: readonly PolicyCandidate<MutatingPolicy>[];
  readonly validating: readonly PolicyCandidate<ValidatingPolicy>[];
}

export interface PolicyIndex {
  /** Undefined when there are none. */
  candidates(cluster: LogicalCluster, target: RequestTarget): PolicyCandidates | undefined;
  close(): void;
}

export function createPolicyIndex({ cache, clusters }: { cache: Cache; clusters: ClusterRegistry }): PolicyIndex {
  const configured = followConfigurations<ClusterPolicies>({
    group: CONFIGURATION_GROUP,
    cache,
    clusters,
    plurals: [
      MutatingAdmissionPolicy.plural,
      MutatingAdmissionPolicyBinding.plural,
      ValidatingAdmissionPolicy.plural,
      ValidatingAdmissionPolicyBinding.plural,
    ],
    load: (cluster, former) => cluster && readPolicies(cache, cluster, former),
  });
  return {
    candidates: (cluster, target) => configured.get(cluster.name)?.candidates(cluster, target),
    close: () => configured.close(),
  };
}

function readPolicies(
  cache: Cache,
  cluster: LogicalCluster,
  former: ClusterPolicies | undefined,
): ClusterPolicies | undefined {
  const mutating = bind(
    readConfigured(cache, cluster, MutatingAdmissionPolicy),
    readConfigured(cache, cluster, MutatingAdmissionPolicyBinding),
    former?.mutating ?? [],
    compileMutatingPolicy,
  );
  const validating = bind(
    readConfigured(cache, cluster, ValidatingAdmissionPolicy),
    readConfigured(cache, cluster, ValidatingAdmissionPolicyBinding),
    former?.validating ?? [],
    compileValidatingPolicy,
  );
  return mutating.length + validating.length > 0 ? new ClusterPolicies(mutating, validating) : undefined;
}

type PolicySpec = Read<MutatingAdmissionPolicySpec & ValidatingAdmissionPolicySpec>;
type AnyPolicy = Read<MutatingAdmissionPolicy | ValidatingAdmissionPolicy>;
type AnyBinding = Read<MutatingAdmissionPolicyBinding | ValidatingAdmissionPolicyBinding>;

/** Policies with at least one binding, in the order of their names. A policy without one does nothing. */
function bind<T>(
  policies: readonly AnyPolicy[],
  bindings: readonly AnyBinding[],
  former: readonly BoundPolicy<T>[],
  compile: (spec: PolicySpec) => T,
): BoundPolicy<T>[] {
  const byPolicy = Map.groupBy(bindings.map(bindingOf), ({ policyName }) => policyName);
  const known = new Map(former.map(({ policy }) => [policy.generation, policy]));
  return policies.flatMap((object) => {
    const bound = byPolicy.get(object.metadata.name);
    if (!bound) return [];
    const generation = `${object.metadata.uid ?? ""} ${object.metadata.generation ?? 0}`;
    return [{ policy: known.get(generation) ?? policyOf(object, generation, compile), bindings: bound }];
  });
}

function policyOf<T>(object: AnyPolicy, generation: string, compile: (spec: PolicySpec) => T): Policy<T> {
  const spec = (object.spec ?? {}) as PolicySpec;
  return {
    name: object.metadata.name,
    generation,
    ignoresFailures: spec.failurePolicy === "Ignore",
    paramKind: spec.paramKind,
    matchConstraints: spec.matchConstraints ?? {},
    compiled: compile(spec),
  };
}

function bindingOf({ metadata, spec = {} }: AnyBinding): Binding {
  const { policyName = "", paramRef, matchResources } = spec;
  return {
    name: metadata.name,
    policyName,
    paramRef,
    matchResources,
    actions: "validationActions" in spec ? spec.validationActions : [],
  };
}

/** The policies of one cluster, indexed by what requests are about. */
class ClusterPolicies {
  readonly mutating: readonly BoundPolicy<MutatingPolicy>[];
  readonly validating: readonly BoundPolicy<ValidatingPolicy>[];
  readonly #memo = new CandidateMemo<PolicyCandidates>();

  constructor(mutating: readonly BoundPolicy<MutatingPolicy>[], validating: readonly BoundPolicy<ValidatingPolicy>[]) {
    this.mutating = mutating;
    this.validating = validating;
  }

  candidates(cluster: LogicalCluster, target: RequestTarget): PolicyCandidates | undefined {
    return this.#memo.of(target, () => {
      if (isExempt(target.served.resource)) return undefined;
      const mutating = this.mutating.flatMap((bound) => candidateOf(bound, cluster, target));
      const validating = this.validating.flatMap((bound) => candidateOf(bound, cluster, target));
      return mutating.length + validating.length > 0 ? { mutating, validating } : undefined;
    });
  }
}

function candidateOf<T>(
  { policy, bindings }: BoundPolicy<T>,
  { table }: LogicalCluster,
  target: RequestTarget,
): PolicyCandidate<T>[] {
  const plan = planMatch(policy.matchConstraints, table, target);
  if (!plan) return [];
  const matching = bindings.flatMap((binding): BindingCandidate[] => {
    if (!binding.matchResources) return [{ binding, plan: undefined }];
    const own = planMatch(binding.matchResources, table, target);
    return own ? [{ binding, plan: own }] : [];
  });
  return matching.length > 0 ? [{ policy, plan, bindings: matching }] : [];
}

/**
 * A policy that denied changes of policies could never be removed, and a cluster whose reviews are denied is locked.
 */
const EXEMPT: Readonly<Record<string, readonly string[]>> = {
  [CONFIGURATION_GROUP]: [
    MutatingAdmissionPolicy.plural,
    MutatingAdmissionPolicyBinding.plural,
    ValidatingAdmissionPolicy.plural,
    ValidatingAdmissionPolicyBinding.plural,
  ],
  "authentication.k8s.io": ["selfsubjectreviews", "tokenreviews"],
  "authorization.k8s.io": [
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
  ],
};

const isExempt = ({ name }: Resource): boolean => EXEMPT[name.group]?.includes(name.resource) === true;
