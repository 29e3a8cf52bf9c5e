/** Objects of a member that serve as well as the copy that the hub would make. Pure. */
import { gvkOf } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { CustomResourceDefinition, Namespace } from "@flotilla/kubernetes";
import { convertsWithoutWebhook } from "@flotilla/openkruise";

type Manifest = DeepReadonly<KubernetesObject>;

/**
 * Whether this is the hub's own CRD for a kind whose versions it converts by code, as for OpenKruise's. A member that
 * already has the kind, or gets it from OpenKruise's chart, converts with the webhook in its CRD, or serves one
 * version. With our CRD in its place it would read one version as another, and lose fields such as a partition.
 */
export function isConvertedByCode(manifest: Manifest): boolean {
  if (manifest.kind !== CustomResourceDefinition.kind || gvkOf(manifest).group !== CustomResourceDefinition.group)
    return false;
  const { spec } = manifest as DeepReadonly<CustomResourceDefinition>;
  return spec.conversion?.strategy !== "Webhook" && spec.versions.length > 1 && convertsWithoutWebhook(spec);
}

/**
 * Whether an object that exists on the member and is not ours serves as well as ours: a namespace, and a CRD in the
 * member's own form. It is used, never changed or deleted, and its health is the health of the copy.
 */
export const servesAsItIs = (manifest: Manifest): boolean =>
  manifest.kind === Namespace.kind || isConvertedByCode(manifest);
