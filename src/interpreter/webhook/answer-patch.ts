/**
 * The patch of an answer to ReviseReplica, Retain or AggregateStatus. It may change what an object says, but not which
 * object it is.
 *
 * Karmada applies it with a newer library than the one that API servers have: to replace or to copy what is not there
 * is an error, and to add the whole document is to replace it. Operations are put into words that mean this to ours.
 */
import { isObject } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import { applyJsonPatch } from "../../machinery/index.ts";
import type { AnyObject } from "../interpreter.ts";
import { textOf, wrongType } from "./answer-fields.ts";
import { parseJson, shown } from "./context.ts";
import { WebhookError } from "./webhook-error.ts";

/** An operation may move the whole of a long list, so that more of them could keep the hub busy for seconds. */
const MAX_OPERATIONS = 1000;

/**
 * The object as the answer's patch makes it; the object itself when the answer has none. Shares with it what stays the
 * same.
 */
export function readPatched(response: JsonObject, object: AnyObject): AnyObject {
  const patch = textOf(response, "patch", "response") ?? "";
  const patchType = textOf(response, "patchType", "response");
  if (patch === "" && patchType === undefined) return object;
  if (patchType !== "JSONPatch") throw wrongType("response.patchType", "JSONPatch");
  if (patch === "") throw new WebhookError("answer", "response.patch is missing");
  const operations = parseJson(decodeBase64(patch), "response.patch");
  if (operations === null) return object;
  if (!Array.isArray(operations)) throw wrongType("response.patch", "a list of operations");
  if (operations.length > MAX_OPERATIONS)
    throw new WebhookError("answer", `response.patch has more than ${MAX_OPERATIONS} operations`);
  return sameObject(applyPatch(object, operations.flatMap(strictly)), object);
}

/**
 * Standard base64 with its padding. Node would pass over what is none, and a patch with a hole in it may still be a
 * patch.
 */
function decodeBase64(text: string): Buffer {
  const compact = text.replaceAll(/[\r\n]/g, "");
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) throw wrongType("response.patch", "base64");
  return Buffer.from(compact, "base64");
}

/** The operation as others that fail where it has to. */
function strictly(operation: Json, index: number): JsonObject[] {
  const place = `response.patch[${index}]`;
  if (!isObject(operation)) throw wrongType(place, "an operation");
  const { op, path, from } = operation;
  const needsValue = op === "add" || op === "replace";
  if (typeof path !== "string") throw wrongType(`${place}.path`, "a path");
  if (needsValue && !Object.hasOwn(operation, "value")) throw new WebhookError("answer", `${place}.value is missing`);
  if (needsValue && path === "") return [{ ...operation, op: "replace" }];
  switch (op) {
    case "replace":
      // By the standard the two are the same, and to remove what is not there fails.
      return isIndex(path)
        ? [operation]
        : [
            { op: "remove", path },
            { ...operation, op: "add" },
          ];
    case "copy":
      if (typeof from !== "string") throw wrongType(`${place}.from`, "a path");
      // To move something to where it is changes nothing, and fails when it is not there.
      return isIndex(from) ? [operation] : [{ op: "move", from, path: from }, operation];
    case "add":
    case "remove":
    case "move":
    case "test":
      return [operation];
    default:
      throw new WebhookError("answer", `${place}.op is ${shown(op)}, which is no operation`);
  }
}

/** Items of a list have to be there in any case, and to take one out and put it back moves all that follow. */
const isIndex = (path: string): boolean => /\/-?\d+$/.test(path);

function applyPatch(object: AnyObject, operations: JsonObject[]): Json {
  try {
    return applyJsonPatch(object as unknown as Json, operations);
  } catch (error) {
    throw new WebhookError("answer", "response.patch does not fit the object", { cause: error });
  }
}

function sameObject(patched: Json, object: AnyObject): AnyObject {
  const { metadata } = isObject(patched) ? patched : {};
  if (!isObject(patched) || !isObject(metadata)) throw new WebhookError("answer", "response.patch leaves no object");
  const identity: [field: string, before: string | undefined, after: Json | undefined][] = [
    ["apiVersion", object.apiVersion, patched["apiVersion"]],
    ["kind", object.kind, patched["kind"]],
    ["metadata.name", object.metadata.name, metadata["name"]],
    ["metadata.namespace", object.metadata.namespace, metadata["namespace"]],
  ];
  const changed = identity.find(([, before, after]) => before !== after);
  if (changed) throw new WebhookError("answer", `response.patch changes ${changed[0]}, and so which object it is`);
  return patched as unknown as AnyObject;
}
