/** CustomResourceDefinition: a kind that is declared at run time. The API server checks whether its names are free. */
import type { DeepReadonly } from "@flotilla/base";
import { isCheckedFormat, schemasWithin, type Schema } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { column, nameColumn } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type {
  CustomResourceDefinition as CustomResourceDefinitionFacts,
  CustomResourceDefinitionStatus,
} from "@flotilla/apimachinery/facts/apiextensions-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { canonicalSchemas } from "./canonical-schema.ts";
import { validateDefinition, validateDefinitionStatus } from "./definition-rules.ts";
import type { ConvertsItself } from "./definition-rules.ts";

export type CustomResourceDefinition = CustomResourceDefinitionFacts;
type Definition = DeepReadonly<CustomResourceDefinition>;

export const CustomResourceDefinition: Kind<CustomResourceDefinition> = builtInKind<CustomResourceDefinition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  scope: "Cluster",
  facts: "apiextensions-v1",
  columns: [
    nameColumn,
    column<CustomResourceDefinition>("Created At", ({ metadata }) => metadata.creationTimestamp ?? "", {
      type: "date",
    }),
  ],
  subresources: { status: true },
  hasGeneration: true,
  // Its own finalizer has no slash.
  traits: { requiresVersion: true, plainFinalizers: true },
});

/** Defaults the names and the conversion that a CRD omits. */
function complete(given: Definition): Definition {
  const definition = canonicalSchemas(given);
  const { spec } = definition;
  const { kind = "", singular, listKind } = spec.names as Partial<Definition["spec"]["names"]>;
  const { conversion = { strategy: "None" } } = spec;
  const service = conversion.webhook?.clientConfig?.service;
  const isComplete =
    spec.conversion &&
    (singular || kind === "") &&
    (listKind || kind === "") &&
    (!service || service.port !== undefined);
  if (isComplete) return definition;
  return {
    ...definition,
    spec: {
      ...spec,
      names: {
        ...spec.names,
        ...(!singular && kind !== "" && { singular: kind.toLowerCase() }),
        ...(!listKind && kind !== "" && { listKind: `${kind}List` }),
      },
      conversion:
        service && service.port === undefined
          ? {
              ...conversion,
              webhook: {
                ...conversion.webhook,
                clientConfig: { ...conversion.webhook?.clientConfig, service: { ...service, port: 443 } },
              },
            }
          : conversion,
    },
  };
}

/**
 * The null is stored: the list of conditions exists before a condition is written, so writing one does not take
 * ownership of the list.
 */
const NEW_STATUS = {
  conditions: null,
  acceptedNames: { plural: "", kind: "" },
} as unknown as DeepReadonly<CustomResourceDefinitionStatus>;

/** The server owns the status: it records every version that objects may be stored in. */
function prepare(definition: Definition, old: Definition | undefined): Definition {
  const before = old?.status ?? NEW_STATUS;
  const storage = definition.spec.versions?.find((version) => version.storage)?.name;
  const stored = before.storedVersions ?? [];
  return {
    ...definition,
    status:
      storage === undefined || stored.includes(storage) ? before : { ...before, storedVersions: [...stored, storage] },
  };
}

/** Unrecognized formats are kept; new ones cause a warning. */
function unrecognizedFormats({ spec }: Definition): Set<string> {
  const found = new Set<string>();
  for (const { schema } of spec.versions ?? []) {
    for (const { format, type } of schema?.openAPIV3Schema ? schemasWithin(schema.openAPIV3Schema as Schema) : [])
      if (format && !isCheckedFormat(type, format)) found.add(format);
  }
  return found;
}

export const createCrdAdmissions = (converts?: ConvertsItself): AnyAdmission[] => [
  builtInAdmission(CustomResourceDefinition, "apiextensions-v1", {
    complete,
    // A status without stored versions was never written.
    completeStatus: (definition) =>
      definition.status?.storedVersions?.length ? definition : prepare(definition, definition),
    prepare: (definition, { oldObject }) => prepare(definition, oldObject),
    validate: ({ object, oldObject }) => validateDefinition(object, oldObject, converts),
    validateStatus: ({ object }) => validateDefinitionStatus(object),
    warnings({ object, oldObject, subresource }) {
      if (subresource !== undefined || object.spec.versions === oldObject?.spec.versions) return [];
      const known = oldObject ? unrecognizedFormats(oldObject) : undefined;
      return [...unrecognizedFormats(object)]
        .filter((format) => !known?.has(format))
        .map((format) => `unrecognized format ${JSON.stringify(format)}`);
    },
  }),
];
