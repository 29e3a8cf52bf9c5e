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
  if (now.metadata.generation === undefined) return false;
  return equalJson(authored(before.metadata), authored(now.metadata));
}

function authored(metadata: Version["metadata"]): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(metadata)) if (!OF_EVERY_WRITE.has(name)) fields[name] = value;
  return fields;
}
