/**
 * Marks that identify objects delivered by Flotilla on a member. The label is Karmada's, so that users can migrate in
 * both directions.
 */
import { defined } from "@flotilla/base";
import { hash } from "node:crypto";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { KEEPER } from "./plan-takeover.ts";
import { MANAGED_LABEL, WORK_ID, WORK_NAME, WORK_NAMESPACE } from "@flotilla/karmada";

/** Our field manager on members. */
export const FIELD_MANAGER = "flotilla";

/** Digest of the last applied manifest: shows without a request that there is nothing left to do. */
export const APPLIED_DIGEST = "flotilla.dev/applied-digest";
/** On an object that we released and may reclaim: the owner that delivered it. */
export const RELEASED_FROM = "flotilla.dev/released-from";

/**
 * Whether this owner delivered an object. The label only shows that some control plane did: a member may belong to two,
 * and any client there can set it. If the owner annotation was removed, our field manager still identifies the object.
 */
export function isOurs(object: DeepReadonly<KubernetesObject>, owner: string | undefined): boolean {
  const { labels, annotations, managedFields } = object.metadata;
  if (labels?.[MANAGED_LABEL] !== "true") return false;
  if (owner === undefined) return true;
  if (annotations?.[WORK_NAMESPACE] !== undefined && annotations[WORK_NAME] !== undefined)
    return ownerOf(object) === owner;
  return (
    annotations?.[APPLIED_DIGEST] !== undefined ||
    (managedFields?.some(({ manager }) => manager === FIELD_MANAGER) ?? false)
  );
}

/**
 * Whether an object was delivered by an owner with another id. Names are reused: a hub restored from a backup may still
 * try to delete objects that its successor created again.
 */
export function isOfAnother({ metadata }: DeepReadonly<KubernetesObject>, ownerId: string | undefined): boolean {
  const id = metadata.labels?.[WORK_ID];
  return ownerId !== undefined && id !== undefined && id !== ownerId;
}

export function digestOf(manifest: DeepReadonly<KubernetesObject>): string {
  return hash("sha256", JSON.stringify(manifest), "base64url").slice(0, 22);
}

/** Whether an object was last delivered from this manifest. */
export function isSameDelivery(
  wanted: DeepReadonly<KubernetesObject>,
  observed: DeepReadonly<KubernetesObject>,
): boolean {
  return wanted.metadata.annotations?.[APPLIED_DIGEST] === observed.metadata.annotations?.[APPLIED_DIGEST];
}

/** Manifests are shared and immutable, and each is read several times until it settles: it is marked once. */
const marked = new WeakMap<object, DeepReadonly<KubernetesObject>>();

/** The manifest with our marks. */
export function mark(manifest: DeepReadonly<KubernetesObject>): DeepReadonly<KubernetesObject> {
  const known = marked.get(manifest);
  if (known) return known;
  const { labels, annotations } = manifest.metadata;
  const result = {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels: { ...labels, [MANAGED_LABEL]: "true" },
      annotations: { ...annotations, [APPLIED_DIGEST]: digestOf(manifest) },
    },
  };
  marked.set(manifest, result);
  return result;
}

/** The owner that delivered an object, as `namespace/name`; undefined when not recorded. */
function ownerOf({ metadata: { annotations = {} } }: DeepReadonly<KubernetesObject>): string | undefined {
  const { [WORK_NAMESPACE]: namespace, [WORK_NAME]: name } = annotations;
  return name === undefined ? undefined : `${namespace ?? ""}/${name}`;
}

/** The Work that delivered an object with a control plane's mark; undefined for any other object. */
export function deliveringWork(object: DeepReadonly<KubernetesObject>): string | undefined {
  return object.metadata.labels?.[MANAGED_LABEL] === "true" ? ownerOf(object) : undefined;
}

/** Whether we released this object for the same owner: it may be reclaimed without `adopt`. */
export function isReleasedFrom({ metadata }: DeepReadonly<KubernetesObject>, owner: string | undefined): boolean {
  return owner !== undefined && metadata.annotations?.[RELEASED_FROM] === owner;
}

/**
 * A merge patch for an object that stays on the member: removes our marks and Karmada's records and gives up our
 * fields, so that the next client to apply it meets no conflict. With `returnTo` it records the owner that may take it
 * back.
 */
export function releasePatch(
  { metadata }: DeepReadonly<KubernetesObject>,
  manager: string,
  returnTo?: string,
): JsonObject {
  const ours = (names: Readonly<Record<string, string>> = {}): Record<string, null> =>
    Object.fromEntries(
      Object.keys(names)
        .filter((name) => /(^|\.)karmada\.io\//.test(name) || name === APPLIED_DIGEST || name === RELEASED_FROM)
        .map((name) => [name, null]),
    );
  const rest = metadata.managedFields?.filter(
    (entry) => !(entry.manager === manager || entry.manager === KEEPER) || entry.subresource !== undefined,
  );
  return {
    metadata: {
      labels: ours(metadata.labels),
      annotations: { ...ours(metadata.annotations), ...defined({ [RELEASED_FROM]: returnTo }) },
      // Field ownership is computed from one version of the object and is valid only for that version.
      ...defined({
        managedFields: rest ? (rest as unknown as Json[]) : undefined,
        resourceVersion: rest ? (metadata.resourceVersion ?? null) : undefined,
      }),
    },
  };
}
