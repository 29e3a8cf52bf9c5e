/**
 * Strategic merge patch: a merge patch that uses the schema to determine which lists merge, and by which key.
 *
 * Directives: `$patch: replace|delete` in maps and list items, `$retainKeys`, `$deleteFromPrimitiveList/field` and
 * `$setElementOrder/field`. Failures carry the codes of the real server, where most merge errors are 500 without a
 * reason.
 *
 * Arguments are not modified; unchanged parts are shared with the result.
 */
import { isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";
import { withObjectMeta } from "../object-meta-schema.ts";
import { formatGo, goTypeName, jsonTypeName, patchFailed, patchInvalid } from "./patch-errors.ts";
import type { Schema } from "../schema.ts";
import { badRequest } from "../status.ts";
import { identity, inServerOrder } from "./strategic-order.ts";
import { fieldSchema } from "../schema.ts";

const PATCH = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_FROM = "$deleteFromPrimitiveList";
const ORDER = "$setElementOrder";

export function applyStrategicMergePatch(document: JsonObject, patch: Json, schema: Schema): JsonObject {
  if (patch === null) return document;
  if (!isObject(patch))
    throw badRequest(`json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`);
  const root = withObjectMeta(schema);
  checkShape(patch, root, patch);
  return mergeMap(document, patch, root);
}

/** Detects a map where the schema has a list, or the reverse, before merging. */
function checkShape(patch: Json, schema: Schema | undefined, whole: JsonObject): void {
  if (schema === undefined) return;
  if (Array.isArray(patch)) {
    if (schema.type === "object" && isGranular(schema))
      throw patchInvalid(
        formatGo(whole),
        schema.properties ? "cannot restore struct from: slice" : "cannot restore map from slice",
      );
    if (schema.items) for (const item of patch) checkShape(item, schema.items, whole);
  } else if (isObject(patch)) {
    if (schema.type === "array") throw patchInvalid(formatGo(whole), "cannot restore slice from map");
    for (const key of Object.keys(patch))
      if (!key.startsWith("$")) checkShape(patch[key] as Json, fieldSchema(schema, key), whole);
  }
}

const isGranular = (schema: Schema): boolean =>
  schema.properties !== undefined || typeof schema.additionalProperties === "object";

function mergeMap(original: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  if (Object.hasOwn(patch, PATCH)) return followMapDirective(patch);
  const result = retainKeys(original, patch);
  const pending = orderLists(result, patch, schema);
  for (const key of Object.keys(pending)) {
    const change = pending[key] as Json;
    if (key.startsWith(DELETE_FROM)) {
      deleteFromList(result, fieldOf(key, DELETE_FROM, "primitive list"), change);
      continue;
    }
    if (key === RETAIN_KEYS) continue;
    if (change === null) {
      Reflect.deleteProperty(result, key);
      continue;
    }
    const before = Object.hasOwn(result, key) ? result[key] : undefined;
    const isNew =
      before === undefined ||
      before === null ||
      Array.isArray(before) !== Array.isArray(change) ||
      typeof before !== typeof change;
    // A map that is only a directive has nothing to act on where there is no map.
    if (isNew && isDirective(change)) Reflect.deleteProperty(result, key);
    else setOwn(result, key, isNew ? withoutDirectives(change) : mergeValue(before, change, fieldSchema(schema, key)));
  }
  return result;
}

const isDirective = (value: Json | undefined): boolean => isObject(value) && Object.hasOwn(value, PATCH);

/** The merge result when the patch and the original have values of the same type. */
function mergeValue(before: Json, change: Json, schema: Schema | undefined): Json {
  const strategy = schema?.["x-kubernetes-patch-strategy"] ?? "";
  if (isObject(before) && isObject(change))
    return strategy.split(",").includes("replace") ? withoutDirectives(change) : mergeMap(before, change, schema);
  if (Array.isArray(before) && Array.isArray(change) && strategy.split(",").includes("merge"))
    return mergeList(before, change, schema);
  return change;
}

function followMapDirective(patch: JsonObject): JsonObject {
  const directive = patch[PATCH] as Json;
  if (directive === "replace") {
    const { [PATCH]: _directive, ...rest } = patch;
    return withoutDirectives(rest) as JsonObject;
  }
  if (directive === "delete") return {};
  throw unknownDirective(directive, patch);
}

function unknownDirective(directive: Json, item: JsonObject): Error {
  const shown =
    typeof directive === "string"
      ? directive
      : typeof directive === "number"
        ? `%!s(int64=${directive})`
        : `%!s(${formatGo(directive)})`;
  return patchFailed(`unknown patch type: ${shown} in map: ${formatGo(item)}`);
}

/** A copy of the original with only the keys that `$retainKeys` names, when the patch has that directive. */
function retainKeys(original: JsonObject, patch: JsonObject): JsonObject {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return { ...original };
  const retained = patch[RETAIN_KEYS];
  if (!Array.isArray(retained)) throw badRequest("invalid patch format of retainKeys");
  const keep = new Set(retained);
  for (const key of Object.keys(patch))
    if (!key.startsWith("$") && patch[key] !== null && !keep.has(key))
      throw badRequest("invalid patch format of retainKeys");
  const result: JsonObject = {};
  for (const key of Object.keys(original)) if (keep.has(key)) setOwn(result, key, original[key]);
  return result;
}

/** The field of a directive like `$setElementOrder/field`. */
function fieldOf(key: string, directive: string, format: string): string {
  if (key[directive.length] !== "/") throw badRequest(`invalid patch format of ${format}`);
  return key.slice(directive.length + 1);
}

/** Applies the `$setElementOrder` directives to `result` and returns the rest of the patch. */
function orderLists(result: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directives = Object.keys(patch).filter((key) => key.startsWith(ORDER));
  if (directives.length === 0) return patch;
  const pending = { ...patch };
  for (const directive of directives) {
    Reflect.deleteProperty(pending, directive);
    const order = patch[directive];
    if (!Array.isArray(order)) throw patchFailed(`expected a []interface {}, but received a ${goTypeName(order)}`);
    const field = fieldOf(directive, ORDER, "setElementOrder list");
    const before = Object.hasOwn(result, field) ? result[field] : undefined;
    const change = Object.hasOwn(patch, field) ? patch[field] : undefined;
    if (change === null || !(Array.isArray(before) || Array.isArray(change))) continue;
    const listSchema = fieldSchema(schema, field);
    const mergeKey = listSchema?.["x-kubernetes-patch-merge-key"];
    if (Array.isArray(change)) requireOrdered(change, order, mergeKey);
    const merged = !Array.isArray(change)
      ? before
      : Array.isArray(before)
        ? mergeValue(before, change, listSchema)
        : withoutDirectives(change);
    const server = Array.isArray(before) ? before : [];
    if (server.length === 0 && (!Array.isArray(change) || change.length === 0))
      throw patchFailed("no elements in any of the given slices");
    setOwn(result, field, inServerOrder(merged as Json[], order, server, mergeKey));
    Reflect.deleteProperty(pending, field);
  }
  return pending;
}

/** The items of the patch must be in the given order, which may have others between them. */
function requireOrdered(patch: readonly Json[], order: readonly Json[], mergeKey: string | undefined): void {
  if (order.length === 0) return;
  let place = 0;
  for (const item of patch) {
    if (isDirective(item)) continue;
    if (place < order.length) for (const each of [item, order[place]]) requireKey(each, mergeKey);
    const wanted = identity(item, mergeKey);
    while (place < order.length && identity(order[place] ?? null, mergeKey) !== wanted) place += 1;
    if (place === order.length)
      throw patchFailed(
        `The order in patch list:\n${formatGo([...patch])}\n doesn't match $setElementOrder list:\n${formatGo([...order])}\n`,
      );
    place += 1;
  }
}

function requireKey(item: Json | undefined, mergeKey: string | undefined): void {
  if (mergeKey !== undefined && isObject(item) && !Object.hasOwn(item, mergeKey))
    throw patchFailed(`map: ${formatGo(item)} does not contain declared merge key: ${mergeKey}`);
}

function deleteFromList(result: JsonObject, field: string, values: Json): void {
  const before = Object.hasOwn(result, field) ? result[field] : undefined;
  if (!Array.isArray(before) || !Array.isArray(values)) return;
  const gone = new Set(values);
  setOwn(
    result,
    field,
    before.filter((item) => !gone.has(item)),
  );
}

function mergeList(original: readonly Json[], patch: readonly Json[], schema: Schema | undefined): Json[] {
  if (original.length === 0 && patch.length === 0) return [];
  const hasMaps = [...original, ...patch].some(isObject);
  if (hasMaps && ![...original, ...patch].every(isObject))
    throw patchFailed(`list element types are not identical: ${formatGo([[...original], [...patch]])}`);
  const mergeKey = schema?.["x-kubernetes-patch-merge-key"];
  if (!hasMaps) return inServerOrder([...new Set([...original, ...patch])], patch, original, undefined);
  if (!mergeKey) throw patchFailed("cannot merge lists without merge key");
  return mergeListOfMaps(original as JsonObject[], patch as JsonObject[], mergeKey, schema?.items);
}

function mergeListOfMaps(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
  items: Schema | undefined,
): Json[] {
  const { deleted, replaces, plain } = readItemDirectives(patch, mergeKey);
  for (const item of plain) requireKey(item, mergeKey);
  if (replaces) return plain.map(withoutDirectives);
  const merged = original.filter((item) => !deleted.has(identity(item, mergeKey)));
  const places = new Map<string, number>();
  for (const [index, item] of merged.entries())
    if (!places.has(identity(item, mergeKey))) places.set(identity(item, mergeKey), index);
  for (const item of plain) {
    const place = places.get(identity(item, mergeKey));
    if (place === undefined) {
      places.set(identity(item, mergeKey), merged.length);
      merged.push(withoutDirectives(item) as JsonObject);
    } else {
      merged[place] = mergeMap(merged[place] as JsonObject, item, items);
    }
  }
  return inServerOrder(merged, plain, original, mergeKey);
}

interface ItemDirectives {
  deleted: Set<string>;
  replaces: boolean;
  /** The items without a directive. An item with a directive is only that directive. */
  plain: JsonObject[];
}

function readItemDirectives(patch: readonly JsonObject[], mergeKey: string): ItemDirectives {
  const found: ItemDirectives = { deleted: new Set(), replaces: false, plain: [] };
  for (const item of patch) {
    if (!Object.hasOwn(item, PATCH)) {
      found.plain.push(item);
      continue;
    }
    const directive = item[PATCH] as Json;
    if (directive === "replace") found.replaces = true;
    else if (directive === "merge") throw patchFailed("merging lists cannot yet be specified in the patch");
    else if (directive !== "delete") throw unknownDirective(directive, item);
    else {
      requireKey(item, mergeKey);
      found.deleted.add(identity(item, mergeKey));
    }
  }
  return found;
}

/** A value that the original does not have: directives and nulls in it have nothing to act on. */
function withoutDirectives(value: Json): Json {
  if (Array.isArray(value)) return value.filter((item) => !isDirective(item)).map(withoutDirectives);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    const isMarker = key === PATCH || key === RETAIN_KEYS || key.startsWith(ORDER) || key.startsWith(DELETE_FROM);
    if (!isMarker && value[key] !== null && !isDirective(value[key]))
      setOwn(result, key, withoutDirectives(value[key] as Json));
  }
  return result;
}
