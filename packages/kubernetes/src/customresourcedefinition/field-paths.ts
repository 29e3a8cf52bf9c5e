/** Resolves field paths that a CRD declares into its own schema: selectable fields. */
import { isObject, type JsonObject } from "@flotilla/base";
import { propertiesOf } from "./structural-rules.ts";

export type FoundField =
  | { readonly schema: JsonObject | undefined; readonly names: readonly string[] }
  | { readonly problem: string };

const NO_FIELD = "does not refer to a valid field";

/** Follows `.spec.color` through a schema. Brackets are not allowed. */
export function findField(path: string, root: JsonObject): FoundField {
  const tokens = path.match(/[.[\]]|[^.[\]]+/g) ?? [];
  const names: string[] = [];
  let schema: JsonObject | undefined = root;
  for (let index = 0; index < tokens.length; index += 2) {
    const token = tokens[index] ?? "";
    if (token === "[") return { problem: "array notation is not allowed" };
    if (token !== ".") return { problem: `expected [ or . but got: ${token}` };
    const name: string | undefined = tokens[index + 1];
    if (name === undefined) return { problem: "unexpected end of JSON path" };
    const next: JsonObject | "none" | undefined = childOf(schema, name);
    if (next === "none") return { problem: NO_FIELD };
    schema = next;
    names.push(name);
  }
  return { schema, names };
}

function childOf(schema: JsonObject | undefined, name: string): JsonObject | "none" | undefined {
  if (!schema) return "none";
  const properties = propertiesOf(schema);
  if (Object.keys(properties).length > 0) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isObject(property) ? property : "none";
  }
  const { additionalProperties } = schema;
  if (additionalProperties === undefined) return "none";
  return isObject(additionalProperties) ? additionalProperties : undefined;
}
