/** The part of a member's object that a manifest is about. Pure. */
import { isObject } from "@flotilla/base";

/** Members add defaults and a status. */
export function projectOn(manifest: unknown, observed: unknown): unknown {
  if (Array.isArray(manifest) && Array.isArray(observed)) {
    const named = new Map(observed.flatMap((item) => (isObject(item) ? [[item["name"], item] as const] : [])));
    const isNamed = manifest.every((item) => isObject(item) && typeof item["name"] === "string");
    if (isNamed && named.size === observed.length)
      return observed.map((item: Record<string, unknown>) =>
        projectOn(manifest.find((other: Record<string, unknown>) => other["name"] === item["name"]) ?? item, item),
      );
    return manifest.length === observed.length
      ? manifest.map((item, index) => projectOn(item, observed[index]))
      : observed;
  }
  if (!isObject(manifest) || !isObject(observed)) return observed;
  return Object.fromEntries(
    Object.keys(manifest)
      .filter((key) => Object.hasOwn(observed, key))
      .map((key) => [key, projectOn(manifest[key], observed[key])]),
  );
}
