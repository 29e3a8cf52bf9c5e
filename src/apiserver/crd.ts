/**
 * CustomResourceDefinitions and kinds are two forms of one thing. A definition that somebody creates becomes a kind, which is
 * then served like any other; the kinds of a profile that are code show up as definitions.
 */
import type { Column, Kind, KindVersion, KubernetesObject, ScalePaths } from "../api/index.ts";
import { isObject } from "../base/index.ts";
import type { DeepReadonly, Json, JsonObject } from "../base/index.ts";
import type { Schema } from "../machinery/index.ts";
import { createResource } from "./resources.ts";
import type { Resource } from "./resources.ts";

export const CRD_GROUP = "apiextensions.k8s.io";
export const CRD_PLURAL = "customresourcedefinitions";
/** Holds a deleted definition until its objects are gone. */
export const CRD_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

export interface DefinitionNames {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

export interface DefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: { status?: JsonObject; scale?: ScalePaths };
  additionalPrinterColumns?: { name: string; type: string; format?: string; description?: string; priority?: number; jsonPath: string }[];
  selectableFields?: { jsonPath: string }[];
}

export interface Definition extends KubernetesObject {
  spec: {
    group: string;
    scope: "Namespaced" | "Cluster";
    names: DefinitionNames;
    versions: DefinitionVersion[];
    conversion?: { strategy?: string; webhook?: Json };
    preserveUnknownFields?: boolean;
  };
  status?: { conditions?: DefinitionCondition[]; acceptedNames?: DefinitionNames; storedVersions?: string[] };
}

export interface DefinitionCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export function isDefinition(resource: Resource): boolean {
  return resource.kind.kind === "CustomResourceDefinition" && resource.kind.group === CRD_GROUP;
}

export function conditionOf(definition: DeepReadonly<Definition>, type: string): DeepReadonly<DefinitionCondition> | undefined {
  return definition.status?.conditions?.find((condition) => condition.type === type);
}

/** A kind of ours as the definition that would make it. */
export function definitionOf(kind: Kind): Definition {
  const { group, plural, scope, storageVersion } = kind;
  const names: DefinitionNames = {
    plural,
    singular: kind.singular ?? kind.kind.toLowerCase(),
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    ...(kind.shortNames?.length && { shortNames: [...kind.shortNames] }),
    ...(kind.categories?.length && { categories: [...kind.categories] }),
  };
  const versions = Object.entries(kind.versions).map(([name, version]) => definitionVersion(name, version, kind));
  return {
    apiVersion: `${CRD_GROUP}/v1`,
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names, versions, conversion: { strategy: "None" } },
    status: { acceptedNames: names, storedVersions: [storageVersion], conditions: [ACCEPTED, ESTABLISHED] },
  };
}

export const ACCEPTED: DefinitionCondition = { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" };
export const ESTABLISHED: DefinitionCondition = {
  type: "Established",
  status: "True",
  reason: "InitialNamesAccepted",
  message: "the initial names have been accepted",
};

function definitionVersion(name: string, version: KindVersion, { storageVersion, subresources }: Kind): DefinitionVersion {
  // Columns that code computes have no path and cannot be stated here.
  const columns = version.columns.filter((column): column is Column & { jsonPath: string } => column.jsonPath !== undefined);
  return {
    name,
    served: true,
    storage: name === storageVersion,
    ...(version.deprecationWarning !== undefined && { deprecated: true, deprecationWarning: version.deprecationWarning }),
    schema: { openAPIV3Schema: rootSchema(version.schema) },
    ...((subresources.status || subresources.scale) && {
      subresources: { ...(subresources.status && { status: {} }), ...(subresources.scale && { scale: { ...subresources.scale } }) },
    }),
    ...(columns.length > 0 && {
      additionalPrinterColumns: columns.map(({ name, type, format, description, priority, jsonPath }) => ({
        name,
        type,
        ...(format !== undefined && { format }),
        ...(description !== undefined && { description }),
        ...(priority && { priority }),
        jsonPath,
      })),
    }),
  };
}

/** The schema of a kind without what is implied for every object. */
function rootSchema(schema: Schema): Schema {
  const { apiVersion, kind, metadata: _, ...properties } = schema.properties ?? {};
  return unrolled({ ...schema, properties: { apiVersion: apiVersion ?? { type: "string" }, kind: kind ?? { type: "string" }, metadata: { type: "object" }, ...properties } }, []);
}

/** A definition is a tree: where a type contains itself, the inner one is left open. */
function unrolled(schema: Schema, above: readonly Schema[]): Schema {
  if (above.includes(schema)) return { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const path = [...above, schema];
  return {
    ...schema,
    ...(schema.properties && { properties: Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, unrolled(property, path)])) }),
    ...(schema.items && { items: unrolled(schema.items, path) }),
    ...(isObject(schema.additionalProperties) && { additionalProperties: unrolled(schema.additionalProperties, path) }),
  };
}

/**
 * What a definition serves. `known` is our own declaration of the kind, if we have one: its conversion between versions is
 * used in place of the webhook that the definition names.
 */
export function resourceOfDefinition(definition: DeepReadonly<Definition>, known: Kind | undefined): Resource {
  const { group, scope, names, versions } = definition.spec;
  const storage = versions.find((version) => version.storage);
  const declared: Record<string, KindVersion> = {};
  for (const version of byPriority(versions)) {
    const ours = known?.versions[version.name];
    const convertible = known?.storageVersion === storage?.name;
    declared[version.name] = {
      schema: (version.schema?.openAPIV3Schema ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true }) as Schema,
      columns: columnsOf(version),
      ...(version.deprecated && {
        deprecationWarning: version.deprecationWarning ?? `${group}/${version.name} ${names.kind} is deprecated`,
      }),
      ...(convertible && ours?.toStorage && { toStorage: ours.toStorage }),
      ...(convertible && ours?.fromStorage && { fromStorage: ours.fromStorage }),
    };
  }
  const first = versions.find((version) => version.subresources);
  const kind: Kind = {
    group,
    kind: names.kind,
    plural: names.plural,
    ...(names.singular && { singular: names.singular }),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    scope,
    storageVersion: storage?.name ?? versions[0]?.name ?? "",
    versions: declared,
    subresources: {
      ...(first?.subresources?.status && { status: true as const }),
      ...(first?.subresources?.scale && { scale: first.subresources.scale as ScalePaths }),
      ...(known?.subresources.connect && { connect: known.subresources.connect }),
    },
    builtIn: false,
    hasGeneration: true,
  };
  return createResource(kind, {
    ...(names.listKind && { listKind: names.listKind }),
    unserved: new Set(versions.filter(({ served }) => !served).map(({ name }) => name)),
    selectableFields: [...new Set(versions.flatMap((version) => version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, "")))],
  });
}

const AGE: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

function columnsOf({ additionalPrinterColumns }: DeepReadonly<DefinitionVersion>): Column[] {
  const columns = (additionalPrinterColumns ?? []) as DeepReadonly<Column>[];
  return columns.length > 0 ? columns.map((column) => ({ ...column })) : [AGE];
}

/** The order in which versions are preferred: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name. */
export function compareVersions(a: string, b: string): number {
  const left = parseVersion(a);
  const right = parseVersion(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  for (const [index, rank] of left.entries()) if (rank !== right[index]) return (right[index] ?? 0) - rank;
  return 0;
}

function parseVersion(version: string): [number, number, number] | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!match) return undefined;
  const stability = match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}

function byPriority<T extends { readonly name: string }>(versions: readonly T[]): T[] {
  return versions.toSorted((a, b) => compareVersions(a.name, b.name));
}
