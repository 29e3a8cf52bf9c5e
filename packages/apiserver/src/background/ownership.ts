/** What an object says about its owners and its own deletion. Pure. */
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
