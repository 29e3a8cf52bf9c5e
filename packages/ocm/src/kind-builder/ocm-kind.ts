/**
 * Builds Open Cluster Management's kinds: the schema of their CRD, the fields of version 1.3 that the newest published
 * Go module lacks, and descriptions for `kubectl explain`. The fact tables come from the module; fields declared here
 * can be removed once a newer module has them.
 */
import { required } from "@flotilla/base";
import { customKind, lazyVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject, Schema } from "@flotilla/apimachinery";

export interface NewerFields {
  /** The schema object that contains the fields: `spec.manifestConfigs[]`. */
  at: string;
  properties: Record<string, Schema>;
  /** Fields that are no longer required, and may be empty lists. */
  optional?: readonly string[];
}

type OcmKind<T extends KubernetesObject> = Parameters<typeof customKind<T>>[0] & {
  newer?: readonly NewerFields[];
  /** By path: `spec.taints[].effect`; the empty path is the kind itself. */
  describes: Readonly<Record<string, string>>;
};

export function ocmKind<T extends KubernetesObject>({ newer = [], describes, ...names }: OcmKind<T>): Kind<T> {
  const kind = customKind<T>(names);
  const { storageVersion, columns } = names;
  const version = required(kind.versions[storageVersion], `the version ${storageVersion} of ${names.kind}`);
  const build = (): Schema => {
    const whole = newer.reduce(
      (schema, fields) => changed(schema, stepsOf(fields.at), (part) => withFields(part, fields)),
      version.schema,
    );
    return Object.entries(describes).reduce(
      (schema, [path, description]) => changed(schema, stepsOf(path), (part) => ({ ...part, description })),
      whole,
    );
  };
  let schema: Schema | undefined;
  return { ...kind, versions: { [storageVersion]: lazyVersion(columns, () => (schema ??= build())) } };
}

const ITEMS = "[]";
const stepsOf = (path: string): string[] => (path === "" ? [] : path.replaceAll(ITEMS, `.${ITEMS}`).split("."));

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
