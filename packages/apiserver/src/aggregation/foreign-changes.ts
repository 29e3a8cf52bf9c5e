/** Changes of the objects of aggregated servers, each on condition that it is the object and the version that was read. */
import type { OwnerReference } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { Clock, Json } from "@flotilla/base";
import { pathOf } from "./foreign-objects.ts";
import type { ForeignObject } from "./foreign-object.ts";
import { ask } from "./remote-calls.ts";
import type { RemoteAnswer } from "./remote-calls.ts";
import type { RemoteService } from "./remote-service.ts";

/** Each resolves with false for an object that is gone, or that another client changed since: the next pass reads it again. */
export interface ForeignChanges {
  setOwners(object: ForeignObject, owners: readonly OwnerReference[]): Promise<boolean>;
  /** Removes one owner. */
  release(object: ForeignObject, uid: string): Promise<boolean>;
  removeFinalizer(object: ForeignObject, finalizer: string): Promise<boolean>;
  remove(object: ForeignObject, propagationPolicy: string): Promise<boolean>;
}

/** For one pass: a server that does not answer is not waited for again. */
export function createForeignChanges(context: { clock: Clock; signal: AbortSignal }): ForeignChanges {
  const unreachable = new Map<RemoteService, unknown>();

  async function send(
    object: ForeignObject,
    request: { method: string; body: { type: string; text: string } },
  ): Promise<RemoteAnswer> {
    const { remote } = object.of;
    try {
      if (unreachable.has(remote)) throw unreachable.get(remote);
      return await ask(remote, pathOf(object.of, object), context, request);
    } catch (error) {
      unreachable.set(remote, error);
      throw new FlotillaError("AggregatedServer", `${describe(object)}: the server of ${remote.name} does not answer`, {
        cause: error,
      });
    }
  }

  async function change(
    object: ForeignObject,
    metadata: { ownerReferences?: readonly OwnerReference[]; finalizers?: readonly string[] },
  ): Promise<boolean> {
    const { uid, resourceVersion } = object;
    const text = JSON.stringify({ metadata: { uid, resourceVersion, ...metadata } });
    const { status } = await send(object, { method: "PATCH", body: { type: "application/merge-patch+json", text } });
    return succeeded(status, object, "changed");
  }

  const setOwners: ForeignChanges["setOwners"] = (object, owners) => change(object, { ownerReferences: owners });

  return {
    setOwners,
    release: (object, uid) =>
      setOwners(
        object,
        object.owners.filter((owner) => owner.uid !== uid),
      ),
    removeFinalizer: (object, finalizer) =>
      change(object, { finalizers: object.finalizers.filter((other) => other !== finalizer) }),
    async remove(object, propagationPolicy) {
      const { uid, resourceVersion } = object;
      const options: Json = {
        apiVersion: "v1",
        kind: "DeleteOptions",
        preconditions: { uid, resourceVersion },
        propagationPolicy,
      };
      const body = { type: "application/json", text: JSON.stringify(options) };
      const { status } = await send(object, { method: "DELETE", body });
      return succeeded(status, object, "deleted");
    },
  };
}

export const describe = ({ of: { remote, resource }, name }: ForeignObject): string =>
  `${resource}.${remote.group} ${name}`;

function succeeded(status: number, object: ForeignObject, what: string): boolean {
  if (status === 404 || status === 409) return false;
  if (status >= 200 && status <= 299) return true;
  const { remote } = object.of;
  throw new FlotillaError(
    "AggregatedServer",
    `${describe(object)} could not be ${what} at the server of ${remote.name}: status ${status}`,
  );
}
