/** What a logical cluster starts with: the kinds that it serves and the objects that are there from the beginning. */
import { CloneSet, Cluster, ClusterOverridePolicy, OverridePolicy, PropagationPolicy, ResourceBinding, Work, kubernetesKinds } from "../api/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import type { Profile } from "../apiserver/index.ts";

const namespaces = (...names: string[]): KubernetesObject[] => names.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
const clusterNamespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];

const hub: Profile = {
  builtIns: [...kubernetesKinds, Cluster],
  customs: [PropagationPolicy, OverridePolicy, ClusterOverridePolicy, ResourceBinding, Work, CloneSet],
  objects: namespaces(...clusterNamespaces, "karmada-system", "karmada-cluster"),
};

const memberBare: Profile = {
  builtIns: kubernetesKinds,
  customs: [],
  objects: namespaces(...clusterNamespaces),
};

/** A kind is listed here only when its controller works; docs/compatibility.md says what is missing. */
export const profiles: Record<"hub" | "member" | "member-bare" | "empty", Profile> = {
  hub,
  member: { ...memberBare, customs: [CloneSet] },
  "member-bare": memberBare,
  empty: { builtIns: kubernetesKinds, customs: [], objects: namespaces(...clusterNamespaces) },
};
