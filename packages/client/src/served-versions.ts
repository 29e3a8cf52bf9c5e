/**
 * A client for servers of other releases: it requests a kind in a version that the server has, and returns it in our
 * storage version. So a controller for CloneSet v1beta1 works where only v1alpha1 is served.
 *
 * Kinds that are declared in one version need no discovery and cost nothing. Fields that a version lacks are lost in
 * conversion, as the kind's file documents. A patch is not converted, because it is not an object: patches of such
 * kinds may change metadata only.
 */
import { formatApiVersion, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError, isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { Client, WatchEvent } from "./client.ts";
import { UnknownKindError, createKindResolver } from "./kind-resolver.ts";
import type { KindResolver } from "./kind-resolver.ts";

/** The kind as the server has it, and the conversions between that version and ours. */
interface Served {
  kind: Kind;
  toOurs<T>(object: DeepReadonly<T>): DeepReadonly<T>;
  toTheirs<T>(object: DeepReadonly<T>): DeepReadonly<T>;
}

type Answer = Served | "as ours" | "absent";

export function createServedVersionsClient(client: Client): Client {
  const resolvers = new Map<string, KindResolver>();
  /** By cluster, then by group and kind. */
  const answers = new Map<string, Map<string, Promise<Answer>>>();

  async function find(kind: Kind, cluster: string): Promise<Answer> {
    let resolver = resolvers.get(cluster);
    if (!resolver) resolvers.set(cluster, (resolver = createKindResolver({ client, cluster })));
    for (const version of [kind.storageVersion, ...Object.keys(kind.versions)]) {
      try {
        await resolver.resolve({ apiVersion: formatApiVersion(kind.group, version), kind: kind.kind });
        return version === kind.storageVersion ? "as ours" : servedAs(kind, version);
      } catch (error) {
        if (!(error instanceof UnknownKindError)) throw error;
      }
    }
    return "absent";
  }

  /**
   * Undefined when the server has the kind in our version, or not at all: then the request itself returns the best
   * error.
   */
  async function served(kind: Kind, cluster: string): Promise<Served | undefined> {
    if (Object.keys(kind.versions).length < 2) return undefined;
    const known = answers.get(cluster) ?? new Map<string, Promise<Answer>>();
    answers.set(cluster, known);
    const id = `${kind.group}/${kind.kind}`;
    const asked = known.get(id) ?? find(kind, cluster);
    known.set(id, asked);
    let answer: Answer | undefined;
    try {
      answer = await asked;
    } finally {
      // A CRD may be created at any time.
      if (answer === undefined || answer === "absent") known.delete(id);
    }
    return typeof answer === "string" ? undefined : answer;
  }

  /** Owner references use a version that the server has; its garbage collector looks the owner up by it. */
  async function withServedOwners<T extends KubernetesObject>(
    cluster: string,
    object: DeepReadonly<T>,
  ): Promise<DeepReadonly<T>> {
    const { ownerReferences } = object.metadata;
    const known = answers.get(cluster);
    if (!ownerReferences || !known) return object;
    const owners = await Promise.all(
      ownerReferences.map(async (owner) => {
        const other = await known.get(`${parseApiVersion(owner.apiVersion).group}/${owner.kind}`);
        return typeof other === "object"
          ? { ...owner, apiVersion: formatApiVersion(other.kind.group, other.kind.storageVersion) }
          : owner;
      }),
    );
    return { ...object, metadata: { ...object.metadata, ownerReferences: owners } };
  }

  type Write = "create" | "update" | "updateStatus" | "apply";
  const write =
    (verb: Write): Client["create"] =>
    async (kind, cluster, object, options) => {
      const other = await served(kind, cluster);
      const owned = await withServedOwners(cluster, object);
      if (!other) return client[verb](kind, cluster, owned, options);
      return other.toOurs(await client[verb](other.kind as typeof kind, cluster, other.toTheirs(owned), options));
    };

  return {
    ...client,
    create: write("create"),
    update: write("update"),
    updateStatus: write("updateStatus"),
    apply: write("apply"),
    async get(kind, key, options) {
      const other = await served(kind, key.cluster);
      return other
        ? other.toOurs(await client.get(other.kind as typeof kind, key, options))
        : client.get(kind, key, options);
    },
    async list(kind, options) {
      const other = await served(kind, options.cluster);
      if (!other) return client.list(kind, options);
      const list = await client.list(other.kind as typeof kind, options);
      return { ...list, items: list.items.map((item) => other.toOurs(item)) };
    },
    async *watch(kind, options) {
      const other = await served(kind, options.cluster);
      const asked = other ? (other.kind as typeof kind) : kind;
      for await (const events of client.watch(asked, options))
        yield other ? events.map((event) => eventToOurs(event, other)) : events;
    },
    async patch(kind, key, patch, options) {
      const other = await served(kind, key.cluster);
      if (!other) return client.patch(kind, key, patch, options);
      if (!isOfMetadata(patch))
        throw new FlotillaError(
          "Conversion",
          `cannot patch ${kind.kind} ${key.name} on ${key.cluster}: the cluster serves it only as ` +
            `${other.kind.storageVersion}, and only metadata patches are the same in every version; update ` +
            "the object instead",
        );
      return other.toOurs(await client.patch(other.kind as typeof kind, key, patch, options));
    },
    async delete(kind, key, options) {
      return client.delete((await served(kind, key.cluster))?.kind ?? kind, key, options);
    },
    async deleteCollection(kind, options) {
      await client.deleteCollection((await served(kind, options.cluster))?.kind ?? kind, options);
    },
  };
}

function servedAs(kind: Kind, version: string): Served {
  const { toStorage, fromStorage } = kind.versions[version] ?? {};
  // Conversions work on plain objects; the kind guarantees the type of the result.
  const convert = <T>(
    object: DeepReadonly<T>,
    by: ((object: JsonObject) => JsonObject) | undefined,
    to: string,
  ): DeepReadonly<T> =>
    ({ ...(by ? by(object as JsonObject) : object), apiVersion: formatApiVersion(kind.group, to) }) as DeepReadonly<T>;
  return {
    kind: { ...kind, storageVersion: version },
    toOurs: (object) => convert(object, toStorage, kind.storageVersion),
    toTheirs: (object) => convert(object, fromStorage, version),
  };
}

function eventToOurs<T>(event: WatchEvent<T>, other: Served): WatchEvent<T> {
  return event.type === "BOOKMARK" ? event : { ...event, object: other.toOurs(event.object) };
}

const isOfMetadata = (patch: Json): boolean => isObject(patch) && Object.keys(patch).every((key) => key === "metadata");
