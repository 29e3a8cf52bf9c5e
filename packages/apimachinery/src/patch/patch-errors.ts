/** Patch failures, with the codes of a real API server (some are 500 without a reason, which clients see). */
import { isObject, type Json } from "@flotilla/base";
import { ApiError } from "../status.ts";

/** A well-formed patch that does not fit the object: 422 with the generic message. */
export function patchRejected(): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "the server rejected our request due to an error in our request",
    reason: "Invalid",
    details: {},
    code: 422,
  });
}

/** A failure inside the merge: 500 without a reason. */
export function patchFailed(message: string): ApiError {
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 });
}

/** The message includes the patch, which may be megabytes; this much is enough to recognize it. */
const SHOWN_PATCH = 4096;

/** A patch whose result is not an object of the kind: 422 for the field `patch`. `shown` is the patch or its result. */
export function patchInvalid(shown: string, why: string): ApiError {
  const message = `Invalid value: ${JSON.stringify(shown.slice(0, SHOWN_PATCH))}: ${why}`;
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: ` "" is invalid: patch: ${message}`,
    reason: "Invalid",
    details: { causes: [{ reason: "FieldValueInvalid", message, field: "patch" }] },
    code: 422,
  });
}

/** The JSON type name in Go's decoding errors. */
export function jsonTypeName(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Go's type name of a decoded value. */
export function goTypeName(value: Json | undefined): string {
  if (value === undefined || value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}

const KINDS: Readonly<Record<string, string>> = { object: "map", array: "slice", number: "int64" };

/**
 * A decoding error in the wording of Go's map conversion, which strategic merges and applied configurations use instead
 * of text: `cannot restore slice from map`.
 */
export function conversionProblem(problem: string): string {
  const match = /^json: cannot unmarshal (\w+)(?: (\S+))? into Go struct field \S+ of type (.*)$/.exec(problem);
  if (!match) return problem.startsWith("illegal base64 data") ? `error decoding from json: ${problem}` : problem;
  const [, type = "", number = "", target = ""] = match;
  const from = number.includes(".") ? "float64" : (KINDS[type] ?? type);
  if (target.startsWith("[]")) return `cannot restore slice from ${from}`;
  if (target.startsWith("map[")) return `cannot restore map from ${from}`;
  if (target.includes(".")) return `cannot restore struct from: ${from}`;
  return from === "map" || from === "slice" ? `unrecognized type: ${target}` : `cannot convert ${from} to ${target}`;
}

/** The format of maps and lists in the real server's messages: `map[a:1 b:[x y]]`. */
export function formatGo(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(formatGo).join(" ")}]`;
  if (!isObject(value)) return String(value);
  return `map[${Object.keys(value)
    .sort()
    .map((key) => `${key}:${formatGo(value[key] as Json)}`)
    .join(" ")}]`;
}
