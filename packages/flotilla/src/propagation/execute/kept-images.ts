/**
 * Finds the images that a user's Retain rule keeps from the member: pods there do not run the version of the template.
 * Other fields that a rule keeps, such as the requests that an autoscaler set, are a member's own part of that version.
 * Pure.
 */
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";

type Copy = DeepReadonly<KubernetesObject>;

const MAX_NAMED = 3;

/** `c is d:2 instead of d:3`; undefined if every container gets the image of the copy. */
export function keptImages(asked: Copy, retained: Copy): string | undefined {
  if (asked === retained) return undefined;
  const [want, kept] = [imagesOf(asked), imagesOf(retained)];
  const other = [...want].filter(([name, image]) => kept.has(name) && kept.get(name) !== image);
  if (other.length === 0) return undefined;
  const named = other.slice(0, MAX_NAMED).map(([name, image]) => `${name} is ${kept.get(name)} instead of ${image}`);
  return `${named.join(", ")}${other.length > MAX_NAMED ? ` and ${other.length - MAX_NAMED} more` : ""}`;
}

function imagesOf(copy: Copy): ReadonlyMap<string, string> {
  const podSpec = partOf(partOf(partOf(copy, "spec"), "template"), "spec");
  const containers = [podSpec["initContainers"], podSpec["containers"]].flatMap((list) =>
    Array.isArray(list) ? list.filter(isObject) : [],
  );
  return new Map(
    containers.flatMap(({ name, image }) =>
      typeof name === "string" && typeof image === "string" ? [[name, image] as const] : [],
    ),
  );
}

function partOf(object: object, name: string): JsonObject {
  const part = (object as Readonly<Record<string, unknown>>)[name];
  return isObject(part) ? part : {};
}
