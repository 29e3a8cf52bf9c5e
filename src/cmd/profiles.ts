/** What a logical cluster starts with: the kinds that it serves and the objects that are there from the beginning. */
import {
  CloneSet,
  Cluster,
  ClusterOverridePolicy,
  ConfigMap,
  ControllerRevision,
  CustomResourceDefinition,
  Deployment,
  Event,
  Lease,
  Namespace,
  Node,
  OverridePolicy,
  Pod,
  PropagationPolicy,
  ReplicaSet,
  ResourceBinding,
  Secret,
  Work,
} from "../api/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import type { Profile } from "../apiserver/index.ts";

const namespaces = (...names: string[]): KubernetesObject[] => names.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
const everyCluster = [Namespace, ConfigMap, Secret, Event, Lease, Deployment, CustomResourceDefinition];
const clusterNamespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];

const hub: Profile = {
  builtIns: [...everyCluster, Cluster],
  customs: [PropagationPolicy, OverridePolicy, ClusterOverridePolicy, ResourceBinding, Work, CloneSet],
  objects: namespaces(...clusterNamespaces, "karmada-system", "karmada-cluster"),
};

const memberBare: Profile = {
  builtIns: [...everyCluster, Node, Pod, ReplicaSet, ControllerRevision],
  customs: [],
  objects: namespaces(...clusterNamespaces),
};

/** A kind is listed here only when its controller works; docs/compatibility.md says what is missing. */
export const profiles: Record<"hub" | "member" | "member-bare" | "empty", Profile> = {
  hub,
  member: { ...memberBare, customs: [CloneSet] },
  "member-bare": memberBare,
  empty: { builtIns: everyCluster, customs: [], objects: namespaces(...clusterNamespaces) },
};
