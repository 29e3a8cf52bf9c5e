/** Where OpenKruise's webhooks apply: the clusters that run it, without the namespaces of control planes. */
import { kruiseKinds } from "../../api/index.ts";
import type { ClusterReader, Review } from "../../api/index.ts";
import { isObject } from "../../base/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import type { FeatureGates } from "./feature-gates.ts";

export interface KruiseAdmissionOptions {
  /** Whether OpenKruise runs in this cluster. */
  appliesTo(cluster: string): boolean;
  gates: FeatureGates;
}

/** A namespace with this label is left alone, so that OpenKruise cannot lock out what it depends on. */
const EXEMPT_LABEL = "control-plane";

/** Whether the webhooks for pods see this pod. */
export function isPodInScope(
  { cluster, object, read }: Pick<Review<{ metadata: { namespace?: string } }>, "cluster" | "object" | "read">,
  { appliesTo, gates }: KruiseAdmissionOptions,
): boolean {
  return (
    appliesTo(cluster) &&
    gates.isOn("PodWebhook") &&
    labelsOf(read.get("", "namespaces", undefined, object.metadata.namespace ?? ""))?.[EXEMPT_LABEL] === undefined
  );
}

function labelsOf(object: DeepReadonly<JsonObject> | undefined): DeepReadonly<JsonObject> | undefined {
  const metadata = object?.["metadata"];
  const labels = isObject(metadata) ? metadata["labels"] : undefined;
  return isObject(labels) ? labels : undefined;
}

/**
 * A member may be without OpenKruise, or have only some of its kinds, which is enough for what needs none of them.
 * Asked only of the few objects that want something of it.
 */
export function isKruiseInstalled(read: ClusterReader): boolean {
  return kruiseKinds.some(
    ({ group, plural }) =>
      read.get("apiextensions.k8s.io", "customresourcedefinitions", undefined, `${plural}.${group}`) !== undefined,
  );
}
