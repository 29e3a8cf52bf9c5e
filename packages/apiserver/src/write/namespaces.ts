/**
 * Namespaces: objects cannot be created in a missing or terminating namespace, and are deleted with their namespace.
 *
 * Deleting a namespace marks it; `background/cleanup.ts` then deletes its objects of every kind and, when nothing is left, removes
 * the finalizer and with it the namespace.
 */
import type { JsonObject } from "@flotilla/base";
import { ApiError, forbidden, notFound } from "@flotilla/apimachinery";
import type { Guard } from "../store/engine.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { isOfLayer } from "../clusters/layer.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { objectIn } from "../codec/render.ts";
import { keyOf } from "../resources/resources.ts";
import type { Resource } from "../resources/resources.ts";

const NAMESPACES = { group: "", resource: "namespaces" };
export const NAMESPACE_FINALIZER = "kubernetes";
const PROTECTED = new Set(["default", "kube-system", "kube-public"]);

/**
 * Rejects creation in a missing or terminating namespace. Returns the guard that keeps the namespace as it was read
 * until the object is stored. Clusters that serve no namespaces have no such rule.
 */
export function checkNamespace(
  store: ObjectStore,
  cluster: LogicalCluster,
  { name: resource }: Resource,
  namespace: string,
  name: string,
): Guard | undefined {
  const namespaces = cluster.table.resource("", "namespaces");
  if (!namespaces) return undefined;
  const { key, entry, expect } = store.find(cluster, namespaces, keyOf(namespaces, cluster.name, undefined, namespace));
  if (!entry) throw notFound(NAMESPACES, namespace);
  const guard: Guard = { key, expect };
  if (isOfLayer(entry, cluster)) return guard;
  // Searches the bytes before parsing anything: almost no namespace is being deleted.
  if (!Buffer.from(entry.value.buffer, entry.value.byteOffset, entry.value.byteLength).includes('"deletionTimestamp"'))
    return guard;
  if ((objectIn(entry, namespaces.storage).metadata as JsonObject).deletionTimestamp === undefined) return guard;
  const { status } = forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  const causes = [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${namespace} is being terminated`,
      field: "metadata.namespace",
    },
  ];
  throw new ApiError({ ...status, details: { ...status.details, causes } });
}

export function checkNamespaceDeletion(name: string): void {
  if (PROTECTED.has(name)) throw forbidden(NAMESPACES, name, "this namespace may not be deleted");
}
