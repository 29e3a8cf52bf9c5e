import type { PlaintextOverrider } from "../../../api/index.ts";
import type { DeepReadonly, Json } from "../../../base/index.ts";
import { patchAt } from "../json-pointer.ts";

/** Adds, removes and replaces at any path, in order. */
export function overridePlaintext(object: Json, overriders: DeepReadonly<PlaintextOverrider[]>): Json {
  return overriders.reduce(
    (result, { operator, path, value }) => patchAt(result, operator, path, value as Json | undefined),
    object,
  );
}
