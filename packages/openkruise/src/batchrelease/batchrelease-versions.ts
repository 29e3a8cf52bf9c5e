/** Converts BatchRelease between v1alpha1 and v1beta1: the reference to the workload is nested in v1alpha1. */
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { changeObject, objectAt, withMap, without } from "../api/conversion.ts";
import { annotationOf, ROLLING_STYLE } from "../released-workload/rollout-names.ts";

const STYLES: Readonly<Record<string, string>> = { partition: "Partition", canary: "Canary", bluegreen: "BlueGreen" };

export function toStorage(object: JsonObject): JsonObject {
  const style = STYLES[annotationOf(object, ROLLING_STYLE)?.toLowerCase() ?? ""];
  return changeObject(
    { ...object, apiVersion: "rollouts.kruise.io/v1beta1" },
    "spec",
    ({ targetReference, ...rest }) => {
      const workloadRef = isObject(targetReference) ? targetReference["workloadRef"] : undefined;
      const beta = workloadRef === undefined ? rest : { ...rest, workloadRef };
      return style === undefined
        ? beta
        : changeObject(beta, "releasePlan", (plan) => ({ ...plan, rollingStyle: style }));
    },
  );
}

export function fromStorage(object: JsonObject): JsonObject {
  const style = objectAt(objectAt(object, "spec"), "releasePlan")["rollingStyle"];
  const annotated =
    typeof style === "string" &&
    style !== "" &&
    annotationOf(object, ROLLING_STYLE)?.toLowerCase() !== style.toLowerCase()
      ? withMap(object, "annotations", { [ROLLING_STYLE]: style.toLowerCase() })
      : object;
  const converted = changeObject(
    { ...annotated, apiVersion: "rollouts.kruise.io/v1alpha1" },
    "spec",
    ({ workloadRef, ...rest }) => (workloadRef === undefined ? rest : { ...rest, targetReference: { workloadRef } }),
  );
  return changeObject(converted, "status", (status) => without(status, "message"));
}
