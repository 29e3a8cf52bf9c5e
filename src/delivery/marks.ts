/**
 * How we recognise, on a member, an object that Flotilla delivered. The label is Karmada's, so that users can come and
 * leave.
 */
import { hash } from "node:crypto";
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly, Json, JsonObject } from "../base/index.ts";
import { KEEPER } from "./plan-takeover.ts";

/** The manager under which we own fields on members. */
export const FIELD_MANAGER = "flotilla";
export const MANAGED_LABEL = "karmada.io/managed";
/** Digest of the manifest that was last applied: tells without a request that nothing is left to do. */
export const APPLIED_DIGEST = "flotilla.dev/applied-digest";
/** On an object that we let go and may take back: who delivered it. */
export const RELEASED_FROM = "flotilla.dev/released-from";

/** Karmada's records of what a manifest brought along, and of the Work that it came in. */
export const MANAGED_LABELS = "resourcetemplate.karmada.io/managed-labels";
export const MANAGED_ANNOTATIONS = "resourcetemplate.karmada.io/managed-annotations";
const WORK_NAMESPACE = "work.karmada.io/namespace";
const WORK_NAME = "work.karmada.io/name";
const WORK_ID = "work.karmada.io/permanent-id";

/**
 * Whether an object is what this owner delivered. The label says only that some control plane did: a member may belong
 * to two, and anybody there can set it. Where somebody took the name of the owner off, what we wrote ourselves still
 * tells.
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
 * Whether an object says that it was delivered by another than the one with this id. Names come again: a hub that was
 * restored from a copy may still want to delete what its successor has made anew.
 */
export function isOfAnother({ metadata }: DeepReadonly<KubernetesObject>, ownerId: string | undefined): boolean {
  const id = metadata.labels?.[WORK_ID];
  return ownerId !== undefined && id !== undefined && id !== ownerId;
}

export function digestOf(manifest: DeepReadonly<KubernetesObject>): string {
  return hash("sha256", JSON.stringify(manifest), "base64url").slice(0, 22);
}

/** Whether the manifest that an object was last delivered from is this one. */
export function isSameDelivery(
  wanted: DeepReadonly<KubernetesObject>,
  observed: DeepReadonly<KubernetesObject>,
): boolean {
  return wanted.metadata.annotations?.[APPLIED_DIGEST] === observed.metadata.annotations?.[APPLIED_DIGEST];
}

/** Manifests are shared and never changed, and each is looked at several times while it settles: it is marked once. */
const marked = new WeakMap<object, DeepReadonly<KubernetesObject>>();

/** The manifest with our marks on it. */
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

/** Who delivered an object, as `namespace/name`; undefined when it does not say. */
function ownerOf({ metadata: { annotations = {} } }: DeepReadonly<KubernetesObject>): string | undefined {
  const { [WORK_NAMESPACE]: namespace, [WORK_NAME]: name } = annotations;
  return name === undefined ? undefined : `${namespace ?? ""}/${name}`;
}

/**
 * The Work that an object says it was delivered by, with the mark of a control plane on it; undefined for any other
 * object.
 */
export function deliveringWork(object: DeepReadonly<KubernetesObject>): string | undefined {
  return object.metadata.labels?.[MANAGED_LABEL] === "true" ? ownerOf(object) : undefined;
}

/** Whether we let this object go on behalf of the same owner: it may be taken back without asking. */
export function isReleasedFrom({ metadata }: DeepReadonly<KubernetesObject>, owner: string | undefined): boolean {
  return owner !== undefined && metadata.annotations?.[RELEASED_FROM] === owner;
}

/**
 * A merge patch that takes our marks and Karmada's records off an object that stays on the member, and gives our fields
 * up, so that whoever applies it from now on meets no conflict. With `returnTo` it remembers who may take it back.
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
      annotations: { ...ours(metadata.annotations), ...(returnTo !== undefined && { [RELEASED_FROM]: returnTo }) },
      // Ownership is judged from one version of the object and holds for that one alone.
      ...(rest && { managedFields: rest as unknown as Json[], resourceVersion: metadata.resourceVersion ?? null }),
    },
  };
}
