/** Reduces large responses to the compared parts: a few paths, names, or the extensions of an OpenAPI schema. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { Transform } from "./scenario.ts";

export function reduce(body: Json, transform: Transform | undefined): Json {
  dropDescriptions(body);
  if (!transform) return body;
  // A failure is compared as a whole.
  if (isObject(body) && body.kind === "Status" && body.status === "Failure" && !transform.pick) return body;
  if (transform.openapi !== undefined) return openApiRows(body, transform.openapi);
  if (transform.pick)
    return Object.fromEntries(
      transform.pick.flatMap((path) => (at(body, path) === undefined ? [] : [[path, at(body, path) as Json]])),
    );
  if (transform.keys !== undefined) return Object.keys((at(body, transform.keys) ?? {}) as JsonObject).toSorted();
  if (transform.without) {
    for (const path of transform.without) remove(body, path);
    return body;
  }
  if (transform.find) {
    const { in: path, where } = transform.find;
    return ((at(body, path) ?? []) as Json[]).find((item) => contains(where, item)) ?? null;
  }
  if (transform.names)
    return isObject(body) && Array.isArray(body.items)
      ? body.items.map((item) => at(item, "metadata.name") ?? null)
      : [];
  return body;
}

/** Documentation texts are not part of the contract. */
function dropDescriptions(body: Json): void {
  const table = isObject(body) && isObject(body.object) ? body.object : body;
  if (!isObject(table) || table.kind !== "Table" || !Array.isArray(table.columnDefinitions)) return;
  for (const column of table.columnDefinitions) if (isObject(column)) delete column.description;
}

function at(value: Json | undefined, path: string): Json | undefined {
  return path
    .split(".")
    .reduce<Json | undefined>(
      (inner, key) =>
        isObject(inner) && Object.hasOwn(inner, key)
          ? inner[key]
          : Array.isArray(inner)
            ? inner[Number(key)]
            : undefined,
      value,
    );
}

function remove(value: Json, path: string): void {
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const parent = keys.length === 0 ? value : at(value, keys.join("."));
  if (isObject(parent)) delete parent[last];
}

/** Objects by key, lists by any matching element. */
export function contains(want: Json | undefined, have: Json | undefined): boolean {
  if (Array.isArray(want))
    return Array.isArray(have) && want.every((item) => have.some((candidate) => contains(item, candidate)));
  if (isObject(want)) return isObject(have) && Object.keys(want).every((key) => contains(want[key], have[key]));
  return want === have;
}

const EXTENSION = /^x-kubernetes-(patch|list|map|group-version-kind|unions|int-or-string|preserve|embedded)/;

/** Every field of a kind that has extensions, with their values. */
function openApiRows(document: Json, kind: string): Json {
  const schemas = (at(document, "components.schemas") ?? {}) as Record<string, JsonObject>;
  const rows: (JsonObject & { path: string })[] = [];
  const referenceOf = (schema: JsonObject): string | undefined => {
    const { $ref, allOf } = schema;
    if (typeof $ref === "string") return $ref;
    return Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0]) && typeof allOf[0].$ref === "string"
      ? allOf[0].$ref
      : undefined;
  };
  const walk = (given: JsonObject, path: string, seen: readonly string[]): void => {
    let schema = given;
    let within = seen;
    for (let reference = referenceOf(schema); reference !== undefined; reference = referenceOf(schema)) {
      const extensions = Object.entries(schema).filter(([key]) => key.startsWith("x-kubernetes"));
      schema = { ...schemas[reference.slice(reference.lastIndexOf("/") + 1)], ...Object.fromEntries(extensions) };
      within = [...within, reference];
    }
    const row = Object.fromEntries(
      Object.entries(schema)
        .filter(([key]) => EXTENSION.test(key))
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
    if (Object.keys(row).length > 0) rows.push({ path, ...row });
    const reference = within.at(-1);
    if (within.length > seen.length && reference !== undefined && seen.includes(reference)) return;
    for (const [key, value] of Object.entries((schema.properties ?? {}) as Record<string, JsonObject>))
      walk(value, path ? `${path}.${key}` : key, within);
    if (isObject(schema.items)) walk(schema.items, `${path}[]`, within);
    if (isObject(schema.additionalProperties)) walk(schema.additionalProperties, `${path}{}`, within);
  };
  const isWanted = (schema: JsonObject): boolean =>
    ((schema["x-kubernetes-group-version-kind"] ?? []) as Record<string, string>[]).some(
      ({ group, version, kind: name }) => `${group ? `${group}/` : ""}${version}.${name}` === kind,
    );
  const root = Object.values(schemas).find(isWanted);
  if (root) walk(root, "", []);
  return rows.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
