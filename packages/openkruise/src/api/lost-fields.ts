/**
 * Finds fields of an object that another version of its kind lacks. OpenKruise's own conversions drop them; an object
 * converted for a member must not lose them, because the member would run something other than requested.
 */
import { isObject, type JsonObject } from "@flotilla/base";

/** By kind: v1beta1 fields that v1alpha1 has neither as a field nor as an annotation. */
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

/** With OnDelete, v1beta1 has no rolling update fields. */
const ROLLING = [
  "partition",
  "maxUnavailable",
  "maxSurge",
  "paused",
  "priorityStrategy",
  "scatterStrategy",
  "inPlaceUpdateStrategy",
].map((field) => `spec.updateStrategy.${field}`);

/** The paths of set fields that `version` lacks; `object` is of an OpenKruise kind in another version. */
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

/** Empty and false values count as unset. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === "") return false;
  return typeof value !== "object" || Object.values(value).some(isSet);
}
