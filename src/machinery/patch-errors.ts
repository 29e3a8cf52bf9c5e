/** The failures of patches, with the codes that a real API server gives (some are 500 without a reason, and clients see that). */
import { isObject, type Json } from "../base/index.ts";
import { ApiError } from "./status.ts";

/** A patch that is well formed but does not fit the object: 422 with the generic text. */
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

/** The message shows the patch, which may be megabytes; this much is enough to recognise it. */
const SHOWN_PATCH = 4096;

/** A patch of the wrong shape: 422 about the field `patch`. */
export function patchInvalid(patch: Json, why: string): ApiError {
  const message = `Invalid value: ${JSON.stringify(formatGo(patch).slice(0, SHOWN_PATCH))}: ${why}`;
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

/** What JSON calls the value in Go's decoding errors. */
export function jsonTypeName(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** The form in which messages of the real server show maps and lists: `map[a:1 b:[x y]]`. */
export function formatGo(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(formatGo).join(" ")}]`;
  if (!isObject(value)) return String(value);
  return `map[${Object.keys(value)
    .sort()
    .map((key) => `${key}:${formatGo(value[key] as Json)}`)
    .join(" ")}]`;
}
