/**
 * Discovery: the resources that a cluster serves, in both formats. Documents are created once per resource table and
 * kept as bytes; clusters that serve the same resources share them.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "@flotilla/base";
import { PROTOBUF } from "../codec/protobuf.ts";
import { encodeDiscovery } from "./protobuf.ts";
import { negotiate } from "../request/negotiate.ts";
import { PageNotFound } from "../request/page-not-found.ts";
import { pathNotFound } from "@flotilla/apimachinery";
import { localPriority } from "@flotilla/kubernetes";
import { connectShapes } from "../resources/connect-shapes.ts";
import { compareVersions } from "../resources/definition.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import { isNamespaceKind, memoized } from "../resources/resources.ts";
import type { Resource, ResourceTable, ServedVersion } from "../resources/resources.ts";
import { encode, jsonResponse, PRIVATE } from "../request/respond.ts";
import type { Route } from "../request/router.ts";

const AGGREGATED = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** A version that another server answers for, as discovery shows it. */
export interface ForeignVersion {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Its resources in the form of aggregated discovery. */
  readonly resources: readonly object[];
  readonly isCurrent: boolean;
}

export function discoveryResponse(
  table: ResourceTable,
  foreign: readonly ForeignVersion[],
  route: Extract<Route, { type: "discovery" }>,
  headers: ApiRequest["headers"],
): ApiResponse {
  const isRoot = route.group === undefined;
  const { as, format } = negotiate(
    headers.accept,
    (form, asked) =>
      form === undefined ||
      (isRoot &&
        asked !== "yaml" &&
        form.kind === "APIGroupDiscoveryList" &&
        form.group === "apidiscovery.k8s.io" &&
        form.version === "v2"),
  );
  const isProtobuf = format === "protobuf";
  if (as) return aggregatedResponse({ table, foreign, legacy: route.legacy, isProtobuf }, headers["if-none-match"]);
  const document = legacyDocument(table, foreign, route);
  if (!isProtobuf) return jsonResponse(200, document, { vary: "Accept" });
  return {
    status: 200,
    headers: { "content-type": PROTOBUF, "cache-control": PRIVATE, vary: "Accept" },
    body: encodeDiscovery(document as JsonObject),
  };
}

interface HashedDocument {
  readonly body: Uint8Array;
  readonly etag: string;
}

interface AggregatedRequest {
  readonly table: ResourceTable;
  readonly foreign: readonly ForeignVersion[];
  readonly legacy: boolean;
  readonly isProtobuf: boolean;
}

/** Documents with what other servers serve, in both formats, until one of them changes. */
const merged = new WeakMap<
  readonly ForeignVersion[],
  { table: ResourceTable; documents: Map<boolean, HashedDocument> }
>();

function aggregatedDocument({ table, foreign, legacy, isProtobuf }: AggregatedRequest): HashedDocument {
  const make = (items: object[]): HashedDocument => {
    const list = { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
    const body = isProtobuf ? encodeDiscovery(list as unknown as JsonObject) : encode(JSON.stringify(list));
    return { body, etag: `"${createHash("sha512").update(body).digest("hex").toUpperCase()}"` };
  };
  if (legacy || foreign.length === 0)
    return memoized(table, `aggregated ${legacy} ${isProtobuf}`, () =>
      make(
        groupsOf(table)
          .filter((group) => (group === "") === legacy)
          .map((group) => aggregatedGroup(table, group)),
      ),
    );
  let known = merged.get(foreign);
  if (known?.table !== table) merged.set(foreign, (known = { table, documents: new Map() }));
  let document = known.documents.get(isProtobuf);
  if (!document) {
    document = make(
      mergedGroups(table, foreign).map(({ name, versions }) => ({
        metadata: { name },
        versions: versions.map(({ version, foreign: other }) =>
          other
            ? { version, resources: other.resources, freshness: other.isCurrent ? "Current" : "Stale" }
            : aggregatedVersion(table, name, version),
        ),
      })),
    );
    known.documents.set(isProtobuf, document);
  }
  return document;
}

function aggregatedResponse(request: AggregatedRequest, known: string | undefined): ApiResponse {
  const { body, etag } = aggregatedDocument(request);
  const headers = {
    "content-type": (request.isProtobuf ? PROTOBUF : "application/json") + AGGREGATED,
    "cache-control": "public",
    etag,
    vary: "Accept",
  };
  return known === etag ? { status: 304, headers, body: new Uint8Array() } : { status: 200, headers, body };
}

interface MergedVersion {
  readonly version: string;
  readonly priority: number;
  /** Set when another server answers for it. */
  readonly foreign?: ForeignVersion;
}

/** The groups of a cluster in order of priority, with those of other servers. Pure. */
function mergedGroups(
  table: ResourceTable,
  foreign: readonly ForeignVersion[],
): { name: string; versions: readonly MergedVersion[] }[] {
  const groups = new Map<string, { priority: number; versions: Map<string, MergedVersion> }>();
  const add = (name: string, priority: number, version: MergedVersion): void => {
    const group = groups.get(name) ?? { priority: 0, versions: new Map<string, MergedVersion>() };
    group.priority = Math.max(group.priority, priority);
    group.versions.set(version.version, version);
    groups.set(name, group);
  };
  for (const name of groupsOf(table)) {
    if (name === "") continue;
    for (const version of versionsOf(table, name)) {
      const priority = localPriority(name, version);
      add(name, priority.group, { version, priority: priority.version });
    }
  }
  for (const each of foreign)
    add(each.group, each.groupPriority, { version: each.version, priority: each.versionPriority, foreign: each });
  return [...groups]
    .sort(([a, left], [b, right]) => right.priority - left.priority || rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
    .map(([name, { versions }]) => ({
      name,
      versions: [...versions.values()].sort((a, b) => b.priority - a.priority || compareVersions(a.version, b.version)),
    }));
}

function legacyDocument(
  table: ResourceTable,
  foreign: readonly ForeignVersion[],
  { legacy, group, version }: Extract<Route, { type: "discovery" }>,
): unknown {
  if (group === undefined) {
    if (legacy) return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
    if (foreign.length > 0)
      return {
        kind: "APIGroupList",
        apiVersion: "v1",
        groups: mergedGroups(table, foreign).map(({ name, versions }) => groupOf(name, versions.map(versionName))),
      };
    return memoized(table, "groups", () => ({
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: groupsOf(table)
        .filter(Boolean)
        .map((name) => groupDocument(table, name)),
    }));
  }
  if (version === undefined && foreign.some((each) => each.group === group)) {
    const found = mergedGroups(table, foreign).find(({ name }) => name === group);
    return { kind: "APIGroup", apiVersion: "v1", ...groupOf(group, (found?.versions ?? []).map(versionName)) };
  }
  if (!table.hasGroup(group, version))
    throw table.hasGroup(group) ? pathNotFound() : legacy ? pathNotFound() : new PageNotFound();
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupDocument(table, group) };
  return memoized(table, `resources ${group}/${version}`, () => ({
    kind: "APIResourceList",
    apiVersion: group ? "v1" : undefined,
    groupVersion: group ? `${group}/${version}` : version,
    resources: servedIn(table, group, version).flatMap(resourceRows),
  }));
}

const versionName = ({ version }: MergedVersion): string => version;

function groupDocument(table: ResourceTable, name: string): object {
  return groupOf(name, versionsOf(table, name));
}

function groupOf(name: string, names: readonly string[]): object {
  const versions = names.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

/** Kubernetes' groups come in a fixed order; the others follow by name. */
const GROUP_ORDER = (
  "apiregistration.k8s.io apps events.k8s.io authentication.k8s.io authorization.k8s.io autoscaling " +
  "batch certificates.k8s.io networking.k8s.io policy rbac.authorization.k8s.io storage.k8s.io " +
  "admissionregistration.k8s.io apiextensions.k8s.io scheduling.k8s.io coordination.k8s.io node.k8s.io " +
  "discovery.k8s.io resource.k8s.io flowcontrol.apiserver.k8s.io"
).split(" ");

const rankOf = (group: string): number =>
  group === "" ? -1 : GROUP_ORDER.includes(group) ? GROUP_ORDER.indexOf(group) : GROUP_ORDER.length;

export function groupsOf(table: ResourceTable): string[] {
  const groups = new Set(table.resources.filter(({ versions }) => versions.length > 0).map(({ name }) => name.group));
  return [...groups].sort((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
}

export function versionsOf(table: ResourceTable, group: string): string[] {
  const versions = new Set(
    table.resources
      .filter(({ name }) => name.group === group)
      .flatMap((resource) => resource.versions.map(({ version }) => version)),
  );
  return [...versions].sort(compareVersions);
}

export function servedIn(table: ResourceTable, group: string, version: string): ServedVersion[] {
  return table.resources
    .filter(({ name }) => name.group === group)
    .flatMap(({ versions }) => versions.filter((served) => served.version === version))
    .sort((a, b) => (a.resource.name.resource < b.resource.name.resource ? -1 : 1));
}

const BUILT_IN_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const CUSTOM_VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const SUBRESOURCE_VERBS = ["get", "patch", "update"];

/** The verbs of a resource. */
export function verbsOf(resource: Resource): readonly string[] {
  const { builtIn, verbs } = resource.kind;
  if (verbs) return [...verbs].sort();
  if (!builtIn) return CUSTOM_VERBS;
  return isNamespaceKind(resource) ? BUILT_IN_VERBS.filter((verb) => verb !== "deletecollection") : BUILT_IN_VERBS;
}

export interface Subresource {
  name: string;
  verbs: readonly string[];
  /** Set when the subresource uses another kind than its parent; empty group and version mean those of the parent. */
  kind?: { group: string; version: string; kind: string };
}

/** The subresources of a resource, by name; custom resources list the status first. */
export function subresourcesOf(
  resource: Resource,
  { status, scale, connect, actions, parts }: ServedVersion["subresources"] = resource.kind.subresources,
): Subresource[] {
  const rows: Subresource[] = [];
  if (status) rows.push({ name: "status", verbs: SUBRESOURCE_VERBS });
  if (scale)
    rows.push({
      name: "scale",
      verbs: SUBRESOURCE_VERBS,
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
    });
  if (!resource.kind.builtIn)
    return [
      ...rows,
      ...Object.keys(connect ?? {})
        .sort()
        .map((name) => ({ name, verbs: ["create", "get"] })),
    ];
  if (isNamespaceKind(resource)) rows.push({ name: "finalize", verbs: ["update"] });
  for (const name in parts) rows.push({ name, verbs: SUBRESOURCE_VERBS });
  for (const [name, kind] of Object.entries(actions ?? {}))
    rows.push({
      name,
      verbs: ["create"],
      kind: kind.group === resource.name.group ? { group: "", version: "", kind: kind.kind } : kind,
    });
  for (const [name, { kind, verbs }] of Object.entries(connectShapes(resource)))
    rows.push({ name, verbs, kind: { group: "", version: "", kind } });
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function resourceRows({ resource, subresources: declared }: ServedVersion): object[] {
  const { kind, name, singular, namespaced } = resource;
  const row = {
    name: name.resource,
    singularName: singular,
    namespaced,
    kind: kind.kind,
    verbs: verbsOf(resource),
    shortNames: kind.shortNames?.length ? kind.shortNames : undefined,
    categories: kind.categories?.length ? kind.categories : undefined,
    storageVersionHash: isStored(resource) ? storageVersionHash(resource) : undefined,
  };
  const subresources = subresourcesOf(resource, declared).map(({ name: sub, verbs, kind: other }) => ({
    name: `${name.resource}/${sub}`,
    singularName: "",
    namespaced,
    group: other?.version ? other.group : undefined,
    version: other?.version || undefined,
    kind: other?.kind ?? kind.kind,
    verbs,
  }));
  return [row, ...subresources];
}

/** Reviews are answered and not stored. */
const isStored = ({ kind }: Resource): boolean => !kind.verbs || kind.verbs.includes("update");

function storageVersionHash({ kind, storage }: Resource): string {
  const { group, kind: name } = kind.storedAs ?? kind;
  return createHash("sha256").update(`${group}/${storage.version}/${name}`).digest().subarray(0, 8).toString("base64");
}

function aggregatedGroup(table: ResourceTable, group: string): object {
  return {
    metadata: group ? { name: group } : {},
    versions: versionsOf(table, group).map((version) => aggregatedVersion(table, group, version)),
  };
}

const aggregatedVersion = (table: ResourceTable, group: string, version: string): object => ({
  version,
  resources: servedIn(table, group, version).map(aggregatedResource),
  freshness: "Current",
});

function aggregatedResource({ resource, version, subresources: declared }: ServedVersion): object {
  const { kind, name, singular, namespaced } = resource;
  // kube-apiserver omits group and version of built-in kinds, and clients fill them in from the context.
  const responseKind = kind.builtIn
    ? { group: "", version: "", kind: kind.kind }
    : { group: kind.group, version, kind: kind.kind };
  const subresources = subresourcesOf(resource, declared).map(({ name: subresource, verbs, kind: other }) => ({
    subresource,
    responseKind: other ?? responseKind,
    verbs,
  }));
  return {
    resource: name.resource,
    responseKind,
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs: verbsOf(resource),
    shortNames: kind.shortNames?.length ? kind.shortNames : undefined,
    categories: kind.categories?.length ? kind.categories : undefined,
    subresources: subresources.length > 0 ? subresources : undefined,
  };
}
