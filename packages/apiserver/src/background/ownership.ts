/** What an object says about its owners and its own deletion. Pure. */
import { gvkOf } from "@flotilla/apimachinery";
import type { OwnerReference } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import { knownObject } from "../codec/render.ts";
import { storedMetadataField } from "../codec/stored-metadata.ts";
import type { CachedEntry } from "../store/cache.ts";
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../write/delete.ts";
import type { Propagation } from "../write/delete-options.ts";

/**
 * Returns the owners, and whether the object may wait for its dependents. Searches the bytes when they have not been
 * parsed: most objects have neither.
 */
export function ownershipIn(entry: CachedEntry): { owners: OwnerReference[]; mayWait: boolean } {
  const object = knownObject(entry);
  if (object) {
    const metadata = metadataOf(object);
    const finalizers = finalizersOf(metadata);
    return {
      owners: ownersIn(metadata.ownerReferences),
      mayWait:
        metadata.deletionTimestamp !== undefined &&
        (finalizers.includes(FOREGROUND_FINALIZER) || finalizers.includes(ORPHAN_FINALIZER)),
    };
  }
  const bytes = bytesOf(entry);
  return {
    owners: bytes.includes('"ownerReferences":[{') ? ownersIn(storedMetadataField(entry.value, "ownerReferences")) : [],
    mayWait:
      bytes.includes('"deletionTimestamp"') &&
      (bytes.includes(`"${FOREGROUND_FINALIZER}"`) || bytes.includes(`"${ORPHAN_FINALIZER}"`)),
  };
}

/** Whether the bytes of an entry that was not parsed show an object with this uid that is not being deleted. */
export function isStoredIntact(entry: CachedEntry, uid: string): boolean {
  return !knownObject(entry) && uidOf(entry) === uid && !bytesOf(entry).includes('"deletionTimestamp"');
}

/** Foreground deletion: the object is deleted after its dependents. */
export function isWaiting(metadata: JsonObject): boolean {
  return metadata.deletionTimestamp !== undefined && finalizersOf(metadata).includes(FOREGROUND_FINALIZER);
}

/** The propagation policy that an object's finalizers specify. */
export function propagationOf(finalizers: readonly string[]): Propagation {
  return finalizers.includes(ORPHAN_FINALIZER)
    ? "Orphan"
    : finalizers.includes(FOREGROUND_FINALIZER)
      ? "Foreground"
      : "Background";
}

/** An owner that another server stores. */
export interface ForeignOwner {
  readonly group: string;
  readonly kind: string;
  /** Unset for an owner without a namespace. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
}

/**
 * Whether a reference of an object in a namespace is to this owner. The uid alone does not say so: clients write references, and
 * one with another name or from another namespace says nothing about the owner.
 */
export function refersTo(reference: OwnerReference, namespace: string | undefined, owner: ForeignOwner): boolean {
  const { group, kind } = gvkOf(reference);
  return (
    reference.uid === owner.uid &&
    reference.name === owner.name &&
    kind === owner.kind &&
    group === owner.group &&
    (owner.namespace === undefined || owner.namespace === namespace)
  );
}

/** Whether two references of one object are to the same owner. */
export const isSameReference = (a: OwnerReference, b: OwnerReference): boolean =>
  a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;

export function ownersOf(object: JsonObject): OwnerReference[] {
  return ownersIn(metadataOf(object).ownerReferences);
}

function ownersIn(references: Json | undefined): OwnerReference[] {
  return Array.isArray(references) ? (references.filter(isObject) as unknown as OwnerReference[]) : [];
}

const bytesOf = ({ value }: CachedEntry): Buffer => Buffer.from(value.buffer, value.byteOffset, value.byteLength);

export function uidOf({ value }: CachedEntry): string | undefined {
  const uid = storedMetadataField(value, "uid");
  return typeof uid === "string" ? uid : undefined;
}
