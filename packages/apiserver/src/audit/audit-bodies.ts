/**
 * Bodies in the audit log. Tokens are never recorded, whatever the policy asks for: not the token of a TokenRequest or
 * TokenReview, not those in Secrets. Pure.
 */
import { LAST_APPLIED_ANNOTATION } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";

/** Keys of Secrets that hold a token of a service account, or of a bootstrap token. */
const TOKEN_KEYS = ["token", "token-secret"];
/** Pointers of JSON patches whose value is a token or contains one. */
const TOKEN_REQUEST: ReadonlySet<string> = new Set(["", "/status", "/status/token"]);
const TOKEN_REVIEW: ReadonlySet<string> = new Set(["", "/spec", "/spec/token"]);
const SECRET: ReadonlySet<string> = new Set([
  ...["/data", "/stringData"].flatMap((part) => [part, ...TOKEN_KEYS.map((key) => `${part}/${key}`)]),
  "",
  "/metadata",
  "/metadata/annotations",
]);

export interface BodyRules {
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly group: string;
  readonly omitManagedFields: boolean;
}

/** The body as it is recorded. */
export function recordedBody(body: DeepReadonly<Json>, rules: BodyRules): Json {
  const { group, resource, subresource, omitManagedFields } = rules;
  let value = body as Json;
  if (group === "" && resource === "serviceaccounts" && subresource === "token")
    value = Array.isArray(value) ? patchWithout(value, TOKEN_REQUEST) : without(value, "status", ["token"]);
  else if (group === "authentication.k8s.io" && resource === "tokenreviews")
    value = Array.isArray(value) ? patchWithout(value, TOKEN_REVIEW) : without(value, "spec", ["token"]);
  else if (group === "" && resource === "secrets")
    value = Array.isArray(value) ? patchWithout(value, SECRET) : eachObject(value, withoutTokens);
  return omitManagedFields ? eachObject(value, withoutManagedFields) : value;
}

/** The items of a list, or the object. */
function eachObject(value: Json, change: (object: Json) => Json): Json {
  if (!isObject(value) || !Array.isArray(value.items)) return change(value);
  return { ...value, items: value.items.map((item) => change(item)) };
}

function withoutTokens(value: Json): Json {
  const bare = without(without(value, "data", TOKEN_KEYS), "stringData", TOKEN_KEYS);
  if (!isObject(bare) || !isObject(bare.metadata)) return bare;
  return { ...bare, metadata: without(bare.metadata, "annotations", [LAST_APPLIED_ANNOTATION]) };
}

/** A JSON patch without the values at these pointers, which may hold a token. */
function patchWithout(operations: readonly Json[], pointers: ReadonlySet<string>): Json {
  return operations.map((operation) => {
    if (!isObject(operation) || !("value" in operation)) return operation;
    const { value: _token, ...rest } = operation;
    return typeof rest.path === "string" && !pointers.has(wholeAnnotations(rest.path)) ? operation : rest;
  });
}

/** An annotation may hold what was applied last. */
const wholeAnnotations = (pointer: string): string =>
  pointer.startsWith("/metadata/annotations") ? "/metadata/annotations" : pointer;

const withoutManagedFields = (value: Json): Json => without(value, "metadata", ["managedFields"]);

function without(value: Json, part: string, keys: readonly string[]): Json {
  if (!isObject(value)) return value;
  const inner = value[part];
  if (!isObject(inner) || !keys.some((key) => key in inner)) return value;
  const rest: JsonObject = { ...inner };
  for (const key of keys) delete rest[key];
  return { ...value, [part]: rest };
}
