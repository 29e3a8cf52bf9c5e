/**
 * The objects of the fake client: optimistic concurrency, generation, finalizers, and the history of changes. Requests
 * that it rejects throw the error of the API server.
 */
import { alreadyExists, conflict, CONFLICT_MESSAGE, notFound } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject, ResourceName } from "@flotilla/apimachinery";
import { copy, deepFreeze, equalJson, formatTime, defined } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { ObjectKey, WatchEvent } from "@flotilla/client";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "updateStatus" | "patch" | "delete";
export type ReadonlyObject = DeepReadonly<KubernetesObject>;

/** A write that was applied. */
export interface FakeWrite {
  verb: Verb;
  kind: string;
  /** `hub/shop/web` */
  id: string;
}

export interface Change {
  revision: number;
  resource: string;
  event: WatchEvent<KubernetesObject> & { cluster: string };
}

/** Where a write came from, and to which objects. */
interface Target {
  verb: Verb;
  kind: Kind;
  cluster: string;
}

interface Stored {
  cluster: string;
  object: ReadonlyObject;
}

export interface FakeStore {
  /** Every write that changed something, in order. */
  readonly writes: readonly FakeWrite[];
  readonly revision: number;
  get(kind: Kind, key: ObjectKey): ReadonlyObject;
  list(kind: Kind, cluster: string, namespace?: string): Stored[];
  create(kind: Kind, cluster: string, object: ReadonlyObject): ReadonlyObject;
  /** Replaces an object without its status, if the kind has the subresource. */
  update(target: Target, sent: ReadonlyObject): ReadonlyObject;
  updateStatus(target: Target, sent: ReadonlyObject): ReadonlyObject;
  delete(kind: Kind, key: ObjectKey, preconditions?: { uid?: string; resourceVersion?: string }): "gone" | "going";
}

export function createFakeStore(clock: Clock, onChange: (change: Change) => void): FakeStore {
  const tables = new Map<string, Map<string, Stored>>();
  const writes: FakeWrite[] = [];
  let revision = 0;
  let uids = 0;

  const tableOf = (kind: Kind): Map<string, Stored> => {
    const resource = resourceOf(kind);
    let table = tables.get(resource);
    if (!table) tables.set(resource, (table = new Map()));
    return table;
  };

  const currentOf = (kind: Kind, key: ObjectKey): ReadonlyObject => {
    const stored = tableOf(kind).get(idOf(key));
    if (!stored) throw notFound(named(kind), key.name);
    return stored.object;
  };

  /** Stores the next version, or removes the object if it is being deleted and has no finalizers. */
  const commit = (
    { verb, kind, cluster }: Target,
    next: KubernetesObject,
    current?: ReadonlyObject,
  ): ReadonlyObject => {
    if (current && equalJson(next, current)) return current;
    next.metadata.resourceVersion = String(++revision);
    const object = deepFreeze(next);
    const id = idOf({ cluster, ...next.metadata });
    const isDeleted = next.metadata.deletionTimestamp !== undefined && !next.metadata.finalizers?.length;
    if (isDeleted) tableOf(kind).delete(id);
    else tableOf(kind).set(id, { cluster, object });
    writes.push({ verb, kind: kind.kind, id });
    const type = isDeleted ? "DELETED" : current ? "MODIFIED" : "ADDED";
    onChange({ revision, resource: resourceOf(kind), event: { type, cluster, object } });
    return object;
  };

  /** The object that a write replaces. */
  const replacedBy = ({ kind, cluster }: Target, { metadata }: ReadonlyObject): ReadonlyObject => {
    const current = currentOf(kind, { cluster, ...metadata });
    const { resourceVersion, uid } = metadata;
    if (
      (resourceVersion && resourceVersion !== current.metadata.resourceVersion) ||
      (uid && uid !== current.metadata.uid)
    )
      throw conflict(named(kind), metadata.name, CONFLICT_MESSAGE);
    return current;
  };

  return {
    writes,
    get revision() {
      return revision;
    },
    get: currentOf,
    list: (kind, cluster, namespace) =>
      [...tableOf(kind).values()].filter(
        (item) =>
          (cluster === "*" || item.cluster === cluster) &&
          (namespace === undefined || item.object.metadata.namespace === namespace),
      ),

    create(kind, cluster, object) {
      const { metadata } = object;
      if (tableOf(kind).has(idOf({ cluster, ...metadata }))) throw alreadyExists(named(kind), metadata.name);
      const next = copy<ReadonlyObject & { status?: unknown }>(object);
      if (kind.subresources.status) delete next.status;
      next.metadata = {
        ...next.metadata,
        uid: `uid-${++uids}`,
        creationTimestamp: formatTime(clock.now()),
        ...defined({ generation: kind.hasGeneration ? 1 : undefined }),
      };
      return commit({ verb: "create", kind, cluster }, next);
    },

    update(target, sent) {
      const current = replacedBy(target, sent);
      return commit(target, nextVersion(target.kind, current, sent), current);
    },

    updateStatus(target, sent) {
      const current = replacedBy(target, sent);
      return commit(target, copy(withStatus(current, statusOf(sent))), current);
    },

    delete(kind, key, preconditions) {
      const current = currentOf(kind, key);
      for (const field of ["uid", "resourceVersion"] as const) {
        if (preconditions?.[field] && preconditions[field] !== current.metadata[field])
          throw conflict(named(kind), key.name, `the precondition on ${field} failed`);
      }
      const next = copy(current);
      next.metadata.deletionTimestamp ??= formatTime(clock.now());
      commit({ verb: "delete", kind, cluster: key.cluster }, next, current);
      return next.metadata.finalizers?.length ? "going" : "gone";
    },
  };
}

/** The next version of an object, with the fields that only the server sets. */
function nextVersion(kind: Kind, current: ReadonlyObject, sent: ReadonlyObject): KubernetesObject {
  const { finalizers, labels, annotations } = sent.metadata;
  const metadata = copy({ ...current.metadata, ...sent.metadata, finalizers, labels, annotations });
  for (const field of ["finalizers", "labels", "annotations"] as const)
    if (metadata[field] === undefined) delete metadata[field];
  metadata.resourceVersion = current.metadata.resourceVersion;
  const hasNewSpec = kind.hasGeneration && !equalJson(specOf(sent), specOf(current));
  if (hasNewSpec) metadata.generation = (current.metadata.generation ?? 1) + 1;
  return { ...copy(withStatus(sent, kind.subresources.status ? statusOf(current) : undefined)), metadata };
}

function withStatus(object: ReadonlyObject, status: unknown): ReadonlyObject {
  const next: ReadonlyObject & { status?: unknown } = { ...object, status };
  if (status === undefined) delete next.status;
  return next;
}

const named = ({ group, plural }: Kind): ResourceName => ({ group, resource: plural });
export const resourceOf = ({ group, plural }: Kind): string => `${plural}.${group}`;
const idOf = ({ cluster, namespace = "", name }: ObjectKey): string => `${cluster}/${namespace}/${name}`;
const statusOf = (object: object): unknown => (object as { status?: unknown }).status;
const specOf = (object: object): unknown => (object as { spec?: unknown }).spec;
