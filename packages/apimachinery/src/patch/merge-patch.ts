/**
 * JSON merge patch (RFC 7386): objects merge, `null` deletes, everything else replaces.
 *
 * Arguments are not modified; unchanged parts are shared with the result, and a patch that changes nothing returns the
 * document itself, so callers may compare with `===`.
 */
import { equalJson, isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";
import { jsonTypeName } from "./patch-errors.ts";
import { badRequest } from "../status.ts";

/** The body of a merge patch request: Kubernetes objects are only patched with objects. */
export function readMergePatch(body: Json): JsonObject {
  if (body === null) throw badRequest("Invalid JSON Patch");
  if (!isObject(body))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(body)} into Go value of type map[string]interface {}`,
    );
  return body;
}

export function applyMergePatch(document: Json, patch: Json): Json {
  if (!isObject(patch)) return equalJson(document, patch) ? document : patch;
  const source: JsonObject = isObject(document) ? document : {};
  let result = isObject(document) ? undefined : source;
  for (const key of Object.keys(patch)) {
    const change = patch[key] as Json;
    const before = Object.hasOwn(source, key) ? source[key] : undefined;
    if (change === null) {
      if (before === undefined) continue;
      result ??= { ...source };
      Reflect.deleteProperty(result, key);
      continue;
    }
    const after = before === undefined ? withoutNulls(change) : applyMergePatch(before, change);
    if (after === before) continue;
    result ??= { ...source };
    setOwn(result, key, after);
  }
  return result ?? source;
}

/** A new object in a patch: its nulls mean "absent" too. Lists are copied unchanged. */
function withoutNulls(value: Json): Json {
  return isObject(value) ? applyMergePatch({}, value) : value;
}

/** The smallest merge patch that turns `before` into `after`. It cannot express a `null` value. */
export function createMergePatch(before: Json, after: Json): Json {
  if (!isObject(before) || !isObject(after)) return after;
  const patch: JsonObject = {};
  for (const key of Object.keys(after)) {
    const next = after[key] as Json;
    if (!Object.hasOwn(before, key)) setOwn(patch, key, next);
    else if (!equalJson(before[key], next)) setOwn(patch, key, createMergePatch(before[key] as Json, next));
  }
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) setOwn(patch, key, null);
  return patch;
}
