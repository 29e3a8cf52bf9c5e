/**
 * Converts between kinds and CustomResourceDefinitions. `customResourceDefinitionOf` is for profiles, which serve our
 * custom kinds as CRDs; `kindOfCustomResourceDefinition` is for CRDs that clients create.
 */
import { InvariantError, copy, type DeepReadonly, type JsonObject, omitZero } from "@flotilla/base";
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
    metadata: { name: `${plural}.${group}`, ...(labels && { labels: { ...labels } }) },
    spec: {
      group,
      names: {
        plural,
        singular,
        ...(kind.shortNames?.length && { shortNames: [...kind.shortNames] }),
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        ...(kind.categories?.length && { categories: [...kind.categories] }),
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
    ...(version.deprecationWarning !== undefined && {
      deprecated: true,
      deprecationWarning: version.deprecationWarning,
    }),
    schema: { openAPIV3Schema: version.schema as JsonObject },
    ...((status || scale) && {
      subresources: { ...(status && { status: {} }), ...(scale && { scale: { ...scale } }) },
    }),
    ...(columns.length > 0 && { additionalPrinterColumns: columns }),
    ...(version.selectableFields && {
      selectableFields: version.selectableFields.map((jsonPath) => ({ jsonPath })),
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
    subresources: { ...(status && { status: true }), ...(scale && { scale: { ...scale } }) },
    builtIn: false,
    hasGeneration: true,
  };
}

function kindVersion({
  schema,
  additionalPrinterColumns = [],
  selectableFields,
  deprecated,
  deprecationWarning,
  name,
  subresources = {},
}: DeepReadonly<CustomResourceDefinitionVersion>): KindVersion {
  const { status, scale } = subresources;
  return {
    subresources: { ...(status && { status: true }), ...(scale && { scale: { ...scale } }) },
    schema: (schema?.openAPIV3Schema ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true }) as Schema,
    columns: copy(additionalPrinterColumns) as Column[],
    ...(selectableFields && { selectableFields: selectableFields.map(({ jsonPath }) => jsonPath) }),
    ...(deprecated && { deprecationWarning: deprecationWarning ?? `version ${name} is deprecated` }),
  };
}
