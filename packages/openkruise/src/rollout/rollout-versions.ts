/**
 * Converts Rollout between v1alpha1 and v1beta1. The style and the TrafficRouting are annotations in v1alpha1 and fields
 * in v1beta1; weights are percentages in v1beta1. v1alpha1 has no blue-green strategy.
 */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { changeObject, objectAt, withMap, without } from "../api/conversion.ts";
import { annotationOf, ROLLING_STYLE, TRAFFIC_ROUTING } from "../released-workload/rollout-names.ts";

const GROUP = "rollouts.kruise.io";
/** Only v1beta1 reports the step beside the status of the strategy as well. */
const CURRENT_STEP = ["currentStepIndex", "currentStepState"] as const;

export function toStorage(object: JsonObject): JsonObject {
  const style = annotationOf(object, ROLLING_STYLE);
  const routing = annotationOf(object, TRAFFIC_ROUTING);
  const converted = changeObject({ ...object, apiVersion: `${GROUP}/v1beta1` }, "spec", (spec) => {
    const { objectRef, rolloutID: _deprecated, ...rest } = spec;
    const workloadRef = isObject(objectRef) ? objectRef["workloadRef"] : undefined;
    const beta = workloadRef === undefined ? rest : { ...rest, workloadRef };
    return changeObject(beta, "strategy", (strategy) =>
      changeObject(strategy, "canary", (canary) => {
        const steps = canary["steps"];
        const next: JsonObject = Array.isArray(steps) ? { ...canary, steps: steps.map(stepToBeta) } : { ...canary };
        if (style?.toLowerCase() !== "partition") next["enableExtraWorkloadForCanary"] = true;
        if (routing !== undefined) next["trafficRoutingRef"] = routing;
        return next;
      }),
    );
  });
  return changeObject(converted, "status", (status) => {
    const canary = objectAt(status, "canaryStatus");
    return {
      ...status,
      currentStepIndex: canary["currentStepIndex"] ?? 0,
      currentStepState: canary["currentStepState"] ?? "",
    };
  });
}

export function fromStorage(object: JsonObject): JsonObject {
  const spec = objectAt(object, "spec");
  const canary = objectAt(spec, "strategy")["canary"];
  const changes: Record<string, string | undefined> = {};
  if (isObject(canary)) {
    const before = annotationOf(object, ROLLING_STYLE);
    const isPartition = canary["enableExtraWorkloadForCanary"] !== true;
    // A style that says the same stays as it was written.
    if (isPartition !== (before?.toLowerCase() === "partition"))
      changes[ROLLING_STYLE] = isPartition ? "partition" : "canary";
    const routing = canary["trafficRoutingRef"];
    if (typeof routing === "string" && routing !== "") changes[TRAFFIC_ROUTING] = routing;
  }
  const converted = changeObject(
    { ...withMap(object, "annotations", changes), apiVersion: `${GROUP}/v1alpha1` },
    "spec",
    ({ workloadRef, ...rest }) => {
      const alpha = workloadRef === undefined ? rest : { ...rest, objectRef: { workloadRef } };
      return changeObject(alpha, "strategy", (strategy) =>
        changeObject(without(strategy, "blueGreen"), "canary", (fields) => {
          const kept = without(fields, "enableExtraWorkloadForCanary", "trafficRoutingRef");
          const steps = kept["steps"];
          return Array.isArray(steps) ? { ...kept, steps: steps.map(stepToAlpha) } : kept;
        }),
      );
    },
  );
  return changeObject(converted, "status", (status) => without(status, "blueGreenStatus", ...CURRENT_STEP));
}

function stepToBeta(step: Json): Json {
  if (!isObject(step)) return step;
  const { weight, ...rest } = step;
  if (typeof weight !== "number") return step;
  const percent = `${weight}%`;
  return rest["replicas"] === undefined
    ? { ...rest, replicas: percent, traffic: percent }
    : { ...rest, traffic: percent };
}

function stepToAlpha(step: Json): Json {
  if (!isObject(step)) return step;
  const { traffic, matches, ...rest } = step;
  const weight = typeof traffic === "string" && /^\d{1,3}%$/.test(traffic) ? Number(traffic.slice(0, -1)) : undefined;
  const alpha: JsonObject = weight === undefined ? rest : { ...rest, weight };
  if (Array.isArray(matches))
    alpha["matches"] = matches.map((match) => (isObject(match) ? without(match, "path", "queryParams") : match));
  return alpha;
}

/** Of an object of v1beta1: what v1alpha1 has neither as a field nor as an annotation. */
export function rolloutFieldsMissingIn(version: string, object: JsonObject): readonly string[] {
  if (version !== "v1alpha1") return [];
  const strategy = objectAt(objectAt(object, "spec"), "strategy");
  const steps = objectAt(strategy, "canary")["steps"];
  const isMatched = (Array.isArray(steps) ? steps : []).some(
    (step) =>
      isObject(step) &&
      Array.isArray(step["matches"]) &&
      step["matches"].some((match) => isObject(match) && (match["path"] ?? match["queryParams"]) !== undefined),
  );
  return [
    ...(isObject(strategy["blueGreen"]) ? ["spec.strategy.blueGreen"] : []),
    ...(isMatched ? ["spec.strategy.canary.steps"] : []),
  ];
}
