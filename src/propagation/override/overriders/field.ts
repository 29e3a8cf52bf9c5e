/**
 * Changes a JSON or YAML document inside a string field, such as a file in a ConfigMap.
 *
 * The document is parsed, patched and serialized: comments are lost, and YAML is parsed as version 1.1, as in Karmada
 * (`n` is false). An empty JSON field stays empty.
 */
import {
  boolYaml11Tag,
  dump,
  FAILSAFE_SCHEMA,
  floatCoreTag,
  intYaml11Tag,
  load,
  mergeTag,
  nullYaml11Tag,
  YAMLException,
} from "js-yaml";
import type { FieldOverrider } from "../../../api/index.ts";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "../../../base/index.ts";
import { patchAt, splitPointer, valueAt } from "../json-pointer.ts";
import { OverrideError } from "../override-error.ts";

type Overrider = DeepReadonly<FieldOverrider>;
type Operations = NonNullable<Overrider["json"]>;

export function overrideFields(object: JsonObject, overriders: readonly Overrider[]): JsonObject {
  return overriders.reduce<JsonObject>((result, { fieldPath, json, yaml }) => {
    const text = valueAt(result, splitPointer(fieldPath));
    if (typeof text !== "string")
      throw new OverrideError(`cannot change the document in ${fieldPath}: the object has no string there`);
    let changed = text;
    if (json?.length) changed = patchJson(changed, json, fieldPath);
    if (yaml?.length) changed = patchYaml(changed, yaml, fieldPath);
    return patchAt(result, "replace", fieldPath, changed) as JsonObject;
  }, object);
}

function patchJson(text: string, operations: Operations, fieldPath: string): string {
  if (text === "") return text;
  return JSON.stringify(patch(parseJson(text, fieldPath), operations, fieldPath));
}

function patchYaml(text: string, operations: Operations, fieldPath: string): string {
  const patched = patch(parseYaml(text, fieldPath), operations, fieldPath);
  return dump(patched, {
    schema: YAML_1_1,
    sortKeys: true,
    seqNoIndent: true,
    quoteStyle: "double",
    lineWidth: -1,
    noRefs: true,
  });
}

function patch(document: Json, operations: Operations, fieldPath: string): Json {
  if (!isObject(document) && !Array.isArray(document))
    throw new OverrideError(`cannot change the document in ${fieldPath}: it is neither an object nor a list`);
  return operations.reduce<Json>(
    (result, { operator, subPath, value }) => patchAt(result, operator, subPath, value as Json | undefined),
    document,
  );
}

function parseJson(text: string, fieldPath: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new OverrideError(`cannot parse ${fieldPath} as JSON`, { cause: error });
  }
}

/** Version 1.1 without types that JSON lacks: a date stays a string, and there are no sets or binaries. */
const YAML_1_1 = FAILSAFE_SCHEMA.withTags(nullYaml11Tag, boolYaml11Tag, intYaml11Tag, floatCoreTag, mergeTag);
/**
 * A few lines with aliases can expand to gigabytes. A document with this many values after alias expansion is larger
 * than any object.
 */
const MAX_YAML_VALUES = 200_000;
const MAX_YAML_ALIASES = 1_000;

function parseYaml(text: string, fieldPath: string): Json {
  try {
    const document = load(text, { schema: YAML_1_1, maxAliases: MAX_YAML_ALIASES }) as Json;
    if (countValues(document, MAX_YAML_VALUES) >= MAX_YAML_VALUES)
      throw new OverrideError(`cannot parse ${fieldPath} as YAML: it expands to more than ${MAX_YAML_VALUES} values`);
    return document;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new OverrideError(`cannot parse ${fieldPath} as YAML`, { cause: error });
  }
}

/**
 * Counts the values of a document with aliases expanded; stops at the limit, so a self-referencing document ends too.
 */
function countValues(document: Json, limit: number): number {
  const waiting: Json[] = [document];
  let count = 0;
  for (let value = waiting.pop(); value !== undefined && count < limit; value = waiting.pop()) {
    count++;
    if (typeof value === "object" && value !== null) for (const item of Object.values(value)) waiting.push(item);
  }
  return count;
}
