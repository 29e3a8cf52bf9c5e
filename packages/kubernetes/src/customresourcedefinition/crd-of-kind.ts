/**
 * Converts between kinds and CustomResourceDefinitions. `customResourceDefinitionOf` is for profiles, which serve our
 * custom kinds as CRDs; `kindOfCustomResourceDefinition` is for CRDs that clients create.
 */
import { InvariantError, copy, type DeepReadonly, type JsonObject, omitZero, defined, omitEmpty } from "@flotilla/base";
import type { Column, Kind, KindVersion, KubernetesObject, Schema } from "@flotilla/apimachinery";
import type { CustomResourceDefinition } from "./customresourcedefinition-kind.ts";
import type { CustomResourceDefinitionVersion } from "@flotilla/apimachinery/facts/apiextensions-v1.ts";

/**
 * The CRD of a custom kind, without status. Computed columns have no path and are omitted. The schemas are shared with
 * the kind: read-only.
 */
export function customResourceDefinitionOf(kind: Kind): CustomResourceDefinition {
  if (kind.builtIn) throw new InvariantError(`${kind.kind} is built in and has no CustomResourceDefinition`);
  const { group, plural, scope, storageVersion, singular = kind.kind.toLowerCase(), definitionLabels: labels } = kind;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, ...defined({ labels: labels && { ...labels } }) },
    spec: {
      group,
      names: {
        plural,
        singular,
        ...omitEmpty({ shortNames: kind.shortNames && [...kind.shortNames] }),
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        ...omitEmpty({ categories: kind.categories && [...kind.categories] }),
      },
      scope,
      versions: Object.entries(kind.versions).map(([name, version]) =>
        definitionVersion(kind, name, version, name === storageVersion),
      ),
      // Versions of our kinds are converted in process, so no webhook is set.
      conversion: { strategy: "None" },
    },
  };
}

function definitionVersion(
  { subresources }: Kind,
  name: string,
  version: KindVersion,
  storage: boolean,
): CustomResourceDefinitionVersion {
  const { status, scale } = subresources;
  const columns = version.columns.flatMap(({ value: _computed, jsonPath, ...column }) =>
    jsonPath === undefined ? [] : [{ ...column, jsonPath }],
  );
  return {
    name,
    served: true,
    storage,
    ...defined({
      deprecated: version.deprecationWarning === undefined ? undefined : true,
      deprecationWarning: version.deprecationWarning,
    }),
    schema: { openAPIV3Schema: version.schema as JsonObject },
    ...defined({
      subresources: status || scale ? defined({ status: status && {}, scale: scale && { ...scale } }) : undefined,
      additionalPrinterColumns: columns.length > 0 ? columns : undefined,
      selectableFields: version.selectableFields?.map((jsonPath) => ({ jsonPath })),
    }),
  };
}

/** The kind that a CRD declares. Conversion between its versions changes only `apiVersion`. */
export function kindOfCustomResourceDefinition(
  definition: DeepReadonly<CustomResourceDefinition>,
): Kind<KubernetesObject & JsonObject> {
  const { group, names, scope, versions } = definition.spec;
  const storage = versions.find((version) => version.storage);
  const served = versions.filter((version) => version.served);
  const { status, scale } = (storage ?? versions[0])?.subresources ?? {};
  return {
    group,
    kind: names.kind,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    ...omitZero({ shortNames: names.shortNames, categories: names.categories }),
    scope: scope === "Cluster" ? "Cluster" : "Namespaced",
    storageVersion: storage?.name ?? "",
    versions: Object.fromEntries(served.map((version) => [version.name, kindVersion(version)])),
    subresources: defined({ status: status && (true as const), scale: scale && { ...scale } }),
    builtIn: false,
    hasGeneration: true,
  };
}

function kindVersion(given: DeepReadonly<CustomResourceDefinitionVersion>): KindVersion {
  const {
    schema,
    additionalPrinterColumns = [],
    selectableFields,
    deprecated,
    deprecationWarning,
    name,
    subresources = {},
  } = given;
  const { status, scale } = subresources;
  return {
    subresources: defined({ status: status && (true as const), scale: scale && { ...scale } }),
    schema: (schema?.openAPIV3Schema ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true }) as Schema,
    columns: copy(additionalPrinterColumns) as Column[],
    ...defined({
      selectableFields: selectableFields?.map(({ jsonPath }) => jsonPath),
      deprecationWarning: deprecated ? (deprecationWarning ?? `version ${name} is deprecated`) : undefined,
    }),
  };
}
