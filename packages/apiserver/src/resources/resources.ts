/**
 * The resources that a logical cluster serves, in their versions. A `Resource` is created from a `Kind`, which is
 * either code or comes from a CustomResourceDefinition. Every cluster that serves the same kind shares the resource and
 * its compiled schemas.
 */
import { compileSchema, formatApiVersion } from "@flotilla/apimachinery";
import type { Column, CompiledSchema, Kind, KindVersion, ResourceName, Schema, SpecPart } from "@flotilla/apimachinery";
import { invariant, required } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { WebhookClientConfig } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { compileValidations } from "@flotilla/cel";
import type { CompiledValidations } from "@flotilla/cel";

/** The webhook that converts the objects of a CustomResourceDefinition between its versions. */
export interface WebhookConversion {
  readonly clientConfig: DeepReadonly<WebhookClientConfig>;
  readonly reviewVersions: readonly string[];
}

/** A kind in one version. Identity matters: it is the cache key for rendered responses. */
export interface ServedVersion {
  readonly resource: Resource;
  readonly version: string;
  readonly apiVersion: string;
  readonly schema: Schema;
  /** Compiled on first use. */
  readonly compiled: CompiledSchema;
  /** The subresources of the kind, with the status and scale of this version. */
  readonly subresources: Kind["subresources"];
  /** The CEL rules of the schema, compiled on first use. */
  readonly validations: CompiledValidations;
  readonly columns: readonly Column[];
  readonly isStorage: boolean;
  /** The offset of the metadata's content in the bytes of an object stored in this version. */
  readonly metadataAt: number;
  readonly deprecationWarning?: string;
  toStorage?(object: JsonObject): JsonObject;
  fromStorage?(object: JsonObject): JsonObject;
}

export interface Resource {
  readonly kind: Kind;
  readonly name: ResourceName;
  readonly listKind: string;
  readonly singular: string;
  readonly namespaced: boolean;
  /** `/apps/deployments/`: the prefix of every key of the resource, in all clusters. */
  readonly prefix: string;
  /** Served versions, the preferred one first. */
  readonly versions: readonly ServedVersion[];
  readonly storage: ServedVersion;
  /** Paths that field selectors may use besides name and namespace (`spec.color`). */
  readonly selectableFields: readonly string[];
  /** Set when a webhook converts the objects (`codec/conversion.ts`); versions then have no conversion of their own. */
  readonly conversion?: WebhookConversion | undefined;
  /** A version that the CRD does not have and in which earlier releases stored objects. */
  readonly former?: { readonly apiVersion: string; toStorage(object: JsonObject): JsonObject } | undefined;
}

export interface ResourceOptions {
  listKind?: string;
  /** Versions that are known because objects are stored in them, but that are not served. */
  unserved?: ReadonlySet<string>;
  /** The resource that stores the objects of this one, for a kind that is a view of another. */
  storedIn?: Resource;
  former?: Resource["former"];
  conversion?: WebhookConversion | undefined;
}

/** A kind defined in code is the same in every profile, so its schemas are compiled once for all profiles. */
const shared = new WeakMap<Kind, Resource>();

function sharedResource(kind: Kind, options?: ResourceOptions): Resource {
  let resource = shared.get(kind);
  if (!resource) shared.set(kind, (resource = createResource(kind, options)));
  return resource;
}

/** Creates the resources of several kinds. A kind that is a view of another needs that kind in the list. */
export function createResources(kinds: readonly Kind[]): Resource[] {
  const given = new Set(kinds);
  return kinds.map((kind) => {
    if (!kind.storedAs) return sharedResource(kind);
    invariant(
      given.has(kind.storedAs),
      `the kind ${kind.storedAs.kind} must also be served, because ${kind.group} ${kind.kind} is a view of it`,
    );
    return sharedResource(kind, { storedIn: sharedResource(kind.storedAs) });
  });
}

export function createResource(kind: Kind, options: ResourceOptions = {}): Resource {
  const all: ServedVersion[] = [];
  const resource: Resource = {
    kind,
    name: { group: kind.group, resource: kind.plural },
    listKind: options.listKind ?? `${kind.kind}List`,
    singular: kind.singular ?? kind.kind.toLowerCase(),
    namespaced: kind.scope === "Namespaced",
    prefix: options.storedIn?.prefix ?? `/${kind.group || "core"}/${kind.plural}/`,
    get versions() {
      return served;
    },
    get storage() {
      return storage;
    },
    selectableFields: selectableFieldsOf(kind),
    former: options.former,
    conversion: options.conversion,
  };
  for (const [version, declared] of Object.entries(kind.versions)) all.push(createVersion(resource, version, declared));
  const served = all.filter(({ version }) => !options.unserved?.has(version));
  const storage =
    options.storedIn?.storage ??
    required(
      all.find(({ isStorage }) => isStorage),
      `the storage version ${kind.storageVersion} of kind ${kind.kind}`,
    );
  return resource;
}

/** Of all versions: selectors read the stored object. */
const selectableFieldsOf = ({ versions }: Kind): string[] => [
  ...new Set(
    Object.values(versions)
      .flatMap(({ selectableFields = [] }) => selectableFields)
      .map((path) => path.replace(/^\./, "")),
  ),
];

function createVersion(resource: Resource, version: string, declared: KindVersion): ServedVersion {
  const { kind } = resource;
  const apiVersion = formatApiVersion(kind.group, version);
  let compiled: CompiledSchema | undefined;
  let validations: CompiledValidations | undefined;
  return {
    resource,
    version,
    apiVersion,
    // Fact tables load on first use, so neither schema nor columns are read before they are needed.
    get schema() {
      return declared.schema;
    },
    get compiled() {
      return (compiled ??= compileSchema(declared.schema));
    },
    get validations() {
      return (validations ??= compileValidations(declared.schema));
    },
    get columns() {
      return declared.columns;
    },
    subresources: declared.subresources
      ? { ...withoutStatusAndScale(kind.subresources), ...declared.subresources }
      : kind.subresources,
    isStorage: version === kind.storageVersion && kind.storedAs === undefined,
    metadataAt: `{"apiVersion":"${apiVersion}","kind":"${kind.kind}","metadata":{`.length,
    deprecationWarning: declared.deprecationWarning,
    toStorage: declared.toStorage,
    fromStorage: declared.fromStorage,
  };
}

export function isNamespaceKind({ kind }: Resource): boolean {
  return kind.group === "" && kind.kind === "Namespace";
}

/** The part of an object that a subresource writes. The name comes from a path, so only own properties count. */
export function partOf(
  { subresources: { parts } }: ServedVersion,
  subresource: string | undefined,
): SpecPart | undefined {
  return parts && subresource !== undefined && Object.hasOwn(parts, subresource) ? parts[subresource] : undefined;
}

function withoutStatusAndScale(subresources: Kind["subresources"]): Kind["subresources"] {
  const { status: _status, scale: _scale, ...rest } = subresources;
  return rest;
}

/** The key of an object. Cluster-scoped kinds have no namespace segment. */
export function keyOf(resource: Resource, cluster: string, namespace: string | undefined, name: string): string {
  return resource.namespaced
    ? `${resource.prefix}${cluster}/${namespace ?? ""}/${name}`
    : `${resource.prefix}${cluster}/${name}`;
}

/** The key prefix of a list: a namespace, or a whole cluster. */
export function prefixOf(resource: Resource, cluster: string, namespace?: string): string {
  return namespace === undefined || !resource.namespaced
    ? `${resource.prefix}${cluster}/`
    : `${resource.prefix}${cluster}/${namespace}/`;
}

/** The cluster segment of a key: the third. */
export function clusterOfKey(key: string): string {
  const start = key.indexOf("/", key.indexOf("/", 1) + 1) + 1;
  const end = key.indexOf("/", start);
  return key.slice(start, end);
}

/** The resources that one or more clusters serve. Immutable: a new CRD creates a new table. */
export interface ResourceTable {
  readonly resources: readonly Resource[];
  find(group: string, version: string, plural: string): ServedVersion | undefined;
  /** Like `find`, for the server's own controllers, which may also use a storage version that is not served. */
  findStored(group: string, version: string, plural: string): ServedVersion | undefined;
  /** The resource of a group by its plural, in any version. */
  resource(group: string, plural: string): Resource | undefined;
  /** True when the group or group and version is served at all. */
  hasGroup(group: string, version?: string): boolean;
  /** Caches values computed once per table: discovery and OpenAPI documents. */
  readonly memo: Map<string, unknown>;
}

export function createResourceTable(resources: readonly Resource[]): ResourceTable {
  const byVersion = new Map<string, ServedVersion>();
  const unserved = new Map<string, ServedVersion>();
  // By group, then by plural: each write looks up several, and joining the two takes longer than finding it.
  const byName = new Map<string, Map<string, Resource>>();
  const groups = new Set<string>();
  for (const resource of resources) {
    const { group, resource: plural } = resource.name;
    let ofGroup = byName.get(group);
    if (!ofGroup) byName.set(group, (ofGroup = new Map()));
    ofGroup.set(plural, resource);
    for (const served of resource.versions) {
      byVersion.set(`${served.apiVersion}/${resource.name.resource}`, served);
      groups.add(resource.name.group).add(`${resource.name.group}/${served.version}`);
    }
    const { storage } = resource;
    if (!resource.kind.storedAs && !resource.versions.includes(storage))
      unserved.set(`${storage.apiVersion}/${resource.name.resource}`, storage);
  }
  const keyed = (group: string, version: string, plural: string): string =>
    `${group ? `${group}/${version}` : version}/${plural}`;
  return {
    resources,
    find: (group, version, plural) => byVersion.get(keyed(group, version, plural)),
    findStored: (group, version, plural) =>
      byVersion.get(keyed(group, version, plural)) ?? unserved.get(keyed(group, version, plural)),
    resource: (group, plural) => byName.get(group)?.get(plural),
    hasGroup: (group, version) => groups.has(version === undefined ? group : `${group}/${version}`),
    memo: new Map(),
  };
}

/** The value that `compute` returns for this table, computed once. */
export function memoized<T>(table: ResourceTable, key: string, compute: () => T): T {
  const known = table.memo.get(key);
  if (known !== undefined) return known as T;
  const value = compute();
  table.memo.set(key, value);
  return value;
}
