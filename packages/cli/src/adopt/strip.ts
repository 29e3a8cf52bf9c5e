/**
 * Reduces a member's object to the hub's template: the fields its owner set, without those that the member's API
 * server, controllers or an earlier hub wrote. Pure.
 */
import {
  BIND_COMPLETED_ANNOTATION,
  BOUND_BY_CONTROLLER_ANNOTATION,
  STORAGE_PROVISIONER_ANNOTATION,
} from "@flotilla/kubernetes";
import { parseApiVersion, LAST_APPLIED_ANNOTATION } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { DRIFT, prune } from "@flotilla/flotilla";
import { CANARY_CLUSTERS, PARTITION_SCOPE, ROLLOUT_ORDER } from "@flotilla/openkruise";
import { RETAIN_REPLICAS } from "@flotilla/karmada";

export type Manifest = DeepReadonly<KubernetesObject>;
type Texts = Readonly<Record<string, string>>;

/** Annotations written by a member's own controllers or by kubectl apply. */
const CONTROLLER_ANNOTATIONS: ReadonlySet<string> = new Set([
  LAST_APPLIED_ANNOTATION,
  BIND_COMPLETED_ANNOTATION,
  BOUND_BY_CONTROLLER_ANNOTATION,
  "volume.beta.kubernetes.io/storage-provisioner",
  STORAGE_PROVISIONER_ANNOTATION,
]);
/** Claims, records and rollout state that a hub wrote. */
const HUB_ANNOTATIONS = /(^|\.)karmada\.io\/|^flotilla\.dev\//;
/** Annotations that the owner sets for a hub, possibly for an earlier one. */
const OWNER_ANNOTATIONS: ReadonlySet<string> = new Set([
  PARTITION_SCOPE,
  ROLLOUT_ORDER,
  CANARY_CLUSTERS,
  DRIFT,
  RETAIN_REPLICAS,
]);

export function strip(object: Manifest): Manifest {
  const { metadata, ...rest } = prune(object);
  const { labels, annotations, ...others } = metadata;
  const [ownLabels, ownAnnotations] = [withoutNotes(labels), withoutNotes(annotations)];
  return withoutVolume({ ...rest, metadata: { ...others, labels: ownLabels, annotations: ownAnnotations } });
}

function withoutNotes(entries: Texts | undefined): Texts | undefined {
  const own = Object.entries(entries ?? {}).filter(
    ([key]) => !CONTROLLER_ANNOTATIONS.has(key) && (OWNER_ANNOTATIONS.has(key) || !HUB_ANNOTATIONS.test(key)),
  );
  return own.length > 0 ? Object.fromEntries(own) : undefined;
}

/** Each member binds a claim to a volume of its own. */
function withoutVolume(object: Manifest): Manifest {
  const { spec } = object as { spec?: unknown };
  if (object.kind !== "PersistentVolumeClaim" || parseApiVersion(object.apiVersion).group !== "" || !isObject(spec))
    return object;
  const { volumeName: _volumeName, ...own } = spec;
  return { ...object, spec: own } as Manifest;
}

/** `CloneSet shop/web` */
export function titleOf({
  kind,
  metadata: { namespace, name },
}: {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string; readonly name: string };
}): string {
  return `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
}
