/**
 * The order in which the manifests of a work are applied: dependencies come first. Otherwise the order of the spec is
 * kept.
 */
import type { Manifest } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

const RANKS: readonly string[][] = [
  ["PriorityClass", "Namespace", "CustomResourceDefinition", "StorageClass", "PersistentVolume", "PodSecurityPolicy"],
  ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
  ["NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget", "ServiceAccount"],
  ["Secret", "ConfigMap", "PersistentVolumeClaim"],
  ["Service"],
  [
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
  ],
  [
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
  ],
];
const RANK_BY_KIND: ReadonlyMap<unknown, number> = new Map(
  RANKS.flatMap((kinds, rank) => kinds.map((kind): [string, number] => [kind, rank])),
);
const OTHER_KINDS = RANKS.length;
const NO_KIND = OTHER_KINDS + 1;

/** Indexes of manifests in apply order. As in OCM only the kind counts, whatever its group. */
export function applyOrder(manifests: readonly DeepReadonly<Manifest>[]): number[] {
  const rankOf = (index: number): number => {
    const kind = manifests[index]?.["kind"];
    return kind === undefined || kind === "" ? NO_KIND : (RANK_BY_KIND.get(kind) ?? OTHER_KINDS);
  };
  return manifests.map((_manifest, index) => index).toSorted((a, b) => rankOf(a) - rankOf(b));
}
