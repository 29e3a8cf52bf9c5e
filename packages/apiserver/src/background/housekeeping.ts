/** The reads and writes of the server's own background work, under its own identity. */
import { defined } from "@flotilla/base";
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import type { Json, JsonObject } from "@flotilla/base";
import { isConflict, isNotFound } from "@flotilla/apimachinery";
import type { CachedEntry } from "../store/cache.ts";
import type { Background } from "./background.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { ControllerLeases } from "../clusters/controller-leases.ts";
import { deleteObject } from "../write/delete.ts";
import type { Propagation } from "../write/delete-options.ts";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import { ownChange, ownContext, ownOptions } from "../write/own-request.ts";
import type { OwnPlace } from "../write/own-request.ts";
import { objectIn } from "../codec/render.ts";
import { clusterOfKey } from "../resources/resources.ts";
import { insertObject } from "../write/create.ts";
import type { WriteDependencies } from "../write/store-object.ts";
import { rewriteObject } from "../write/update.ts";

interface HousekeepingFound extends OwnPlace {
  /** In the storage version. */
  object: JsonObject;
}

export interface Housekeeping {
  /** Aborted when the server stops: long-running work leaves the rest to the next start. */
  readonly signal: AbortSignal;
  /** As `Background.enqueue`. */
  enqueue(key: string, work: () => Promise<void>, lane?: string): void;
  find(key: string): HousekeepingFound | undefined;
  /** Whether the cluster of this key has its own controller manager, which empties namespaces and collects garbage. */
  isManagedElsewhere(key: string): boolean;
  /**
   * The place that a key refers to, whether or not an object exists there; undefined when its cluster or its kind does
   * not exist.
   */
  locate(key: string): OwnPlace | undefined;
  /** The entry stored at a place. */
  entryAt(place: OwnPlace, key: string): CachedEntry | undefined;
  /** Creates an object, unless one of that name exists or its namespace or cluster does not. */
  create(key: string, object: KubernetesObject): Promise<void>;
  /** Deletes an object if it still has this uid; an object that is already deleted is not an error. */
  remove(key: string, uid: string, propagation: Propagation | undefined): Promise<void>;
  setOwners(key: string, change: (owners: OwnerReference[]) => OwnerReference[]): Promise<void>;
  removeFinalizer(key: string, finalizer: string): Promise<void>;
  /** Updates an object through one of its subresources; does nothing when the object is deleted. */
  rewrite(key: string, subresource: string | undefined, change: (object: JsonObject) => JsonObject): Promise<void>;
}

const OPTIONS = ownOptions("flotilla-apiserver");

export function createHousekeeping(
  deps: WriteDependencies & {
    clusters: ClusterRegistry;
    background: Background;
    leases: Pick<ControllerLeases, "isHeld">;
    signal: AbortSignal;
  },
): Housekeeping {
  const { store, clusters, background, signal } = deps;

  const locate = (key: string): OwnPlace | undefined => {
    const [, group = "", plural = "", clusterName = "", ...rest] = key.split("/");
    const cluster = clusters.get(clusterName);
    const resource = cluster?.table.resource(group === "core" ? "" : group, plural);
    if (!cluster || !resource) return undefined;
    const [namespace, name] = resource.namespaced ? rest : [undefined, rest[0]];
    return name === undefined ? undefined : { cluster, resource, name, namespace };
  };
  const entryAt = ({ cluster, resource }: OwnPlace, key: string): CachedEntry | undefined =>
    store.find(cluster, resource, key).entry;
  const find = (key: string): HousekeepingFound | undefined => {
    const place = locate(key);
    const entry = place && entryAt(place, key);
    return place && entry && { ...place, object: objectIn(entry, place.resource.storage) };
  };
  const rewrite = async (
    key: string,
    subresource: string | undefined,
    change: (object: JsonObject) => JsonObject,
  ): Promise<void> => {
    const place = locate(key);
    if (!place) return;
    try {
      const context = ownContext(place, subresource, signal);
      await rewriteObject(deps, { context, options: OPTIONS, verb: "update" }, (old) => ownChange(change(old)));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };

  return {
    signal,
    enqueue: background.enqueue,
    find,
    isManagedElsewhere: (key) => deps.leases.isHeld(clusterOfKey(key)),
    locate,
    entryAt,
    async create(key, object) {
      const place = locate(key);
      if (!place) return;
      try {
        await insertObject(deps, {
          context: ownContext(place, undefined, signal),
          options: OPTIONS,
          verb: "create",
          body: { object: object as unknown as JsonObject, duplicates: [] },
          name: place.name,
        });
      } catch (error) {
        // The cluster or its namespace was deleted.
        if (!isNotFound(error)) throw error;
      }
    },
    async remove(key, uid, propagation) {
      const place = locate(key);
      if (!place) return;
      try {
        await deleteObject(deps, ownContext(place, undefined, signal), {
          dryRun: false,
          propagation,
          preconditions: { uid },
        });
      } catch (error) {
        // Deleted, or replaced by another object of the same name.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
    setOwners: (key, change) =>
      rewrite(key, undefined, (object) => {
        const { ownerReferences, ...metadata } = metadataOf(object);
        const owners = change((Array.isArray(ownerReferences) ? ownerReferences : []) as unknown as OwnerReference[]);
        return {
          ...object,
          metadata: {
            ...metadata,
            ...defined({ ownerReferences: owners.length > 0 ? (owners as unknown as Json) : undefined }),
          },
        };
      }),
    removeFinalizer: (key, finalizer) =>
      rewrite(key, undefined, (object) => {
        const metadata = metadataOf(object);
        return {
          ...object,
          metadata: { ...metadata, finalizers: finalizersOf(metadata).filter((other) => other !== finalizer) },
        };
      }),
    rewrite,
  };
}
