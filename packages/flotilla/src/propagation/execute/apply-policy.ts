/** Decides how one manifest is delivered, from the annotations of the template and its policy. Pure. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { marks } from "../../delivery/marks-ownership.ts";
import type { ApplyPolicy } from "../../delivery/delivery.ts";
import { isConvertedByCode } from "../members/foreign-copies.ts";
import { isUnmanagedOn } from "../members/unmanaged.ts";
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

export const ownerOf = ({ metadata: { namespace = "", name } }: DeepReadonly<Work>): string => `${namespace}/${name}`;

/** Whether the template opts out of management on this member: everywhere, or on the clusters that it lists. */
export function isUnmanaged(manifest: Manifest, cluster: string): boolean {
  return isUnmanagedOn(manifest.metadata.annotations?.[UNMANAGED], cluster);
}
