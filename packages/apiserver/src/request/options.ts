/** The query options of reads and writes, validated as kube-apiserver does. */
import { badRequest, field, invalid, parseGoDurationMs } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import { plainError } from "./context.ts";
import type { RequestContext } from "./context.ts";

export interface WriteOptions {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: "Strict" | "Warn" | "Ignore";
  force: boolean;
  /** The request is a patch, including apply; it is authorized with that verb. */
  isPatch?: boolean;
}

type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions";

const MAX_MANAGER_BYTES = 128;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export function writeOptions({ query, userAgent }: RequestContext, kind: OptionsKind, apply = false): WriteOptions {
  const errors: FieldError[] = [];
  const dryRun = query.getAll("dryRun");
  if (dryRun.some((value) => value !== "All")) errors.push(field.notSupported("dryRun", dryRun, ["All"]));
  const named = query.get("fieldManager") ?? "";
  if (Buffer.byteLength(named) > MAX_MANAGER_BYTES) errors.push(field.tooLong("fieldManager", MAX_MANAGER_BYTES));
  const unprintable = named.search(UNPRINTABLE);
  if (unprintable >= 0) {
    const code = (named.codePointAt(unprintable) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    errors.push(field.invalid("fieldManager", named, `invalid character U+${code} (at position ${unprintable})`));
  }
  const validation = query.get("fieldValidation") ?? "";
  if (!["", "Ignore", "Strict", "Warn"].includes(validation))
    errors.push(field.notSupported("fieldValidation", validation, ["", "Ignore", "Strict", "Warn"]));
  const force = query.get("force") === "true" || query.get("force") === "1";
  if (apply && named === "") errors.push(field.required("fieldManager", "is required for apply patch"));
  if (!apply && query.has("force") && kind === "PatchOptions")
    errors.push(field.forbidden("force", "may not be specified for non-apply patch"));
  if (errors.length > 0) throw invalid("meta.k8s.io", kind, "", errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: named || defaultManager(userAgent) || "unknown",
    fieldValidation: (validation || "Warn") as WriteOptions["fieldValidation"],
    force,
    isPatch: kind === "PatchOptions",
  };
}

/** The user agent up to its version: `kubectl/v1.36 (linux)` → `kubectl`. */
function defaultManager(userAgent: string): string {
  return userAgent.split("/", 1)[0]?.slice(0, MAX_MANAGER_BYTES) ?? "";
}

export interface ListQuery {
  labelSelector: string;
  fieldSelector: string;
  limit: number;
  continueToken: string;
  /** Undefined when not specified. */
  resourceVersion: number | undefined;
  match: "" | "Exact" | "NotOlderThan";
  sendInitialEvents: boolean | undefined;
  allowBookmarks: boolean;
  timeoutSeconds: number | undefined;
}

/** `watch` is true for any value, even an empty one, except `0` and `false`. */
export function asksForWatch(query: URLSearchParams): boolean {
  const value = query.get("watch");
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

export function listQuery(query: URLSearchParams, watch: boolean): ListQuery {
  const resourceVersion = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const continueToken = query.get("continue") ?? "";
  const initial = query.get("sendInitialEvents");
  const sendInitialEvents = initial === null ? undefined : initial !== "0" && initial.toLowerCase() !== "false";
  const errors = watch
    ? watchErrors(match, sendInitialEvents, continueToken)
    : listErrors(match, resourceVersion, sendInitialEvents, continueToken);
  if (errors.length > 0) throw invalid("meta.k8s.io", "ListOptions", "", errors);
  return {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    limit: integerOf(query.get("limit")) ?? 0,
    continueToken,
    resourceVersion: parseRevision(resourceVersion, watch ? "watch" : "list"),
    match: match as ListQuery["match"],
    sendInitialEvents,
    allowBookmarks: flagOf(query.get("allowWatchBookmarks")),
    timeoutSeconds: integerOf(query.get("timeoutSeconds")),
  };
}

function listErrors(
  match: string,
  resourceVersion: string,
  sendInitialEvents: boolean | undefined,
  continueToken: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (match !== "") {
    if (resourceVersion === "")
      errors.push(
        field.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"),
      );
    if (continueToken !== "")
      errors.push(
        field.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"),
      );
    if (match !== "Exact" && match !== "NotOlderThan")
      errors.push(field.notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]));
    if (match === "Exact" && resourceVersion === "0")
      errors.push(
        field.forbidden("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      );
  }
  if (sendInitialEvents !== undefined)
    errors.push(field.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  return errors;
}

function watchErrors(match: string, sendInitialEvents: boolean | undefined, continueToken: string): FieldError[] {
  const errors: FieldError[] = [];
  if (sendInitialEvents === undefined && match !== "")
    errors.push(
      field.forbidden(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    );
  if (sendInitialEvents !== undefined && match !== "NotOlderThan")
    errors.push(
      field.forbidden(
        "resourceVersionMatch",
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
      ),
    );
  if (match !== "" && match !== "NotOlderThan")
    errors.push(field.notSupported("resourceVersionMatch", match, ["NotOlderThan"]));
  if (continueToken !== "")
    errors.push(field.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
  return errors;
}

/**
 * Parses a resourceVersion from the query. An invalid one returns 400 on a list and 500 elsewhere, as in
 * kube-apiserver.
 */
export function parseRevision(text: string, verb: "list" | "watch" | "get"): number | undefined {
  if (text === "") return undefined;
  const problem = !/^\d+$/.test(text)
    ? "invalid syntax"
    : Number(text) > Number.MAX_SAFE_INTEGER
      ? "value out of range"
      : undefined;
  if (problem === undefined) return Number(text);
  const message = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${problem}`;
  throw verb === "list" ? badRequest(`invalid resource version: ${message}`) : plainError(message);
}

/** Parses an integer from the query. */
export function integerOf(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  const number = /^[-+]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw badRequest(
    `strconv.ParseInt: parsing ${JSON.stringify(text)}: ${Number.isNaN(number) ? "invalid syntax" : "value out of range"}`,
  );
}

/** True for any value, even an empty one, except `0` and `false`. */
export const flagOf = (text: string | null): boolean => text !== null && text !== "0" && text.toLowerCase() !== "false";

/** The timeout that the request specifies. The front end enforces the limit of `longestMs`. */
export function timeoutMsOf(query: URLSearchParams, longestMs: number): number | undefined {
  const timeout = query.get("timeout");
  if (timeout === null || timeout === "" || timeout === "0") return undefined;
  const givenMs = parseGoDurationMs(timeout);
  if (givenMs === undefined)
    throw badRequest(
      `invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(timeout)}`,
    );
  const totalMs = Math.abs(givenMs);
  return totalMs === 0 || totalMs >= longestMs ? undefined : totalMs;
}
