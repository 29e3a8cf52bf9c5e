/**
 * Fields that Open Cluster Management 1.3 has and the newest published Go module has not. The fact tables come from the module, so what
 * is missing there is added here, and goes when the module is newer.
 */
import type { Schema } from "../../machinery/index.ts";
import { customKind, lazyVersion } from "../define.ts";
import { required } from "../../base/index.ts";
import type { Kind } from "../kind.ts";
import type { KubernetesObject } from "../meta.ts";

export interface NewerFields {
  /** The way to an object of the schema; `[]` goes into the items of a list. */
  at: readonly string[];
  properties: Record<string, Schema>;
  /** Fields that are no longer required, nor need to have items. */
  optional?: readonly string[];
}

/** A custom kind whose schema has more fields than its fact table. */
export function extendedKind<T extends KubernetesObject>(names: Parameters<typeof customKind<T>>[0], additions: readonly NewerFields[]): Kind<T> {
  const kind = customKind<T>(names);
  const version = required(kind.versions[names.storageVersion], `the version ${names.storageVersion} of ${names.kind}`);
  let schema: Schema | undefined;
  return { ...kind, versions: { [names.storageVersion]: lazyVersion(names.columns, () => (schema ??= additions.reduce((result, addition) => added(result, addition.at, addition), version.schema))) } };
}

function added(schema: Schema, [step, ...rest]: readonly string[], addition: NewerFields): Schema {
  if (step === undefined) return withFields(schema, addition);
  if (step === "[]") return { ...schema, items: added(required(schema.items, "items of a list"), rest, addition) };
  return { ...schema, properties: { ...schema.properties, [step]: added(required(schema.properties?.[step], `the field ${step}`), rest, addition) } };
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
  return { ...rest, ...(still.length > 0 && { required: still }), properties: { ...schema.properties, ...relaxed, ...properties } };
}
