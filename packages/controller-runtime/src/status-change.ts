/** Recognizes changes of an object that leave its desired state as it is. Pure. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";

type Version = DeepReadonly<KubernetesObject>;

/** Set by the server with every write. */
const OF_EVERY_WRITE: ReadonlySet<string> = new Set(["resourceVersion", "managedFields"]);

/**
 * Whether at most the status differs between two versions of an object. The generation counts changes of the rest; a
 * kind without generations may have changed anywhere. An object that is being deleted is waited for, so each change of
 * it counts.
 */
export function isStatusChange(before: Version | undefined, now: Version | undefined): boolean {
  if (!before || !now || now.metadata.deletionTimestamp !== undefined) return false;
  if (now.metadata.generation === undefined || now.metadata.generation !== before.metadata.generation) return false;
  return hasFieldsOf(before.metadata, now.metadata) && hasFieldsOf(now.metadata, before.metadata);
}

/** Asked for most events: it compares in place. */
function hasFieldsOf(expected: Version["metadata"], metadata: Version["metadata"]): boolean {
  for (const name in expected) {
    const field = name as keyof Version["metadata"];
    if (!OF_EVERY_WRITE.has(name) && !equalJson(expected[field], metadata[field])) return false;
  }
  return true;
}
