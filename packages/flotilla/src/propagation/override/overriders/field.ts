/**
 * Changes a JSON or YAML document inside a string field, such as a file in a ConfigMap.
 *
 * The document is parsed, patched and serialized: comments are lost, and YAML is parsed as version 1.1, as in Karmada
 * (`n` is false). An empty JSON field stays empty.
 */
import type { FieldOverrider } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { countYamlValues, dumpYaml, loadYaml, YamlError } from "@flotilla/apimachinery";
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
  return dumpYaml(patch(parseYaml(text, fieldPath), operations, fieldPath), { readBy: "1.1" });
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

/**
 * A few lines with aliases can expand to gigabytes. A document with this many values after alias expansion is larger
 * than any object.
 */
const MAX_YAML_VALUES = 200_000;
const MAX_YAML_ALIASES = 1_000;

function parseYaml(text: string, fieldPath: string): Json {
  try {
    const document = loadYaml(text, { dialect: "1.1", maxAliases: MAX_YAML_ALIASES }) as Json;
    if (countYamlValues(document, MAX_YAML_VALUES) >= MAX_YAML_VALUES)
      throw new OverrideError(`cannot parse ${fieldPath} as YAML: it expands to more than ${MAX_YAML_VALUES} values`);
    return document;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new OverrideError(`cannot parse ${fieldPath} as YAML`, { cause: error });
  }
}
