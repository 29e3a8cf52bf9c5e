import type { PlaintextOverrider } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { DeepReadonly, Json } from "@flotilla/base";
import { patchAt } from "../json-pointer.ts";

/** Adds, removes and replaces at any path, in order. */
export function overridePlaintext(object: Json, overriders: DeepReadonly<PlaintextOverrider[]>): Json {
  return overriders.reduce(
    (result, { operator, path, value }) => patchAt(result, operator, path, value as Json | undefined),
    object,
  );
}
