/** Where OpenKruise's webhooks apply: the clusters that run it, except for control-plane namespaces. */
import { CustomResourceDefinition, Namespace } from "@flotilla/kubernetes";
import { kruiseKinds } from "./api/kinds.ts";
import type { ClusterReader, Review } from "@flotilla/apimachinery";
import type { FeatureGates } from "@flotilla/kubernetes";

export interface KruiseAdmissionOptions {
  /** Whether OpenKruise runs in this cluster. */
  appliesTo(cluster: string): boolean;
  gates: FeatureGates;
}

/** Namespaces with this label are exempt, so that OpenKruise cannot block its own dependencies. */
const EXEMPT_LABEL = "control-plane";

/** Whether the pod webhooks apply to this pod. */
export function isPodInScope(
  { cluster, object, read }: Pick<Review<{ metadata: { namespace?: string } }>, "cluster" | "object" | "read">,
  { appliesTo, gates }: KruiseAdmissionOptions,
): boolean {
  return (
    appliesTo(cluster) &&
    gates.isOn("PodWebhook") &&
    read.get(Namespace, undefined, object.metadata.namespace ?? "")?.metadata.labels?.[EXEMPT_LABEL] === undefined
  );
}

/**
 * A member may lack OpenKruise, or have only some of its kinds, which is enough for features that need none of them.
 * Called only for the few objects that use a feature.
 */
export function isKruiseInstalled(read: ClusterReader): boolean {
  return kruiseKinds.some(
    ({ group, plural }) => read.get(CustomResourceDefinition, undefined, `${plural}.${group}`) !== undefined,
  );
}
