/** The metadata of an object of any kind. */
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";

export function metadataOf(object: JsonObject): JsonObject {
  return isObject(object.metadata) ? object.metadata : {};
}

export function finalizersOf(metadata: JsonObject): string[] {
  return Array.isArray(metadata.finalizers) ? (metadata.finalizers as string[]) : [];
}
