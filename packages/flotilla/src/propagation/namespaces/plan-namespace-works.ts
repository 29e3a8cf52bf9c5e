/** Decides which members get a copy of a hub namespace: all of them, unless it is reserved or opted out. Pure. */
import { omitZero } from "@flotilla/base";
import type { Cluster, Work } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Namespace } from "@flotilla/kubernetes";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { withoutRecords, withRecordsOf } from "../works/propagation-bookkeeping.ts";
import { requestDigest } from "../works/request-digest.ts";
import { isOwnNamespace } from "../templates/templates.ts";
import {
  executionNamespace,
  workName,
  APPLIED_CLUSTER_OVERRIDES,
  SKIP_NAMESPACE,
  WORK_FINALIZER,
  WORK_NAME,
  WORK_NAMESPACE,
} from "@flotilla/karmada";
import { NAMESPACE_LABEL, REQUEST } from "../../flotilla-names.ts";
/** A member's copy after cluster override policies, and the record of these. */
export type RenderNamespace = (
  copy: DeepReadonly<KubernetesObject>,
  cluster: string,
) => { object: DeepReadonly<KubernetesObject>; appliedClusterOverrides?: string };

export interface NamespacePlan {
  works: Work[];
  /** Members whose copy cannot be made; they keep their current Work. */
  failures: { cluster: string; error: unknown }[];
}

/**
 * The Works for a namespace, or `leave` for one that is not propagated: opting out stops the propagation and removes
 * nothing. A namespace is deleted from members only after its deletion on the hub. A terminating namespace still has
 * templates whose copies are deleted first, so that any object left on a member then is known not to be ours.
 */
export function planNamespaceWorks(
  namespace: DeepReadonly<Namespace> | undefined,
  clusters: readonly DeepReadonly<Cluster>[],
  render: RenderNamespace,
): NamespacePlan | "leave" {
  const plan: NamespacePlan = { works: [], failures: [] };
  if (!namespace) return plan;
  if (namespace.metadata.deletionTimestamp || !isPropagated(namespace)) return "leave";
  const request = requestDigest(namespace);
  for (const { metadata } of clusters) {
    if (metadata.deletionTimestamp) continue;
    try {
      plan.works.push(planNamespaceWork(namespace, metadata.name, { render, request }));
    } catch (error) {
      plan.failures.push({ cluster: metadata.name, error });
    }
  }
  return plan;
}

/** Every cluster has its own `default` and `kube-*` namespaces; templates in `default` use that one. */
function isPropagated({ metadata }: DeepReadonly<Namespace>): boolean {
  return (
    metadata.name !== "default" &&
    !isOwnNamespace(metadata.name) &&
    metadata.labels?.[SKIP_NAMESPACE]?.toLowerCase() !== "true"
  );
}

function planNamespaceWork(
  { metadata }: DeepReadonly<Namespace>,
  cluster: string,
  { render, request }: { render: RenderNamespace; request: string },
): Work {
  const namespace = executionNamespace(cluster);
  const name = workName("Namespace", metadata.name, "");
  const bare = withoutRecords({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: metadata.name, labels: metadata.labels, annotations: metadata.annotations },
  });
  const { object: rendered, appliedClusterOverrides } = render(bare, cluster);
  const object = withRecordsOf(rendered, bare);
  const manifest = {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, [WORK_NAMESPACE]: namespace, [WORK_NAME]: name },
    },
  };
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      name,
      namespace,
      labels: { [NAMESPACE_LABEL]: metadata.name },
      annotations: {
        ...omitZero({ [APPLIED_CLUSTER_OVERRIDES]: appliedClusterOverrides }),
        [REQUEST]: request,
      },
      finalizers: [WORK_FINALIZER],
    },
    spec: { workload: { manifests: [manifest as unknown as JsonObject] } },
  };
}
