/** Where OpenKruise's pod webhooks apply: the clusters that run it, except for control-plane namespaces. */
import { Namespace } from "@flotilla/kubernetes";
import type { Review } from "@flotilla/apimachinery";
import type { KruiseWebhookOptions } from "./kruise-definition.ts";

/** Namespaces with this label are exempt, so that OpenKruise cannot block its own dependencies. */
const EXEMPT_LABEL = "control-plane";

/** Whether the pod webhooks apply to this pod. */
export function isPodInScope(
  { cluster, object, read }: Pick<Review<{ metadata: { namespace?: string } }>, "cluster" | "object" | "read">,
  { appliesTo, gates }: Pick<KruiseWebhookOptions, "appliesTo" | "gates">,
): boolean {
  return (
    appliesTo(cluster) &&
    gates.isOn("PodWebhook") &&
    read.get(Namespace, undefined, object.metadata.namespace ?? "")?.metadata.labels?.[EXEMPT_LABEL] === undefined
  );
}
