/** How many pods a copy lets a release reach, by its partition, pause, strategy and replicas. Pure. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { letThrough } from "@flotilla/openkruise";

type Copy = DeepReadonly<KubernetesObject>;

/** Fields that limit a release, with the ones that decide how many pods it reaches first. */
export const RELEASE_LIMITS: readonly (readonly string[])[] = [
  ["updateStrategy", "rollingUpdate", "partition"],
  ["updateStrategy", "partition"],
  ["updateStrategy", "manualUpdate", "partitions"],
  ["updateStrategy", "rollingUpdate", "paused"],
  ["updateStrategy", "paused"],
  ["paused"],
  ["updateStrategy", "type"],
  ["replicas"],
];
/** Stands for the pods of a kind whose copies do not say how many there are, such as a DaemonSet. */
const NOMINAL_PODS = 100;

/**
 * The limit that a user's ReviseReplica takes away from a copy of `template`, so that a release reaches pods that the
 * template keeps back; undefined if it keeps all.
 */
export function removedLimit(template: Copy, copy: Copy): string | undefined {
  const [asked, given] = [specOf(template), specOf(copy)];
  if (reachedPods(asked) >= podsOf(asked)) return undefined;
  const path = RELEASE_LIMITS.find(
    (each) =>
      each[0] !== "replicas" &&
      !equalJson(valueAt(asked, each), valueAt(given, each)) &&
      valueAt(given, each) === undefined,
  );
  // A copy of no more pods than the template lets through needs no limit.
  return path && reachedPods(given) === podsOf(given) && podsOf(given) > 0 ? `spec.${path.join(".")}` : undefined;
}

export const specOf = (object: Copy): JsonObject => {
  const { spec } = object as { spec?: unknown };
  return isObject(spec) ? spec : {};
};

export function valueAt(spec: JsonObject, path: readonly string[]): Json | undefined {
  let value: unknown = spec;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value as Json | undefined;
}

export const podsOf = ({ replicas }: JsonObject): number => (typeof replicas === "number" ? replicas : NOMINAL_PODS);

/** The pods that get the copy's pod template. */
export function reachedPods(spec: JsonObject): number {
  const at = (...path: string[]): Json | undefined => valueAt(spec, path);
  const isPaused = [at("updateStrategy", "rollingUpdate", "paused"), at("updateStrategy", "paused"), at("paused")];
  if (isPaused.includes(true) || at("updateStrategy", "type") === "OnDelete") return 0;
  const pods = podsOf(spec);
  const subsets = at("updateStrategy", "manualUpdate", "partitions");
  if (isObject(subsets)) {
    const kept = Object.values(subsets).reduce<number>((sum, each) => sum + (typeof each === "number" ? each : 0), 0);
    return Math.max(0, pods - kept);
  }
  const partition = at("updateStrategy", "rollingUpdate", "partition") ?? at("updateStrategy", "partition");
  return letThrough(typeof partition === "number" || typeof partition === "string" ? partition : undefined, pods);
}
