/** The JSON patch that turns one document into another. Lists are replaced as a whole. Pure. */
import { equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";

export type JsonPatchOperation =
  | { op: "add" | "replace"; path: string; value: DeepReadonly<Json> }
  | { op: "remove"; path: string };

export function jsonPatchBetween(
  before: DeepReadonly<JsonObject>,
  after: DeepReadonly<JsonObject>,
  path = "",
): JsonPatchOperation[] {
  const at = (key: string): string => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const removed = Object.keys(before)
    .filter((key) => after[key] === undefined)
    .map((key): JsonPatchOperation => ({ op: "remove", path: at(key) }));
  return [
    ...removed,
    ...Object.entries(after).flatMap(([key, value]): JsonPatchOperation[] => {
      const old = before[key];
      if (value === undefined || (old !== undefined && (old === value || equalJson(old, value)))) return [];
      if (isObject(old) && isObject(value)) return jsonPatchBetween(old, value, at(key));
      return [{ op: old === undefined ? "add" : "replace", path: at(key), value }];
    }),
  ];
}
