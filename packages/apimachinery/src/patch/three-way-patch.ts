/**
 * The patch that `kubectl apply` sends: what a manifest sets, and the removal of what only the last manifest had. All
 * else stays as it is.
 *
 * With a schema it is a strategic merge patch, which changes single items of lists. Without one it is a JSON merge patch,
 * which replaces lists: kubectl sends it for custom kinds.
 */
import { equalJson, isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";
import { withObjectMeta } from "../object-meta-schema.ts";
import type { Schema } from "../schema.ts";
import { identity } from "./strategic-order.ts";

interface Versions<T> {
  /** As the manifest was applied last. */
  last: T;
  next: T;
  /** As the server has it. */
  live: T;
}

export function threeWayPatch(versions: Versions<JsonObject>, schema?: Schema): JsonObject {
  return schema ? mapPatch(versions, { schema: withObjectMeta(schema) }) : mergePatch(versions);
}

function mergePatch({ last, next, live }: Versions<JsonObject>): JsonObject {
  const patch: JsonObject = {};
  for (const [key, after] of Object.entries(next)) {
    const [before, now] = [valueOf(last, key), valueOf(live, key)];
    if (after === null) {
      // A null that was applied before removes nothing any more: others may have set the field since.
      if (before !== null) setOwn(patch, key, null);
    } else if (isObject(after) && isObject(now)) {
      setNonEmpty(patch, key, mergePatch({ last: isObject(before) ? before : {}, next: after, live: now }));
    } else if (!equalJson(now, after)) setOwn(patch, key, after);
  }
  return { ...patch, ...removed(last, next) };
}

/** What the schema says of one value. A map that retains keys loses all others. */
interface Place {
  schema: Schema | undefined;
  retainsKeys?: boolean;
}

function mapPatch({ last, next, live }: Versions<JsonObject>, { schema, retainsKeys }: Place): JsonObject {
  let patch: JsonObject = {};
  for (const [key, after] of Object.entries(next)) {
    const [before, now] = [valueOf(last, key), valueOf(live, key)];
    const field = fieldOf(schema, key);
    if (isObject(after) && isObject(now) && !field.replaces)
      setNonEmpty(patch, key, mapPatch({ last: isObject(before) ? before : {}, next: after, live: now }, field));
    else if (Array.isArray(after) && Array.isArray(now) && field.merges)
      patch = {
        ...patch,
        ...listPatch(key, { last: Array.isArray(before) ? before : [], next: after, live: now }, field),
      };
    else if (!equalJson(now, after)) setOwn(patch, key, after);
  }
  patch = { ...patch, ...removed(last, next) };
  const retained = Object.keys(next).filter((key) => next[key] !== null);
  const losesKeys = Object.keys(live).some((key) => live[key] !== null && !Object.hasOwn(next, key));
  if (retainsKeys && retained.length > 0 && (losesKeys || Object.keys(patch).length > 0))
    patch["$retainKeys"] = retained.sort();
  return patch;
}

function fieldOf(schema: Schema | undefined, key: string): Place & { merges: boolean; replaces: boolean } {
  const field =
    schema?.properties && Object.hasOwn(schema.properties, key)
      ? schema.properties[key]
      : typeof schema?.additionalProperties === "object"
        ? schema.additionalProperties
        : undefined;
  const strategies = (field?.["x-kubernetes-patch-strategy"] ?? "").split(",");
  return {
    schema: field,
    retainsKeys: strategies.includes("retainKeys"),
    merges: strategies.includes("merge"),
    replaces: strategies.includes("replace"),
  };
}

/** The entries of a patch that change one list. */
function listPatch(key: string, lists: Versions<Json[]>, { schema, retainsKeys }: Place): JsonObject {
  const { last, next, live } = lists;
  const mergeKey = schema?.["x-kubernetes-patch-merge-key"];
  const items = [...last, ...next, ...live];
  if (!items.some(isObject)) return scalarsPatch(key, lists);
  // The server explains what is wrong with such a list.
  if (mergeKey === undefined || !items.every(isObject)) return { [key]: next };
  const [lasts, nexts, lives] = [last, next, live].map((list) => byIdentity(list as JsonObject[], mergeKey)) as [
    Items,
    Items,
    Items,
  ];
  const changed: Json[] = [];
  for (const [id, item] of nexts) {
    const now = lives.get(id);
    const change = now
      ? mapPatch({ last: lasts.get(id) ?? {}, next: item, live: now }, { schema: schema?.items, retainsKeys })
      : item;
    if (Object.keys(change).length > 0) changed.push({ ...change, [mergeKey]: item[mergeKey] ?? null });
  }
  const deleted = Array.from(lasts)
    .filter(([id]) => !nexts.has(id))
    .map(([, item]): Json => ({ [mergeKey]: item[mergeKey] ?? null, $patch: "delete" }));
  const isSameOrder = equalJson([...nexts.keys()], [...lives.keys()]);
  const patch: JsonObject = {};
  if (changed.length + deleted.length > 0) patch[key] = [...changed, ...deleted];
  if (next.length > 0 && (deleted.length > 0 || (live.length > 0 && (changed.length > 0 || !isSameOrder))))
    patch[`$setElementOrder/${key}`] = Array.from(nexts.values(), (item) => ({ [mergeKey]: item[mergeKey] ?? null }));
  return patch;
}

function scalarsPatch(key: string, { last, next, live }: Versions<Json[]>): JsonObject {
  const added = next.filter((item) => !live.includes(item));
  const deleted = [...new Set(last.filter((item) => !next.includes(item)))];
  const patch: JsonObject = {};
  if (added.length > 0) patch[key] = added;
  if (deleted.length > 0) patch[`$deleteFromPrimitiveList/${key}`] = deleted;
  // kubectl compares with the sorted list of the server, so a sorted list does not reorder it.
  if (next.length > 0 && (deleted.length > 0 || (live.length > 0 && !equalJson(sortedAsText(live), next))))
    patch[`$setElementOrder/${key}`] = next;
  return patch;
}

const sortedAsText = (list: readonly Json[]): Json[] =>
  list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

type Items = ReadonlyMap<string, JsonObject>;

/** Items with the same merge key, such as ports of one number, are distinguished by their order. */
function byIdentity(list: readonly JsonObject[], mergeKey: string): Items {
  const counts = new Map<string, number>();
  const items = new Map<string, JsonObject>();
  for (const item of list) {
    const id = identity(item, mergeKey);
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    items.set(`${id} ${count}`, item);
  }
  return items;
}

/** Nulls for the keys that only the last manifest had. */
function removed(last: JsonObject, next: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const key of Object.keys(last)) if (!Object.hasOwn(next, key)) setOwn(patch, key, null);
  return patch;
}

const valueOf = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

function setNonEmpty(patch: JsonObject, key: string, change: JsonObject): void {
  if (Object.keys(change).length > 0) setOwn(patch, key, change);
}
