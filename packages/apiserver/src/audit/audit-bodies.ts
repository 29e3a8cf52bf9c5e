/**
 * Bodies in the audit log. Tokens are never recorded, whatever the policy asks for: not the token of a TokenRequest or
 * TokenReview, not those in Secrets. Pure.
 */
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** Keys of Secrets that hold a token of a service account, or of a bootstrap token. */
const TOKEN_KEYS = ["token", "token-secret"];
const TOKEN_POINTERS = new Set([
  ...TOKEN_KEYS.flatMap((key) => [`/data/${key}`, `/stringData/${key}`]),
  "/data",
  "/stringData",
  "",
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
    value = without(value, "status", ["token"]);
  else if (group === "authentication.k8s.io" && resource === "tokenreviews") value = without(value, "spec", ["token"]);
  else if (group === "" && resource === "secrets") value = eachObject(value, withoutTokens);
  return omitManagedFields ? eachObject(value, withoutManagedFields) : value;
}

const mayHoldToken = (pointer: Json | undefined): boolean =>
  typeof pointer !== "string" ||
  TOKEN_POINTERS.has(pointer) ||
  pointer === "/metadata" ||
  pointer.startsWith("/metadata/annotations");

/** The items of a list, or the object. */
function eachObject(value: Json, change: (object: Json) => Json): Json {
  if (!isObject(value) || !Array.isArray(value.items)) return change(value);
  return { ...value, items: value.items.map((item) => change(item)) };
}

function withoutTokens(value: Json): Json {
  // A JSON patch.
  if (Array.isArray(value))
    return value.map((operation) => {
      if (!isObject(operation) || !("value" in operation) || !mayHoldToken(operation.path)) return operation;
      const { value: _token, ...rest } = operation;
      return rest;
    });
  const bare = without(without(value, "data", TOKEN_KEYS), "stringData", TOKEN_KEYS);
  if (!isObject(bare) || !isObject(bare.metadata)) return bare;
  return { ...bare, metadata: without(bare.metadata, "annotations", [LAST_APPLIED]) };
}

const withoutManagedFields = (value: Json): Json => without(value, "metadata", ["managedFields"]);

function without(value: Json, part: string, keys: readonly string[]): Json {
  if (!isObject(value)) return value;
  const inner = value[part];
  if (!isObject(inner) || !keys.some((key) => key in inner)) return value;
  const rest: JsonObject = { ...inner };
  for (const key of keys) delete rest[key];
  return { ...value, [part]: rest };
}
