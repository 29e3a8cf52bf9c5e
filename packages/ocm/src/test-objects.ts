/** Objects for the tests of this folder. */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { AnyAdmission, ClusterReader, KubernetesObject, Review } from "@flotilla/apimachinery";
import { makeReview } from "../../apimachinery/src/kind/test-review.ts";

export function makeManifest(name: string, rest: JsonObject = {}): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "shop" }, ...rest };
}

interface Circumstances<T> {
  old?: T;
  /** The user's permissions, as `verb resource/subresource name`; unset means all. */
  rights?: readonly string[];
  read?: Partial<ClusterReader>;
}

/** A review for a user with the given permissions. */
function reviewBy<T extends KubernetesObject>(object: T, { old, rights, read }: Circumstances<T> = {}): Review<T> {
  const review = makeReview(object as DeepReadonly<T>, old as DeepReadonly<T> | undefined);
  return {
    ...review,
    allows: rights
      ? ({ verb, resource, subresource, name }) =>
          rights.includes(`${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`} ${name ?? ""}`)
      : review.allows,
    read: { ...review.read, ...read },
  };
}

/** The admitted object, or the message with which it is rejected. */
export function admitted<T extends KubernetesObject>(
  admissions: readonly AnyAdmission[],
  object: T,
  circumstances: Circumstances<T> = {},
): T | string {
  let result = object;
  try {
    for (const { mutate } of admissions) result = (mutate?.(reviewBy(result, circumstances)) ?? result) as T;
    const found = admissions.flatMap(({ validate }) => validate?.(reviewBy(result, circumstances)) ?? []);
    return found.length === 0 ? result : found.map(({ field, message }) => `${field}: ${message}`).join("; ");
  } catch (error) {
    return (error as Error).message.replace(/^admission webhook "[^"]*" denied the request: /, "");
  }
}

export function warningsBy<T extends KubernetesObject>(
  admissions: readonly AnyAdmission[],
  object: T,
  circumstances: Circumstances<T> = {},
): string[] {
  return admissions.flatMap(({ warnings }) => warnings?.(reviewBy(object, circumstances)) ?? []);
}
