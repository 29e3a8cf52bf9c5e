/** The client on any transport: translates calls into Kubernetes API requests, and responses into objects. */
import { badRequest, formatApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { isObject, omitZero, defined, textOf } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type {
  Client,
  DeleteOptions,
  List,
  ListOptions,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client.ts";
import { InvalidResponseError } from "./errors.ts";
import type { ResourcePath, Transport, TransportRequest, TransportWatchEvent } from "./transport.ts";

export const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

export function createClient({ transport, fieldManager }: { transport: Transport; fieldManager: string }): Client {
  const exchange = async (request: TransportRequest, signal: AbortSignal | undefined): Promise<JsonObject> => {
    signal?.throwIfAborted();
    return transport.send(request, signal);
  };
  // The response of a verb on a kind is an object of that kind; the server guarantees it.
  const send = async <T>(request: TransportRequest, signal?: AbortSignal): Promise<DeepReadonly<T>> => {
    const answer = await exchange(request, signal);
    if (request.path.name !== undefined || isNamed(request.body)) requireMetadata(answer, request.path);
    return answer as DeepReadonly<T>;
  };
  // One shared object for all writes, so that a transport can recognize it by identity.
  const usual = { fieldManager };
  const writeQuery = (options?: WriteOptions): Readonly<Record<string, string>> =>
    options?.dryRun || options?.fieldManager !== undefined || options?.fieldValidation !== undefined
      ? {
          fieldManager: options.fieldManager ?? fieldManager,
          ...omitZero({ dryRun: options.dryRun ? "All" : undefined, fieldValidation: options.fieldValidation }),
        }
      : usual;

  return {
    async get<T extends KubernetesObject>(
      kind: Kind<T>,
      key: { cluster: string; namespace?: string; name: string },
      options?: ReadOptions,
    ) {
      return send<T>(
        { verb: "get", path: objectPath(kind, key.cluster, key), query: readQuery(options) },
        options?.signal,
      );
    },

    async list<T extends KubernetesObject>(kind: Kind<T>, options: ListOptions): Promise<List<T>> {
      const answer = await exchange(
        {
          verb: "list",
          path: collectionPath(kind, options.cluster, options.namespace),
          query: selectionQuery(options),
        },
        options.signal,
      );
      return readList(kind, answer, options.cluster);
    },

    async *watch<T extends KubernetesObject>(kind: Kind<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>[]> {
      const path = collectionPath(kind, options.cluster, options.namespace);
      for await (const events of transport.watch(
        { path, query: watchQuery(options), where: options.where },
        options.signal,
      )) {
        yield events.map((event) => readEvent<T>(event, path));
      }
    },

    async create<T extends KubernetesObject>(
      kind: Kind<T>,
      cluster: string,
      object: DeepReadonly<T>,
      options?: WriteOptions,
    ) {
      const { namespace } = object.metadata;
      requireNamespace(kind, namespace);
      return send<T>(
        { verb: "create", path: collectionPath(kind, cluster, namespace), query: writeQuery(options), body: object },
        options?.signal,
      );
    },

    async update<T extends KubernetesObject>(
      kind: Kind<T>,
      cluster: string,
      object: DeepReadonly<T>,
      options?: WriteOptions,
    ) {
      return send<T>(
        { verb: "update", path: objectPath(kind, cluster, object.metadata), query: writeQuery(options), body: object },
        options?.signal,
      );
    },

    async updateStatus<T extends KubernetesObject>(
      kind: Kind<T>,
      cluster: string,
      object: DeepReadonly<T>,
      options?: WriteOptions,
    ) {
      return send<T>(
        {
          verb: "update",
          path: objectPath(kind, cluster, object.metadata, "status"),
          query: writeQuery(options),
          body: object,
        },
        options?.signal,
      );
    },

    async patch(kind, key, patch, options) {
      const path = objectPath(kind, key.cluster, key, options.subresource);
      return send(
        { verb: "patch", path, query: writeQuery(options), patchType: options.type, body: patch },
        options.signal,
      );
    },

    async apply(kind, cluster, object, options) {
      const query = { ...writeQuery(options), ...defined({ force: options?.force ? "true" : undefined }) };
      const path = objectPath(kind, cluster, object.metadata, options?.subresource);
      return send({ verb: "patch", path, query, patchType: "apply", body: object }, options?.signal);
    },

    async delete(kind, key, options) {
      const answer = await exchange(
        { verb: "delete", path: objectPath(kind, key.cluster, key), ...deleteBody(options) },
        options?.signal,
      );
      // The object itself is the answer while it exists, and for a few kinds always.
      return answer["kind"] === "Status" && answer["status"] === "Success" && !options?.dryRun ? "gone" : "going";
    },

    async deleteCollection(kind, options) {
      // Without a namespace this would empty every namespace, which Kubernetes itself rejects.
      requireNamespace(kind, options.namespace);
      const path = collectionPath(kind, options.cluster, options.namespace);
      await exchange(
        { verb: "deletecollection", path, query: selectionQuery(options), ...deleteBody(options) },
        options.signal,
      );
    },

    async raw(request, signal) {
      return transport.raw(request, signal);
    },
  };
}

function collectionPath(kind: Kind, cluster: string, namespace: string | undefined): ResourcePath {
  const path: ResourcePath = { cluster, group: kind.group, version: kind.storageVersion, resource: kind.plural };
  if (namespace && kind.scope === "Namespaced") path.namespace = namespace;
  return path;
}

function objectPath(
  kind: Kind,
  cluster: string,
  { namespace, name }: { readonly namespace?: string; readonly name: string },
  subresource?: string,
): ResourcePath {
  // A DELETE or PUT without a name would address the whole collection, and dots would address another path.
  if (!name || name === "." || name === "..")
    throw badRequest(`${kind.kind} cannot be addressed by the name ${JSON.stringify(name ?? "")}; set metadata.name`);
  requireNamespace(kind, namespace);
  const path = collectionPath(kind, cluster, namespace);
  path.name = name;
  if (subresource !== undefined) path.subresource = subresource;
  return path;
}

function requireNamespace(kind: Kind, namespace: string | undefined): void {
  if (kind.scope === "Namespaced" && !namespace)
    throw badRequest(`${kind.kind} is namespaced, and no namespace was given; set metadata.namespace`);
}

function readQuery(options?: ReadOptions): Record<string, string> {
  return options?.resourceVersion === undefined ? {} : { resourceVersion: options.resourceVersion };
}

function selectionQuery(options: ListOptions): Record<string, string> {
  const query = readQuery(options);
  if (options.labelSelector) query["labelSelector"] = options.labelSelector;
  if (options.fieldSelector) query["fieldSelector"] = options.fieldSelector;
  if (options.limit !== undefined) query["limit"] = String(options.limit);
  if (options.continue) query["continue"] = options.continue;
  return query;
}

function watchQuery(options: WatchOptions): Record<string, string> {
  const query: Record<string, string> = { allowWatchBookmarks: "true" };
  if (options.labelSelector) query["labelSelector"] = options.labelSelector;
  if (options.fieldSelector) query["fieldSelector"] = options.fieldSelector;
  if (options.resourceVersion !== undefined) query["resourceVersion"] = options.resourceVersion;
  if (options.sendInitialEvents) {
    query["sendInitialEvents"] = "true";
    query["resourceVersionMatch"] = "NotOlderThan";
  }
  return query;
}

/** Delete options are sent in the body; a server that receives a body ignores the query. */
function deleteBody(options?: DeleteOptions): Pick<TransportRequest, "body"> {
  if (!options) return {};
  const { propagationPolicy, gracePeriodSeconds, preconditions, dryRun } = options;
  if (propagationPolicy === undefined && gracePeriodSeconds === undefined && preconditions === undefined && !dryRun)
    return {};
  return {
    body: {
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy,
      gracePeriodSeconds,
      preconditions,
      dryRun: dryRun ? ["All"] : undefined,
    },
  };
}

/** Reviews, which are created without a name or with an empty one, may come back without metadata. */
const isNamed = (body: unknown): boolean => isObject(body) && isObject(body["metadata"]) && !!body["metadata"]["name"];

/** Everything that reads objects relies on this; a server that is not trusted may send anything. */
function requireMetadata(object: unknown, { cluster, resource }: Pick<ResourcePath, "cluster" | "resource">): void {
  const metadata = isObject(object) ? object["metadata"] : undefined;
  const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
  if (
    isObject(metadata) &&
    typeof metadata["name"] === "string" &&
    isText(metadata["namespace"]) &&
    isText(metadata["uid"]) &&
    isText(metadata["resourceVersion"])
  )
    return;
  throw new InvalidResponseError(
    `cluster ${cluster} sent an object of ${resource} without valid metadata; check that its address is that of a Kubernetes API server`,
    { mayHaveArrived: true },
  );
}

function readList<T extends KubernetesObject>(kind: Kind<T>, answer: JsonObject, cluster: string): List<T> {
  const metadata = isObject(answer["metadata"]) ? answer["metadata"] : {};
  const items = (Array.isArray(answer["items"]) ? answer["items"] : []) as unknown as DeepReadonly<T>[];
  for (const item of items) requireMetadata(item, { cluster, resource: kind.plural });
  const next = metadata["continue"];
  const remaining = metadata["remainingItemCount"];
  return {
    items: items[0]?.kind === undefined ? items.map((item) => withType(kind, item)) : items,
    resourceVersion: textOf(metadata["resourceVersion"]),
    continue: typeof next === "string" && next !== "" ? next : undefined,
    remainingItemCount: typeof remaining === "number" ? remaining : undefined,
  };
}

/** Real servers omit apiVersion and kind from the items of built-in lists; our objects always have them. */
function withType<T extends KubernetesObject>(kind: Kind<T>, item: DeepReadonly<T>): DeepReadonly<T> {
  return { ...item, apiVersion: formatApiVersion(kind.group, kind.storageVersion), kind: kind.kind };
}

function readEvent<T extends KubernetesObject>(
  { type, cluster, object, isInitial }: TransportWatchEvent,
  watched: ResourcePath,
): WatchEvent<T> {
  if (type !== "BOOKMARK") {
    requireMetadata(object, watched);
    return { type, cluster: cluster ?? watched.cluster, object: object as unknown as DeepReadonly<T>, isInitial };
  }
  const metadata = isObject(object["metadata"]) ? object["metadata"] : {};
  const annotations = isObject(metadata["annotations"]) ? metadata["annotations"] : {};
  return {
    type,
    resourceVersion: textOf(metadata["resourceVersion"]),
    initialEventsEnd: annotations[INITIAL_EVENTS_END] === "true",
  };
}
