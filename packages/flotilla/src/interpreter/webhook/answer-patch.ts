/**
 * Applies the patch in a response to ReviseReplica, Retain or AggregateStatus. It may change the content of an object,
 * but not its identity.
 *
 * Karmada applies patches with a newer library than the one in API servers: replacing or copying a missing value is an
 * error, and adding the whole document replaces it. Operations are rewritten so that our library behaves the same.
 */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { applyJsonPatch } from "@flotilla/apimachinery";
import type { AnyObject } from "../interpreter.ts";
import { textOf, wrongType } from "./answer-fields.ts";
import { parseWebhookJson, shown, WebhookError } from "@flotilla/client";

/** An operation may move the whole of a long list, so more operations could block the hub for seconds. */
const MAX_OPERATIONS = 1000;

/** The object with the response's patch applied; the object itself when there is no patch. Shares unchanged parts. */
export function readPatched(response: JsonObject, object: AnyObject): AnyObject {
  const patch = textOf(response, "patch", "response") ?? "";
  const patchType = textOf(response, "patchType", "response");
  if (patch === "" && patchType === undefined) return object;
  if (patchType !== "JSONPatch") throw wrongType("response.patchType", "JSONPatch");
  if (patch === "") throw new WebhookError("answer", "response.patch is missing");
  const operations = parseWebhookJson(decodeBase64(patch), "response.patch");
  if (operations === null) return object;
  if (!Array.isArray(operations)) throw wrongType("response.patch", "a list of operations");
  if (operations.length > MAX_OPERATIONS)
    throw new WebhookError("answer", `response.patch has more than ${MAX_OPERATIONS} operations`);
  return sameObject(applyPatch(object, operations.flatMap(toStrictOperations)), object);
}

/** Standard base64 with padding. Node skips invalid characters, and the remaining text might still be a valid patch. */
function decodeBase64(text: string): Buffer {
  const compact = text.replaceAll(/[\r\n]/g, "");
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) throw wrongType("response.patch", "base64");
  return Buffer.from(compact, "base64");
}

/** Rewrites an operation to operations that fail where Karmada's library fails. */
function toStrictOperations(operation: Json, index: number): JsonObject[] {
  const place = `response.patch[${index}]`;
  if (!isObject(operation)) throw wrongType(place, "an operation");
  const { op, path, from } = operation;
  const needsValue = op === "add" || op === "replace";
  if (typeof path !== "string") throw wrongType(`${place}.path`, "a path");
  if (needsValue && !Object.hasOwn(operation, "value")) throw new WebhookError("answer", `${place}.value is missing`);
  if (needsValue && path === "") return [{ ...operation, op: "replace" }];
  switch (op) {
    case "replace":
      // By the standard, replace equals remove plus add, and removing a missing value fails.
      return isIndex(path)
        ? [operation]
        : [
            { op: "remove", path },
            { ...operation, op: "add" },
          ];
    case "copy":
      if (typeof from !== "string") throw wrongType(`${place}.from`, "a path");
      // Moving a value onto itself changes nothing, and fails if the value is missing.
      return isIndex(from) ? [operation] : [{ op: "move", from, path: from }, operation];
    case "add":
    case "remove":
    case "move":
    case "test":
      return [operation];
    default:
      throw new WebhookError("answer", `${place}.op is ${shown(op)}, which is not a JSON patch operation`);
  }
}

/** List items must exist in any case, and removing and re-adding one would move all that follow. */
const isIndex = (path: string): boolean => /\/-?\d+$/.test(path);

function applyPatch(object: AnyObject, operations: JsonObject[]): Json {
  try {
    return applyJsonPatch(object as unknown as Json, operations);
  } catch (error) {
    throw new WebhookError("answer", "response.patch cannot be applied to the object", { cause: error });
  }
}

function sameObject(patched: Json, object: AnyObject): AnyObject {
  const { metadata } = isObject(patched) ? patched : {};
  if (!isObject(patched) || !isObject(metadata))
    throw new WebhookError("answer", "response.patch does not result in an object");
  const identity: [field: string, before: string | undefined, after: Json | undefined][] = [
    ["apiVersion", object.apiVersion, patched["apiVersion"]],
    ["kind", object.kind, patched["kind"]],
    ["metadata.name", object.metadata.name, metadata["name"]],
    ["metadata.namespace", object.metadata.namespace, metadata["namespace"]],
  ];
  const changed = identity.find(([, before, after]) => before !== after);
  if (changed)
    throw new WebhookError("answer", `response.patch must not change ${changed[0]}, which identifies the object`);
  return patched as unknown as AnyObject;
}
