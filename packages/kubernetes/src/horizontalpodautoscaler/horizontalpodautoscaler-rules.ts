/** Defaults and validation of HorizontalPodAutoscaler. */
import { defined } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { builtInAdmission, checkNotNegative } from "@flotilla/apimachinery";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import { toV1, toV2 } from "./hpa-conversion.ts";
import { defaultAutoscaler } from "./hpa-defaults.ts";
import { checkAutoscaler } from "./hpa-validation.ts";
import { HorizontalPodAutoscaler, toStored } from "./horizontalpodautoscaler-kind.ts";

type Autoscaler = DeepReadonly<HorizontalPodAutoscaler>;

function complete(
  object: Autoscaler,
  { version, object: sent, oldObject }: Review<HorizontalPodAutoscaler>,
): Autoscaler {
  if (version !== "v1") return defaultAutoscaler(object, sent);
  // Computed in the stored form, which reads the annotations that carry the remaining fields. The status annotations
  // describe the observed state, not the desired one.
  const { status: _, ...stored } = toStored(object as unknown as JsonObject);
  const status = oldObject && toV2(oldObject as unknown as JsonObject).status;
  const completed = toV1({ ...stored, ...defined({ status }) }) as unknown as Autoscaler;
  const unknown = Object.entries(object.spec).filter(([key]) => !V1_FIELDS.has(key));
  return unknown.length === 0
    ? completed
    : { ...completed, spec: { ...Object.fromEntries(unknown), ...completed.spec } };
}

/** The stored form has no place for other fields, which field validation has to find. */
const V1_FIELDS = new Set(["scaleTargetRef", "minReplicas", "maxReplicas", "targetCPUUtilizationPercentage"]);

const stored = (object: Autoscaler, version: string): Autoscaler =>
  version === "v1" ? (toStored(object as unknown as JsonObject) as unknown as Autoscaler) : object;

export const rules: AnyAdmission[] = [
  builtInAdmission(
    HorizontalPodAutoscaler,
    { v1: "autoscaling-v1", v2: "autoscaling-v2" },
    {
      complete,
      validate: ({ version, object, oldObject }) =>
        checkAutoscaler(stored(object, version).spec, oldObject && stored(oldObject, version).spec),
      validateStatus: ({ object: { status } }) => [
        ...checkNotNegative("status.currentReplicas", status?.currentReplicas),
        ...checkNotNegative("status.desiredReplicas", status?.desiredReplicas),
      ],
    },
  ),
];
