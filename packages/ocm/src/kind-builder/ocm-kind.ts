/**
 * Builds Open Cluster Management's kinds: the schema of their CRD, the fields of version 1.3 that the newest published
 * Go module lacks, and descriptions for `kubectl explain`. The fact tables come from the module; fields declared here
 * can be removed once a newer module has them.
 */
import { required } from "@flotilla/base";
import { customKind, describedKind, ITEMS, lazyVersion, schemaSteps } from "@flotilla/apimachinery";
import type { FieldDescriptions, Kind, KubernetesObject, Schema } from "@flotilla/apimachinery";

export interface NewerFields {
  /** The schema object that contains the fields: `spec.manifestConfigs[]`. */
  at: string;
  properties: Record<string, Schema>;
  /** Fields that are no longer required, and may be empty lists. */
  optional?: readonly string[];
}

type OcmKind<T extends KubernetesObject> = Parameters<typeof customKind<T>>[0] & {
  newer?: readonly NewerFields[];
  descriptions: FieldDescriptions;
};

export function ocmKind<T extends KubernetesObject>({ newer = [], descriptions, ...names }: OcmKind<T>): Kind<T> {
  const kind = customKind<T>(names);
  const { storageVersion, columns } = names;
  const version = required(kind.versions[storageVersion], `the version ${storageVersion} of ${names.kind}`);
  const build = (): Schema =>
    newer.reduce(
      (schema, fields) => changed(schema, schemaSteps(fields.at), (part) => withFields(part, fields)),
      version.schema,
    );
  return describedKind({ ...kind, descriptions, versions: { [storageVersion]: lazyVersion(columns, build) } });
}

/** Returns the schema with the part at the end of the path changed. */
function changed(schema: Schema, [step, ...rest]: readonly string[], edit: (part: Schema) => Schema): Schema {
  if (step === undefined) return edit(schema);
  if (step === ITEMS) return { ...schema, items: changed(required(schema.items, "items of a list"), rest, edit) };
  return {
    ...schema,
    properties: {
      ...schema.properties,
      [step]: changed(required(schema.properties?.[step], `the field ${step}`), rest, edit),
    },
  };
}

function withFields(schema: Schema, { properties, optional = [] }: NewerFields): Schema {
  const { required: before = [], ...rest } = schema;
  const still = before.filter((field) => !optional.includes(field));
  const relaxed = Object.fromEntries(
    optional.map((field) => {
      const { minItems: _dropped, ...free } = required(schema.properties?.[field], `the field ${field}`);
      return [field, free];
    }),
  );
  return {
    ...rest,
    required: still.length > 0 ? still : undefined,
    properties: { ...schema.properties, ...relaxed, ...properties },
  };
}
