/**
 * A profile is the initial content of a logical cluster: kinds and bootstrap objects. Its objects are a shared
 * read-only layer below the cluster's own writes. Nothing of it is stored per cluster: uids and timestamps derive from
 * the cluster, so a thousand members share one copy of OpenKruise's CRDs.
 */
import { hash } from "node:crypto";
import { APIService, asNewNamespace, localApiService } from "@flotilla/kubernetes";
import { gvkOf, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Namespace } from "@flotilla/kubernetes";
import { copy, formatUuid, invariant, defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { CachedEntry } from "../store/cache.ts";
import { localStatus, servedVersions } from "./local-services.ts";
import { definitionOf } from "../resources/definition.ts";
import type { LayerViewer } from "./layer.ts";
import { createResourceTable, createResources, isNamespaceKind } from "../resources/resources.ts";
import { encodeObject, ordered, viewOfWritten } from "../codec/render.ts";
import type { Resource, ResourceTable, ServedVersion } from "../resources/resources.ts";

export interface Profile {
  /** Built-in Kubernetes kinds. */
  builtIns: readonly Kind[];
  /** Kinds that are served as CustomResourceDefinitions and listed as such. */
  customs: readonly Kind[];
  /** Bootstrap objects: namespaces, roles. */
  objects: readonly KubernetesObject[];
  /** Bootstrap objects with fields that differ between clusters. They are computed when they are read. */
  clusterObjects?: readonly ClusterObject[];
  /** Pods in this profile are templates for other clusters: they get no service account and no token of this one. */
  podsAreTemplates?: true;
  /** The cluster is left to other controllers: kinds of its CRDs are theirs, also where we know a kind of the name. */
  hasForeignKinds?: true;
}

export interface ClusterObject {
  object: KubernetesObject;
  /** The fields of a cluster, which replace those of the object. */
  fieldsOf(cluster: LayerViewer): JsonObject;
}

export interface ProfileLayer {
  readonly name: string;
  /** The resources that a cluster of this profile serves until it has CRDs of its own. */
  readonly table: ResourceTable;
  readonly podsAreTemplates: boolean;
  readonly hasForeignKinds: boolean;
  /** True when bootstrap objects of a resource (given by its key prefix) exist, optionally in a namespace. */
  has(prefix: string, namespace?: string): boolean;
  get(prefix: string, relativeKey: string, viewer: LayerViewer): CachedEntry | undefined;
  /** In key order. `within` is the prefix of the key part after the cluster. */
  list(prefix: string, within: string, viewer: LayerViewer): readonly CachedEntry[];
  /** The keys of such a list without prefix and cluster, for readers that need no entries. */
  relativeKeys(prefix: string, within: string): readonly string[];
}

interface LayerObject {
  served: ServedVersion;
  /** The key without prefix and cluster: `<namespace>/<name>` or `<name>`. */
  relativeKey: string;
  /** Created on first use: a CRD carries its whole schema. */
  object(): JsonObject;
  /** Fields that differ between clusters. */
  fieldsOf?: ((viewer: LayerViewer) => JsonObject) | undefined;
  /** The bootstrap objects that own this one: their uids also derive from the cluster. */
  owners: readonly LayerOwner[];
}

interface LayerOwner {
  reference: JsonObject;
  prefix: string;
  relativeKey: string;
}

export function createProfileLayer(name: string, profile: Profile): ProfileLayer {
  const resources = createResources([...profile.builtIns, ...profile.customs]);
  const table = createResourceTable(resources);
  const layer = new Map<string, Map<string, LayerObject>>();
  /** Key prefix and namespace of namespaced objects. */
  const namespaces = new Set<string>();
  const add = (
    resource: Resource,
    relativeKey: string,
    object: () => JsonObject,
    owners: readonly LayerOwner[] = [],
    fieldsOf?: LayerObject["fieldsOf"],
  ): void => {
    let objects = layer.get(resource.prefix);
    if (!objects) layer.set(resource.prefix, (objects = new Map()));
    let made: JsonObject | undefined;
    objects.set(relativeKey, {
      served: resource.storage,
      relativeKey,
      object: () => (made ??= object()),
      owners,
      fieldsOf,
    });
  };

  const byKind = new Map(resources.map((resource) => [`${resource.kind.group}/${resource.kind.kind}`, resource]));
  const resourceOf = ({ group, kind }: { group: string; kind: string }): Resource | undefined =>
    byKind.get(`${group}/${kind}`);
  const ownersOf = ({ metadata: { namespace, name: owned, ownerReferences = [] } }: KubernetesObject): LayerOwner[] =>
    ownerReferences.map((reference) => {
      const owner = resourceOf({ group: parseApiVersion(reference.apiVersion).group, kind: reference.kind });
      invariant(
        owner,
        `the owner ${reference.kind} ${reference.name} of the bootstrap object ${owned} of profile ${name} must be of a kind that the profile serves`,
      );
      return {
        reference: reference as unknown as JsonObject,
        prefix: owner.prefix,
        relativeKey: owner.namespaced ? `${namespace ?? ""}/${reference.name}` : reference.name,
      };
    });

  const objects: readonly { object: KubernetesObject; fieldsOf?: ClusterObject["fieldsOf"] }[] = [
    ...profile.objects.map((object) => ({ object })),
    ...(profile.clusterObjects ?? []),
  ];
  for (const { object, fieldsOf } of objects) {
    const { group, version, kind } = gvkOf(object);
    const resource = resourceOf({ group, kind });
    invariant(
      resource && resource.storage.version === version,
      `the bootstrap object ${object.apiVersion} ${kind} ${object.metadata.name} of profile ${name} must be of ` +
        "a kind that the profile serves, in its storage version",
    );
    const { namespace, name: objectName } = object.metadata;
    if (resource.namespaced) namespaces.add(`${resource.prefix}${namespace ?? ""}`);
    add(
      resource,
      resource.namespaced ? `${namespace ?? ""}/${objectName}` : objectName,
      () => completeOnce(resource, object, () => object),
      ownersOf(object),
      fieldsOf,
    );
  }
  const services = table.resource(APIService.group, APIService.plural);
  if (services)
    for (const [serviceName, { group, version, isBuiltIn }] of servedVersions(table))
      add(
        services,
        serviceName,
        () => complete(services, localApiService(group, version, isBuiltIn)),
        [],
        ({ createdAt }) => ({ status: localStatus(createdAt) }),
      );
  const definitions = table.resource("apiextensions.k8s.io", "customresourcedefinitions");
  if (definitions) {
    for (const kind of profile.customs)
      add(definitions, `${kind.plural}.${kind.group}`, () => completeOnce(definitions, kind, () => definitionOf(kind)));
  }
  const sorted = new Map<string, LayerObject[]>();
  for (const [prefix, objects] of layer)
    sorted.set(
      prefix,
      [...objects.values()].toSorted((a, b) => Buffer.compare(Buffer.from(a.relativeKey), Buffer.from(b.relativeKey))),
    );

  const seen = new WeakMap<LayerViewer, Map<LayerObject, CachedEntry>>();
  // When a cluster appears, a dozen watches list the same objects. They share them; between such times nothing is held.
  const listed = new WeakMap<LayerViewer, Map<string, WeakRef<readonly CachedEntry[]>>>();
  const all = (prefix: string, objects: readonly LayerObject[], viewer: LayerViewer): readonly CachedEntry[] => {
    let lists = listed.get(viewer);
    if (!lists) listed.set(viewer, (lists = new Map()));
    let entries = lists.get(prefix)?.deref();
    if (!entries) {
      entries = objects.map((object) => layerEntry(object, prefix, viewer));
      lists.set(prefix, new WeakRef(entries));
    }
    return entries;
  };

  return {
    name,
    table,
    podsAreTemplates: profile.podsAreTemplates ?? false,
    hasForeignKinds: profile.hasForeignKinds === true,
    has: (prefix, namespace) => (namespace === undefined ? layer.has(prefix) : namespaces.has(`${prefix}${namespace}`)),
    get(prefix, relativeKey, viewer) {
      const found = layer.get(prefix)?.get(relativeKey);
      if (!found) return undefined;
      // Every create in a namespace looks the namespace up, so the result is cached with the cluster.
      let entries = seen.get(viewer);
      if (!entries) seen.set(viewer, (entries = new Map()));
      let entry = entries.get(found);
      if (!entry) entries.set(found, (entry = layerEntry(found, prefix, viewer)));
      return entry;
    },
    list(prefix, within, viewer) {
      const objects = sorted.get(prefix) ?? [];
      const entries = all(prefix, objects, viewer);
      return within === "" ? entries : entries.filter((_, index) => objects[index]?.relativeKey.startsWith(within));
    },
    relativeKeys(prefix, within) {
      const keys = (sorted.get(prefix) ?? []).map(({ relativeKey }) => relativeKey);
      return within === "" ? keys : keys.filter((key) => key.startsWith(within));
    },
  };
}

/** What was completed for another profile: most profiles have the same roles and CRDs. */
const completed = new WeakMap<object, { kind: Kind; object: JsonObject }>();

/** `given` identifies the object: a bootstrap object itself, or the kind that a CRD is made of. */
function completeOnce(resource: Resource, given: object, object: () => KubernetesObject): JsonObject {
  const known = completed.get(given);
  if (known?.kind === resource.kind) return known.object;
  const made = complete(resource, object());
  completed.set(given, { kind: resource.kind, object: made });
  return made;
}

/** Applies defaults and the fields that creating the object would have set; uid and timestamps come from the viewer. */
function complete(resource: Resource, object: KubernetesObject): JsonObject {
  // Copied, because the following code modifies it in place, and the caller owns the bootstrap objects.
  const admitted = resource.storage.compiled.admit(copy(object as unknown as JsonObject));
  const result = isNamespaceKind(resource)
    ? (asNewNamespace(admitted as unknown as Namespace) as unknown as JsonObject)
    : admitted;
  const metadata = result.metadata as JsonObject;
  if (resource.kind.hasGeneration) metadata.generation ??= 1;
  return ordered(result);
}

/** An entry that is not stored. It shares everything but its metadata with all other clusters of the profile. */
function layerEntry(
  { served, relativeKey, object, owners, fieldsOf }: LayerObject,
  prefix: string,
  viewer: LayerViewer,
): CachedEntry {
  const keyOf = (place: string, relative: string): string => `${place}${viewer.name}/${relative}`;
  const key = keyOf(prefix, relativeKey);
  const shared = object();
  const ownerReferences = owners.map((owner): JsonObject => ({
    ...owner.reference,
    uid: derivedUid(keyOf(owner.prefix, owner.relativeKey), viewer),
  }));
  const metadata: JsonObject = {
    ...(shared.metadata as JsonObject),
    uid: derivedUid(key, viewer),
    creationTimestamp: viewer.createdAt,
    ...defined({ ownerReferences: owners.length > 0 ? ownerReferences : undefined }),
  };
  const own: JsonObject = { ...shared, metadata, ...fieldsOf?.(viewer) };
  return {
    key,
    revision: viewer.revision,
    get value() {
      const { resourceVersion: _, ...stored } = metadata;
      return encodeObject({ ...own, metadata: stored });
    },
    memo: viewOfWritten(served, own, false).view,
  };
}

/** Stable for the same object of the same cluster, also after a restart; different when the cluster is recreated. */
function derivedUid(key: string, { createdAt, revision }: LayerViewer): string {
  return formatUuid(hash("sha256", `${key}\n${createdAt}\n${revision}`, "buffer"));
}
