/**
 * Deletes what an adoption created on the hub, if it fails before a member changes. Its templates are unmanaged
 * until then, so members keep what they run. What was on the hub before stays.
 */
import { HUB, isNotFound } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { FlotillaError, messageOf } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { UNMANAGED } from "@flotilla/flotilla";

/** An object that this run created on the hub. */
interface Created {
  kind: Kind;
  title: string;
  namespace?: string | undefined;
  name: string;
  uid: string;
}

export interface CreatedObjects {
  policies: Created[];
  templates: Created[];
}

/** The error for the user: what failed, what happened to the objects on the hub, and what to do next. */
export async function cleanUp(
  error: unknown,
  { templates, policies }: CreatedObjects,
  { client, signal }: { client: Client; signal: AbortSignal },
): Promise<Error> {
  // A policy without its template selects nothing.
  const all = [...templates, ...policies];
  const titles = all.map(({ title }) => title).join(", ");
  const isStopped = signal.aborted;
  const cause = messageOf(isStopped ? signal.reason : error);
  const code = isStopped ? "Stopped" : error instanceof FlotillaError ? error.code : "Adopt";
  // Without the cause, whose message it repeats.
  const fail = (text: string): Error => new FlotillaError(code, `${cause}; no member was changed${text}`);
  // The message of another failure needs no addition: nothing was created.
  if (all.length === 0) return isStopped || !(error instanceof Error) || code === "Adopt" ? fail("") : error;
  const left = `${titles}; ${UNMANAGED} keeps members as they are. Run the same command again to continue, or delete what remains`;
  if (isStopped) return fail(`. On the hub remain ${left}`);
  try {
    for (const object of all) await remove(client, object);
  } catch (failure) {
    return fail(`. The hub did not delete all that was created (${messageOf(failure)}): ${left}`);
  }
  return fail(`. Deleted again on the hub: ${titles}`);
}

async function remove(client: Client, { kind, namespace, name, uid }: Created): Promise<void> {
  try {
    await client.delete(kind, { cluster: HUB, namespace, name }, { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
