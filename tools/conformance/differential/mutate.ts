/** Changes objects at random, along their schema: fields that are added, removed, repeated, or set to values at a limit. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import type { Chance } from "../../fuzz/chance.ts";

const TEXTS: readonly string[] = [
  "",
  "a",
  "b",
  "A",
  "a-b",
  "a_b",
  "a.b",
  "-a",
  "a/b",
  "example.com/a",
  "kubernetes.io/a",
  "x".repeat(63),
  "x".repeat(64),
  "x".repeat(254),
  "1",
  "80",
  "http",
  "10%",
  "150%",
  "1Gi",
  "500m",
  "1.5",
  "-1",
  "0",
  "1.2.3.4",
  "01.2.3.4",
  "::1",
  "10.0.0.0/8",
  "10.0.0.1/8",
  "/etc",
  "../x",
  "TCP",
  "UDP",
  "Always",
  "Never",
  "$(HOME)",
  "2024-01-01T00:00:00Z",
  "tomorrow",
  "Europe/Berlin",
  "*/5 * * * *",
  "@hourly",
  "é",
  "a b",
  "default",
  "true",
];
const NUMBERS: readonly number[] = [-1, 0, 1, 2, 3, 5, 30, 80, 100, 101, 1024, 65_535, 65_536, 2_147_483_647];
/** The server fills these in, or they are compared elsewhere. */
const KEPT = new Set(["apiVersion", "kind", "managedFields", "namespace", "name", "generateName", "uid", "selfLink"]);
const MAX_DEPTH = 4;

/** A copy with `count` changes. */
export function mutated(chance: Chance, object: JsonObject, schema: Schema, count: number): JsonObject {
  const copy = structuredClone(object);
  for (let change = 0; change < count; change++) mutateObject(chance, copy, schema, 0);
  return copy;
}

function mutateObject(chance: Chance, object: JsonObject, schema: Schema, depth: number): void {
  const known = propertiesOf(schema, object);
  // Sorted, so that the same changes are made to equal objects.
  const present = Object.keys(object)
    .toSorted()
    .filter((key) => !(depth < 2 && KEPT.has(key)));
  const absent = Object.keys(known).filter((key) => !Object.hasOwn(object, key) && !(depth < 2 && KEPT.has(key)));
  if (absent.length > 0 && chance.oneIn(depth === 0 ? 30 : 3)) {
    const key = chance.pick(absent);
    object[key] = generate(chance, known[key] ?? {}, 0);
    return;
  }
  if (isObject(schema.additionalProperties) && chance.oneIn(3)) {
    object[chance.pick(TEXTS)] = generate(chance, schema.additionalProperties, 0);
    return;
  }
  if (depth > 0 && chance.oneIn(40)) {
    object.unknownField = 1;
    return;
  }
  if (present.length === 0) return;
  const key = chance.pick(present);
  const value = object[key];
  const inner = known[key] ?? (isObject(schema.additionalProperties) ? schema.additionalProperties : {});
  // Without a name no request reaches what is compared.
  const isRoot = depth === 0 && key === "metadata";
  if (isObject(value) && (isRoot || (Object.keys(value).length > 0 && !chance.oneIn(8))))
    mutateObject(chance, value, inner, depth + 1);
  else if (Array.isArray(value) && value.length > 0 && !chance.oneIn(8)) mutateList(chance, value, inner, depth);
  else if (chance.oneIn(4)) delete object[key];
  else if (chance.oneIn(12)) object[key] = null;
  else object[key] = otherValue(chance, inner, value);
}

function mutateList(chance: Chance, list: Json[], schema: Schema, depth: number): void {
  const index = chance.below(list.length);
  const items = schema.items ?? {};
  const item = list[index];
  switch (chance.below(8)) {
    case 0:
      list.splice(index, 1);
      return;
    case 1:
      list.push(structuredClone(item ?? null));
      return;
    case 2:
      list.push(generate(chance, items, 1));
      return;
    case 3:
      list.reverse();
      return;
    default:
      if (isObject(item)) mutateObject(chance, item, items, depth + 2);
      else list[index] = otherValue(chance, items, item);
  }
}

function otherValue(chance: Chance, schema: Schema, value: Json | undefined): Json {
  if (chance.oneIn(25)) return chance.pick<Json>([true, 1, "text", [], {}, 1.5, [null]]);
  if (typeof value === "number" && !schema["x-kubernetes-int-or-string"]) return chance.pick(NUMBERS);
  if (typeof value === "boolean") return !value;
  return generate(chance, schema, 0);
}

function propertiesOf({ properties }: Schema, object: JsonObject): Record<string, Schema> {
  return properties ?? Object.fromEntries(Object.keys(object).map((key) => [key, {}]));
}

/** A value of the schema, mostly small. */
function generate(chance: Chance, schema: Schema, depth: number): Json {
  const { enum: values, properties = {}, items = {}, additionalProperties } = schema;
  if (values && values.length > 0 && !chance.oneIn(6)) return chance.pick(values);
  if (schema["x-kubernetes-int-or-string"]) return chance.oneIn(2) ? chance.pick(NUMBERS) : chance.pick(TEXTS);
  switch (schema.type) {
    case "string":
      return chance.pick(TEXTS);
    case "integer":
    case "number":
      return chance.pick(NUMBERS);
    case "boolean":
      return chance.oneIn(2);
    case "array":
      return depth > MAX_DEPTH ? [] : chance.list(chance.below(3), () => generate(chance, items, depth + 1));
    case "object": {
      const keys = Object.keys(properties);
      if (keys.length > 0) {
        if (depth > MAX_DEPTH) return {};
        const wanted = new Set(schema.required ?? []);
        const extra = 1 + chance.below(3);
        for (let index = 0; index < extra; index++) wanted.add(chance.pick(keys));
        return Object.fromEntries([...wanted].map((key) => [key, generate(chance, properties[key] ?? {}, depth + 1)]));
      }
      if (!isObject(additionalProperties)) return {};
      return { [chance.pick(TEXTS)]: generate(chance, additionalProperties, depth + 1) };
    }
    default:
      return chance.pick<Json>(["a", 1, true, {}]);
  }
}

/** The merge patch (RFC 7386) that makes `to` of `from`. Pure. */
export function mergePatch(from: Json, to: Json): Json {
  if (!isObject(from) || !isObject(to)) return to;
  const patch: JsonObject = {};
  for (const key of Object.keys({ ...from, ...to })) {
    const [before, after] = [from[key], to[key]];
    if (after === undefined) patch[key] = null;
    else if (before === undefined) patch[key] = after;
    else if (JSON.stringify(before) !== JSON.stringify(after)) patch[key] = mergePatch(before, after);
  }
  return patch;
}

/** Operations of a JSON patch on random paths of the object. */
export function jsonPatch(chance: Chance, object: JsonObject, schema: Schema): Json[] {
  const paths = pathsOf(object, "").filter((path) =>
    /^\/(?:spec|data|rules|metadata\/(?:labels|annotations))/.test(path),
  );
  return chance.list(1 + chance.below(3), (): JsonObject => {
    const path = paths.length > 0 ? chance.pick(paths) : "/metadata/labels";
    const op = chance.pick(["add", "remove", "replace", "test", "copy", "move", "replace", "add"]);
    if (op === "remove") return { op, path };
    if (op === "copy" || op === "move") return { op, path, from: paths.length > 0 ? chance.pick(paths) : "/kind" };
    return { op, path: chance.oneIn(6) ? `${path}/-` : path, value: generate(chance, schemaAt(schema, path), 0) };
  });
}

function pathsOf(value: Json, at: string): string[] {
  const children = Array.isArray(value)
    ? value.map((item, index) => [String(index), item] as const)
    : isObject(value)
      ? Object.entries(value)
      : [];
  return children.flatMap(([key, child]) => {
    const path = `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return [path, ...pathsOf(child, path)];
  });
}

function schemaAt(schema: Schema, path: string): Schema {
  return path
    .split("/")
    .slice(1)
    .reduce<Schema>(
      (inner, key) =>
        inner.properties?.[key] ??
        inner.items ??
        (isObject(inner.additionalProperties) ? inner.additionalProperties : {}),
      schema,
    );
}
