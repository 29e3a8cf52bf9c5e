/** Decides which members get a copy of a hub namespace: all of them, unless it is the hub's own or opted out. Pure. */
import type { Cluster, Namespace, Work } from "../../api/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { executionNamespace, isReservedNamespace, workName } from "../../api/index.ts";
import { NAMESPACE_LABEL, SKIP_NAMESPACE, WORK_FINALIZER, WORK_NAME, WORK_NAMESPACE } from "../well-known.ts";

/**
 * The Works that carry a namespace, or `leave` for one that is none of ours: opting out stops the propagation and removes
 * nothing. Only a namespace that is gone from the hub, or on its way, goes from the members too.
 */
export function planNamespaceWorks(namespace: DeepReadonly<Namespace> | undefined, clusters: readonly DeepReadonly<Cluster>[]): Work[] | "leave" {
  if (!namespace || namespace.metadata.deletionTimestamp) return [];
  if (!isPropagated(namespace)) return "leave";
  return clusters.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => planNamespaceWork(namespace, metadata.name));
}

/** Every cluster has its own `default` and `kube-*`; templates in `default` find it there. */
function isPropagated({ metadata }: DeepReadonly<Namespace>): boolean {
  const isClustersOwn = metadata.name === "default" || metadata.name.startsWith("kube-");
  return !isClustersOwn && !isReservedNamespace(metadata.name) && metadata.labels?.[SKIP_NAMESPACE] !== "true";
}

function planNamespaceWork({ metadata }: DeepReadonly<Namespace>, cluster: string): Work {
  const namespace = executionNamespace(cluster);
  const name = workName("Namespace", metadata.name, "");
  const manifest: JsonObject = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: metadata.name,
      ...(metadata.labels && { labels: { ...metadata.labels } }),
      annotations: { ...metadata.annotations, [WORK_NAMESPACE]: namespace, [WORK_NAME]: name },
    },
  };
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name, namespace, labels: { [NAMESPACE_LABEL]: metadata.name }, finalizers: [WORK_FINALIZER] },
    spec: { workload: { manifests: [manifest] } },
  };
}
