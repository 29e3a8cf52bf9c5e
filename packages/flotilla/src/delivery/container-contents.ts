/**
 * Determines what a member loses with a container object: a namespace deletes everything in it, a CRD every object of
 * its kind. Before deleting one, the hub asks the member what would be deleted with it. Such deletions are rare and
 * cannot be undone, so one request per kind is acceptable; anything that cannot be inspected counts as held.
 */
import { CustomResourceDefinition, Namespace, SERVICE_ACCOUNT_NAME_ANNOTATION } from "@flotilla/kubernetes";
import { ApiError, dynamicKind, parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError, isObject } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { readJson, readText } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";

type Held = DeepReadonly<KubernetesObject>;

/** One page fits most namespaces. More pages of one kind are not read: some of those objects are certainly not ours. */
const PAGE_SIZE = 500;
const MAX_PAGES = 40;
/** Concurrent requests to one member. */
const PARALLEL = 4;
/** No real cluster has more group versions than this. */
const MAX_GROUP_VERSIONS = 1000;

/** Records of current or past workloads: they are deleted with them, or expire. */
const RECORDS: ReadonlySet<string> = new Set([
  "/events",
  "events.k8s.io/events",
  "/endpoints",
  "coordination.k8s.io/leases",
]);
/** Objects that clusters create in every namespace. */
const DEFAULT_OBJECTS: ReadonlySet<string> = new Set([
  "ServiceAccount default",
  "ConfigMap kube-root-ca.crt",
  "ConfigMap openshift-service-ca.crt",
  "ConfigMap istio-ca-root-cert",
]);

export interface Holdings {
  /**
   * Describes what would be deleted with this object; undefined when nothing would, or the object is not a container.
   */
  of(object: Held, signal: AbortSignal): Promise<string | undefined>;
}

/** Whether deleting an object of this kind deletes others. */
export function isContainer({ apiVersion, kind }: { apiVersion: string; kind: string }): boolean {
  const { group } = parseApiVersion(apiVersion);
  return (
    (kind === Namespace.kind && group === Namespace.group) ||
    (kind === CustomResourceDefinition.kind && group === CustomResourceDefinition.group)
  );
}

export function createHoldings({ client, cluster }: { client: Client; cluster: string }): Holdings {
  /** The first object of a kind that would remain unless it is deleted with the container. */
  async function findHeld(
    kind: AnyKind,
    namespace: string | undefined,
    isBeside: (held: Held) => boolean,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    let token: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const list = await client.list(kind, {
        cluster,
        namespace: namespace || undefined,
        limit: PAGE_SIZE,
        continue: token || undefined,
        signal,
      });
      const found = list.items.find((held) => held.metadata.deletionTimestamp === undefined && !isBeside(held));
      if (found)
        return `${kind.kind} ${!namespace && found.metadata.namespace ? `${found.metadata.namespace}/` : ""}${found.metadata.name}`;
      token = list.continue;
      if (!token) return undefined;
    }
    return `more than ${PAGE_SIZE * MAX_PAGES} objects of kind ${kind.kind}`;
  }

  async function look(
    kind: AnyKind,
    namespace: string | undefined,
    isBeside: (held: Held) => boolean,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    try {
      return await findHeld(kind, namespace, isBeside, signal);
    } catch (error) {
      const code = error instanceof ApiError ? error.status.code : 0;
      // The kind was deleted, or cannot be listed after all: it has no objects.
      if (code === 404 || code === 405) return undefined;
      if (code === 403) return `possibly objects of kind ${kind.kind}, which the hub may not list there`;
      throw error;
    }
  }

  async function ask(path: string, signal: AbortSignal): Promise<Json | undefined> {
    const { status, body } = await client.raw(
      { method: "GET", path, cluster, headers: { accept: "application/json" } },
      signal,
    );
    if (status === 200) return readJson(body);
    await readText(body);
    if (status === 404) return undefined;
    throw new FlotillaError("Discovery", `discovery of cluster ${cluster} failed: ${path} returned ${status}`);
  }

  /** Namespaced kinds whose objects are deleted with a namespace; each once, in any version. */
  async function namespacedKinds(signal: AbortSignal): Promise<AnyKind[]> {
    const groups = groupVersionsIn(await ask("/apis", signal)).slice(0, MAX_GROUP_VERSIONS);
    const kinds = new Map<string, AnyKind>();
    await eachOf(["v1", ...groups], async (groupVersion) => {
      const { group, version } = parseApiVersion(groupVersion);
      const answer = await ask(group ? `/apis/${groupVersion}` : `/api/${version}`, signal);
      for (const { name, kind } of deletableIn(answer))
        kinds.set(`${group}/${name}`, dynamicKind({ group, version, kind, plural: name, scope: "Namespaced" }));
      return undefined;
    });
    for (const record of RECORDS) kinds.delete(record);
    return [...kinds.values()];
  }

  async function inNamespace(namespace: string, signal: AbortSignal): Promise<string | undefined> {
    const kinds = await namespacedKinds(signal);
    const isNamespaced = new Set(kinds.map(({ group, kind }) => `${group}/${kind}`));
    // Owned by another object in the same namespace: the owner counts, and this object is deleted with it.
    const isDependent = ({ metadata }: Held): boolean =>
      metadata.ownerReferences?.some((owner) =>
        isNamespaced.has(`${parseApiVersion(owner.apiVersion).group}/${owner.kind}`),
      ) ?? false;
    return eachOf(kinds, (kind) =>
      look(
        kind,
        namespace,
        (held) =>
          isDependent(held) ||
          DEFAULT_OBJECTS.has(`${kind.kind} ${held.metadata.name}`) ||
          (kind.kind === "Secret" && held.metadata.annotations?.[SERVICE_ACCOUNT_NAME_ANNOTATION] !== undefined),
        signal,
      ),
    );
  }

  function ofKind(
    { spec: { group, names, scope, versions } }: DeepReadonly<CustomResourceDefinition>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const served = versions.find((version) => version.served);
    if (!served)
      return Promise.resolve(
        versions.length > 0 ? `possibly objects of kind ${names.kind}, of which it serves no version` : undefined,
      );
    const kind: AnyKind = dynamicKind({
      group,
      version: served.name,
      kind: names.kind,
      plural: names.plural,
      scope: scope === "Cluster" ? "Cluster" : "Namespaced",
    });
    // Objects owned by another object on the member are in use there as well.
    return look(kind, undefined, () => false, signal);
  }

  return {
    async of(object, signal) {
      if (!isContainer(object)) return undefined;
      return object.kind === Namespace.kind
        ? inNamespace(object.metadata.name, signal)
        : ofKind(object as DeepReadonly<CustomResourceDefinition>, signal);
    },
  };
}

/** Checks each item, a few at a time, until one returns a result. */
async function eachOf<T>(
  all: readonly T[],
  question: (each: T) => Promise<string | undefined>,
): Promise<string | undefined> {
  let answer: string | undefined;
  const next = all.values();
  const work = async (): Promise<void> => {
    for (const each of next) {
      const found = await question(each);
      answer ??= found;
      if (answer !== undefined) return;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return answer;
}

function groupVersionsIn(list: Json | undefined): string[] {
  const groups = isObject(list) && Array.isArray(list["groups"]) ? list["groups"] : [];
  return groups.flatMap((group) => {
    const versions = isObject(group) && Array.isArray(group["versions"]) ? group["versions"] : [];
    return versions.flatMap((version) =>
      isObject(version) && typeof version["groupVersion"] === "string" ? [version["groupVersion"]] : [],
    );
  });
}

/** A kind that cannot be deleted, such as metrics, is a view of other data. */
function deletableIn(list: Json | undefined): { name: string; kind: string }[] {
  const rows = isObject(list) && Array.isArray(list["resources"]) ? list["resources"] : [];
  return rows.flatMap((row) => {
    if (!isObject(row) || row["namespaced"] !== true) return [];
    const { name, kind, verbs } = row;
    const isDeletable = Array.isArray(verbs) && verbs.includes("list") && verbs.includes("delete");
    return typeof name === "string" && typeof kind === "string" && !name.includes("/") && isDeletable
      ? [{ name, kind }]
      : [];
  });
}
