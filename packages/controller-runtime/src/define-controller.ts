/**
 * Defines controllers. `defineController` is for one kind: it looks the object up, maintains its finalizer and calls
 * `reconcile` or `finalize`. `defineKeyedController` is for keys of any other shape. `test/contract/controller.ts`
 * states the guarantees of both.
 */
import { controllerOf, parseApiVersion, type Kind, type KubernetesObject } from "@flotilla/apimachinery";
import { invariant, type DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import {
  done,
  type Controller,
  type ControllerDefinition,
  type Informers,
  type KindRequest,
  type ObjectEvent,
  type OwnedRequest,
} from "./runtime-controller.ts";
import { hasFinalizer, setFinalizer } from "./finalizer.ts";

/** Reconciles mostly wait for the API server; this many keep it busy and share its commits. */
const DEFAULT_CONCURRENCY = 8;

/** The key of an object, which does not contain its logical cluster. */
export function keyOf(cluster: string, { metadata }: DeepReadonly<KubernetesObject>): ObjectKey {
  return metadata.namespace
    ? { cluster, namespace: metadata.namespace, name: metadata.name }
    : { cluster, name: metadata.name };
}

/** `hub/shop/web`: a key as text. No part can contain a slash. */
export function idOfKey({ cluster, namespace = "", name }: ObjectKey): string {
  return `${cluster}/${namespace}/${name}`;
}

/**
 * Changes of another kind enqueue the keys that `map` returns. The controller does not start before the kind is listed.
 */
export function watch<T extends KubernetesObject, K = ObjectKey>(
  kind: Kind<T>,
  map: (event: ObjectEvent<T>) => Iterable<K>,
  options: { informers?: Informers } = {},
): KindRequest<K> {
  return { kind, map: map as (event: ObjectEvent) => Iterable<K>, ...options };
}

/** Objects of this kind that the controller created enqueue their owner. */
export function owned(kind: Kind): OwnedRequest {
  return { owned: kind };
}

export function defineKeyedController<K>(
  definition: Omit<Controller<K>, "concurrency"> & { concurrency?: number },
): Controller<K> {
  return { ...definition, concurrency: definition.concurrency ?? DEFAULT_CONCURRENCY };
}

export function defineController<T extends KubernetesObject>(
  definition: ControllerDefinition<T>,
): Controller<ObjectKey> {
  const { name, for: kind, watches = [], writes, concurrency, finalizer, informers: ownInformers } = definition;
  invariant(
    (finalizer === undefined) === (definition.finalize === undefined),
    `controller ${name} must define finalizer and finalize together`,
  );
  // Owned objects are in the same cluster as their owner.
  const scope = ownInformers && { informers: ownInformers };
  return defineKeyedController<ObjectKey>({
    name,
    writes,
    concurrency,
    reads: definition.reads,
    priorityOf: definition.priorityOf ? (key: ObjectKey) => definition.priorityOf?.(key) ?? 0 : undefined,
    sources: [
      watch(
        kind,
        (event) =>
          event.deleted || (definition.concerns?.(event) ?? true) ? [keyOf(event.cluster, event.object)] : [],
        scope,
      ),
      ...watches.map((request) =>
        "owned" in request ? watch(request.owned, (event) => ownersOf(event, kind), scope) : request,
      ),
    ],
    idOf: idOfKey,

    async reconcile(key, { informers, client, log, signal }) {
      const object = (ownInformers ?? informers).of(kind).get(key);
      if (!object) {
        definition.forget?.(key);
        return done;
      }
      const context = { key, log, signal };
      if (!definition.finalize || finalizer === undefined) return definition.reconcile(object, context);

      const held = hasFinalizer(object, finalizer);
      if (object.metadata.deletionTimestamp === undefined) {
        if (held) return definition.reconcile(object, context);
        // Nothing is created before the finalizer guarantees its cleanup. The change arrives as an event, which
        // enqueues this key.
        await setFinalizer(client, { kind, key, object }, { finalizer, wanted: true }, signal);
        return done;
      }
      // Our part of the deletion is done; the remaining finalizers belong to other controllers.
      if (!held) return done;
      const result = await definition.finalize(object, context);
      if (result.requeueAfterMs !== undefined) return result;
      await setFinalizer(client, { kind, key, object }, { finalizer, wanted: false }, signal);
      return done;
    },
  });
}

/** Maps an object to its owner of kind `owner`; when the owner changes, to both. */
function ownersOf({ cluster, object, old }: ObjectEvent, owner: Kind): ObjectKey[] {
  const now = ownerKey(cluster, object, owner);
  const before = old && ownerKey(cluster, old, owner);
  return [now, before?.name === now?.name ? undefined : before].filter((key) => key !== undefined);
}

function ownerKey(cluster: string, object: DeepReadonly<KubernetesObject>, owner: Kind): ObjectKey | undefined {
  const reference = controllerOf(object);
  if (reference?.kind !== owner.kind || parseApiVersion(reference.apiVersion).group !== owner.group) return undefined;
  const { namespace } = object.metadata;
  return owner.scope === "Namespaced" && namespace
    ? { cluster, namespace, name: reference.name }
    : { cluster, name: reference.name };
}
