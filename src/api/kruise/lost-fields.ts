/**
 * What an object says that another version of its kind has no words for. OpenKruise's own conversions drop it; whoever
 * converts an object to hand it to a member must not, because the member would run something else than was asked for.
 */
import { isObject, type JsonObject } from "../../base/index.ts";

/** By kind: fields of v1beta1 that v1alpha1 does not have, neither as a field nor as an annotation. */
const ONLY_IN_BETA: Readonly<Record<string, readonly string[]>> = {
  CloneSet: ["spec.scaleStrategy.excludePreparingDelete"],
  PodUnavailableBudget: ["spec.ignoredPodSelector"],
  StatefulSet: [
    "spec.lifecycle",
    "spec.ordinals",
    "spec.persistentVolumeClaimRetentionPolicy",
    "spec.reserveOrdinals",
    "spec.scaleStrategy",
    "spec.volumeClaimUpdateStrategy",
  ],
  UnitedDeployment: ["spec.template.cloneSetTemplate.spec.scaleStrategy.excludePreparingDelete"],
};

/** Of an update that waits for pods to be deleted v1beta1 says nothing more. */
const ROLLING = [
  "partition",
  "maxUnavailable",
  "maxSurge",
  "paused",
  "priorityStrategy",
  "scatterStrategy",
  "inPlaceUpdateStrategy",
].map((field) => `spec.updateStrategy.${field}`);

/**
 * The paths of fields that are set and have no place in `version`; `object` is of one of OpenKruise's kinds in another
 * version.
 */
export function fieldsLostIn(version: string, object: JsonObject): string[] {
  const { kind } = object;
  if (typeof kind !== "string") return [];
  if (version === "v1alpha1")
    return (Object.hasOwn(ONLY_IN_BETA, kind) ? (ONLY_IN_BETA[kind] ?? []) : []).filter((path) =>
      isSet(valueAt(object, path)),
    );
  return kind === "CloneSet" && valueAt(object, "spec.updateStrategy.type") === "OnDelete"
    ? ROLLING.filter((path) => isSet(valueAt(object, path)))
    : [];
}

function valueAt(object: JsonObject, path: string): unknown {
  let value: unknown = object;
  for (const field of path.split(".")) value = isObject(value) ? value[field] : undefined;
  return value;
}

/** What is empty, or off, says nothing. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === "") return false;
  return typeof value !== "object" || Object.values(value).some(isSet);
}
