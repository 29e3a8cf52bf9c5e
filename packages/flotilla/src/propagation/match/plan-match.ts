/**
 * Decides which policy a template belongs to. Pure.
 *
 * A claimed template stays with its policy while that policy exists, has the same permanent id and still selects it; a
 * better policy that is created later does not take it, unless it preempts (`preemption.ts`). Otherwise the best policy
 * of its namespace gets it, then the best cluster policy. A cluster-scoped template belongs to cluster policies; a
 * namespaced policy gets it only where `selectsClusterScoped` allows that, and no cluster policy selects it.
 */
import type { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { matchesResource } from "../policies/resource-selector.ts";
import { chooseBestPolicy, type PolicyView } from "./best-policy.ts";
import { choosePreemptor } from "./preemption.ts";
import {
  CLAIMED_BY,
  CLUSTER_POLICY_ID,
  CLUSTER_POLICY_NAME,
  POLICY_ID,
  POLICY_NAME,
  POLICY_NAMESPACE,
} from "@flotilla/karmada";

export type Policy = DeepReadonly<PropagationPolicy> | DeepReadonly<ClusterPropagationPolicy>;

export interface MatchInput {
  readonly template: DeepReadonly<KubernetesObject>;
  /** PropagationPolicies; those of other namespaces are ignored where the template has one. */
  readonly policies: readonly DeepReadonly<PropagationPolicy>[];
  readonly clusterPolicies: readonly DeepReadonly<ClusterPropagationPolicy>[];
}

export type MatchPlan =
  | {
      readonly outcome: "matched";
      readonly policy: Policy;
      /** The template was claimed by this policy before. */ readonly kept: boolean;
      /** The policy that it is taken from. */ readonly preempted?: Policy;
    }
  | { readonly outcome: "none"; readonly reason: "claimed by another controller" | "no policy selects it" };

export function planMatch({ template, policies, clusterPolicies }: MatchInput): MatchPlan {
  const { labels, namespace } = template.metadata;
  if (labels?.[CLAIMED_BY]) return { outcome: "none", reason: "claimed by another controller" };
  const local = namespace ? policies.filter(({ metadata }) => metadata.namespace === namespace) : policies;

  const kept = findClaimant(template, local, clusterPolicies);
  if (kept) {
    const preemptor = choosePreemptor(template, kept, local, clusterPolicies);
    return preemptor
      ? { outcome: "matched", policy: preemptor, kept: false, preempted: kept }
      : { outcome: "matched", policy: kept, kept: true };
  }
  const [first, second]: readonly (readonly Policy[])[] = namespace
    ? [local, clusterPolicies]
    : [clusterPolicies, local];
  const best = chooseBestPolicy(template, first ?? []) ?? chooseBestPolicy(template, second ?? []);
  return best ? { outcome: "matched", policy: best, kept: false } : { outcome: "none", reason: "no policy selects it" };
}

/** The policy that a template's metadata names, even if it no longer exists. */
export interface Claim {
  readonly scope: "namespace" | "cluster";
  readonly id: string;
  readonly name: string;
  readonly namespace?: string;
}

export function claimOf({ metadata: { labels, annotations } }: DeepReadonly<KubernetesObject>): Claim | undefined {
  const [id, name, namespace] = [labels?.[POLICY_ID], annotations?.[POLICY_NAME], annotations?.[POLICY_NAMESPACE]];
  if (id && name && namespace) return { scope: "namespace", id, name, namespace };
  const [clusterId, clusterName] = [labels?.[CLUSTER_POLICY_ID], annotations?.[CLUSTER_POLICY_NAME]];
  return clusterId && clusterName ? { scope: "cluster", id: clusterId, name: clusterName } : undefined;
}

/** The labels and annotations with which a policy claims a template and its binding. */
export function claimMetadata({ kind, metadata }: Policy): {
  labels: Record<string, string>;
  annotations: Record<string, string>;
} {
  const { name, namespace = "" } = metadata;
  if (kind === "ClusterPropagationPolicy") {
    return {
      labels: { [CLUSTER_POLICY_ID]: metadata.labels?.[CLUSTER_POLICY_ID] ?? "" },
      annotations: { [CLUSTER_POLICY_NAME]: name },
    };
  }
  return {
    labels: { [POLICY_ID]: metadata.labels?.[POLICY_ID] ?? "" },
    annotations: { [POLICY_NAMESPACE]: namespace, [POLICY_NAME]: name },
  };
}

/** Every key that a claim may contain; a claim replaces or removes them all. */
export const CLAIM_LABELS: readonly string[] = [POLICY_ID, CLUSTER_POLICY_ID];
export const CLAIM_ANNOTATIONS: readonly string[] = [POLICY_NAMESPACE, POLICY_NAME, CLUSTER_POLICY_NAME];

function findClaimant(
  template: MatchInput["template"],
  policies: MatchInput["policies"],
  clusterPolicies: MatchInput["clusterPolicies"],
): Policy | undefined {
  const claim = claimOf(template);
  if (!claim) return undefined;
  if (claim.scope === "cluster")
    return clusterPolicies.find((policy) => isClaimant(policy, claim, CLUSTER_POLICY_ID, template));
  return policies.find(
    (policy) => policy.metadata.namespace === claim.namespace && isClaimant(policy, claim, POLICY_ID, template),
  );
}

function isClaimant(
  { metadata, spec }: PolicyView,
  claim: Claim,
  idLabel: string,
  template: MatchInput["template"],
): boolean {
  if (metadata.name !== claim.name || metadata.deletionTimestamp) return false;
  return metadata.labels?.[idLabel] === claim.id && matchesResource(template, spec.resourceSelectors);
}
