/**
 * The order in which manifests are applied and planned: what others need or depend on first, and everything else as
 * given. Pure.
 *
 * Override policies, interpreter customizations, quotas, release strategies and budgets come before policies, and
 * policies before templates. So the first copy on a member is the intended one, no placement precedes its quota and no
 * change its strategy, and a new template is not claimed by a policy that the same files replace.
 *
 * Templates on the hub that no policy has claimed come before the policies: a change of them reaches no member. After the
 * policy, it would be a release of a template that members just got, which a partition would hold back.
 */
import {
  CLUSTER_POLICY_ID,
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  FederatedResourceQuota,
  OverridePolicy,
  POLICY_ID,
  PropagationPolicy,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
} from "@flotilla/karmada";
import { FleetDisruptionBudget, RolloutStrategy } from "@flotilla/flotilla";
import { CustomResourceDefinition, Namespace, PriorityClass } from "@flotilla/kubernetes";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { textOf } from "@flotilla/base";

/** Without these, the hub accepts no objects of a namespace or kind. */
const NEEDED = [Namespace, CustomResourceDefinition];
const POLICIES = [PropagationPolicy, ClusterPropagationPolicy];
const BEFORE_POLICIES = [
  ...NEEDED,
  PriorityClass,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
  ClusterOverridePolicy,
  OverridePolicy,
  FederatedResourceQuota,
  RolloutStrategy,
  FleetDisruptionBudget,
];

export function inApplyOrder<T extends JsonObject>(
  manifests: readonly T[],
  unclaimed: ReadonlySet<JsonObject> = new Set(),
): T[] {
  const order = [...BEFORE_POLICIES.map(isOfKind), (manifest: T) => unclaimed.has(manifest), ...POLICIES.map(isOfKind)];
  const rankOf = (manifest: T): number => {
    const rank = order.findIndex((isNext) => isNext(manifest));
    return rank < 0 ? order.length : rank;
  };
  return manifests.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Manifests whose place depends on whether a policy has claimed their object; none if no policy is among them. */
export function mayPrecedePolicies(manifests: readonly JsonObject[]): JsonObject[] {
  if (!manifests.some((manifest) => POLICIES.some((kind) => isOf(kind, manifest)))) return [];
  const placed = [...BEFORE_POLICIES, ...POLICIES];
  return manifests.filter((manifest) => !placed.some((kind) => isOf(kind, manifest)));
}

export const isClaimed = ({ metadata: { labels } }: DeepReadonly<KubernetesObject>): boolean =>
  labels?.[POLICY_ID] !== undefined || labels?.[CLUSTER_POLICY_ID] !== undefined;

/** A Namespace or a CustomResourceDefinition. */
export const isNeededFirst = (manifest: JsonObject): boolean => NEEDED.some((kind) => isOf(kind, manifest));

export const isDefinition = (manifest: JsonObject): boolean => isOf(CustomResourceDefinition, manifest);

const isOf = (
  { group, kind }: { readonly group: string; readonly kind: string },
  { apiVersion, kind: given }: JsonObject,
): boolean => given === kind && parseApiVersion(textOf(apiVersion)).group === group;

const isOfKind =
  (kind: { readonly group: string; readonly kind: string }) =>
  (manifest: JsonObject): boolean =>
    isOf(kind, manifest);
