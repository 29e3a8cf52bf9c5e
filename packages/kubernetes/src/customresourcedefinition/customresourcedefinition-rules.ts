/** Defaults and validation of CustomResourceDefinition. */
import { defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, isCheckedFormat, schemasWithin } from "@flotilla/apimachinery";
import type { AnyAdmission, Schema } from "@flotilla/apimachinery";
import type { CustomResourceDefinitionStatus } from "@flotilla/apimachinery/facts/apiextensions-v1.ts";
import { canonicalSchemas } from "./canonical-schema.ts";
import { validateDefinition, validateDefinitionStatus } from "./definition-rules.ts";
import { CustomResourceDefinition } from "./customresourcedefinition-kind.ts";

type Definition = DeepReadonly<CustomResourceDefinition>;

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
        ...defined({
          singular: !singular && kind !== "" ? kind.toLowerCase() : undefined,
          listKind: !listKind && kind !== "" ? `${kind}List` : undefined,
        }),
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

export const customResourceDefinitionRules: readonly AnyAdmission[] = [
  builtInAdmission(CustomResourceDefinition, "apiextensions-v1", {
    complete,
    // A status without stored versions was never written.
    completeStatus: (definition) =>
      definition.status?.storedVersions?.length ? definition : prepare(definition, definition),
    prepare: (definition, { oldObject }) => prepare(definition, oldObject),
    validate: ({ object, oldObject }) => validateDefinition(object, oldObject),
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
