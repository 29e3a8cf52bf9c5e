/**
 * Merges a part of an object into it by the rules of server-side apply, without field managers: what
 * MutatingAdmissionPolicies do with their apply configurations.
 */
import { isObject, type Json, type JsonObject } from "@flotilla/base";
import { appliedProblem } from "./apply-check.ts";
import { mergeApplied } from "./apply-merge.ts";
import { isNamedField, shapeOf } from "./field-shape.ts";
import { fieldSchema } from "../schema.ts";
import { withObjectMeta } from "../object-meta-schema.ts";
import type { Schema } from "../schema.ts";

export type MergeResult =
  | { readonly object: JsonObject; readonly problem?: undefined }
  | { readonly object?: undefined; readonly problem: string };

export function mergeConfiguration(
  live: JsonObject,
  applied: JsonObject,
  { schema: declared, builtIn }: { readonly schema: Schema; readonly builtIn: boolean },
): MergeResult {
  const schema = withObjectMeta(declared);
  const invalid = appliedProblem(applied, schema, builtIn);
  if (invalid !== undefined) return { problem: `failed to convert patch object to typed object: ${invalid}` };
  const atomics = [...atomicsIn(applied, schema, "")];
  if (atomics.length > 0)
    return {
      problem: `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`,
    };
  return { object: mergeApplied(live, applied, schema) };
}

/** A part that is replaced as a whole would lose what the configuration does not repeat. */
function* atomicsIn(value: Json | undefined, schema: Schema | undefined, path: string): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  if (shapeOf(schema, value) === "leaf") yield path;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* atomicsIn(item, schema?.items, `${path}[${index}]`);
    return;
  }
  if (!isObject(value)) return;
  for (const key of Object.keys(value))
    if (isNamedField(schema, key)) yield* atomicsIn(value[key], fieldSchema(schema, key), `${path}.${key}`);
}
