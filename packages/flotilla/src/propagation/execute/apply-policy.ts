/** Decides how one manifest is delivered, from the annotations of the template and its policy. Pure. */
import { convertsWithoutWebhook } from "@flotilla/openkruise";
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import { gvkOf } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { marks } from "../../delivery/marks-ownership.ts";
import type { ApplyPolicy } from "../../delivery/delivery.ts";
import { isUnmanagedOn } from "../unmanaged.ts";
import { CONFLICT_RESOLUTION, RETAIN_REPLICAS } from "@flotilla/karmada";
import { DRIFT, UNMANAGED } from "../../flotilla-names.ts";
type Manifest = DeepReadonly<KubernetesObject>;

/** The hub's field manager on members. */
const FIELD_MANAGER = "flotilla";

export function planApplyPolicy(work: DeepReadonly<Work>, manifest: Manifest, isScaledByWork: boolean): ApplyPolicy {
  const { labels, annotations } = manifest.metadata;
  // The template takes precedence over its policy.
  const drift = annotations?.[DRIFT] ?? work.metadata.annotations?.[DRIFT];
  const isOnlyOurs = isConvertedByCode(manifest);
  return {
    mode: "apply",
    force: true,
    fieldManager: FIELD_MANAGER,
    ownership: marks({ owner: ownerOf(work), adopt: mayAdopt(manifest) }),
    drift: drift === "report" || isOnlyOurs ? "report" : "repair",
    replicas: isScaledByWork || labels?.[RETAIN_REPLICAS] === "true" ? "theirs" : "autoscaled",
  };
}

/** Whether an object that exists on the member and is not ours may be taken over. */
export function mayAdopt(manifest: Manifest): boolean {
  return manifest.metadata.annotations?.[CONFLICT_RESOLUTION] === "overwrite" && !isConvertedByCode(manifest);
}

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

export const ownerOf = ({ metadata: { namespace = "", name } }: DeepReadonly<Work>): string => `${namespace}/${name}`;

/** Whether the template opts out of management on this member: everywhere, or on the clusters that it lists. */
export function isUnmanaged(manifest: Manifest, cluster: string): boolean {
  return isUnmanagedOn(manifest.metadata.annotations?.[UNMANAGED], cluster);
}
