/** Defaults of HorizontalPodAutoscaler `v2`. */
import { defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { HPAScalingRules, HorizontalPodAutoscaler } from "@flotilla/apimachinery/facts/autoscaling-v2.ts";
import { change, fill } from "@flotilla/apimachinery";
import { DEFAULT_CPU_UTILIZATION, cpuMetric, withCarried } from "./hpa-conversion.ts";

type Autoscaler = DeepReadonly<HorizontalPodAutoscaler>;

const PERIOD = { periodSeconds: 15 };
const UP: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, ...PERIOD },
    { type: "Percent", value: 100, ...PERIOD },
  ],
};
/** The stabilization window for scaling down is a flag of the controller, so it stays unset. */
const DOWN: HPAScalingRules = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, ...PERIOD }] };

/**
 * Defaults scaling rules. An empty list of policies, which the canonical form drops, is an error and does not request
 * the default policies.
 */
function completeRules(
  rules: DeepReadonly<HPAScalingRules> | undefined,
  sent: DeepReadonly<HPAScalingRules> | undefined,
  defaults: HPAScalingRules,
): DeepReadonly<HPAScalingRules> {
  return {
    ...defaults,
    ...defined({ policies: Array.isArray(sent?.policies) && sent.policies.length === 0 ? [] : undefined }),
    ...rules,
  };
}

/** `sent` is the object before conversion to its canonical form. */
export function defaultAutoscaler(object: Autoscaler, sent: Autoscaler = object): Autoscaler {
  const completed = change(object, "spec", (spec) => {
    const filled = fill(spec, { minReplicas: 1, metrics: [cpuMetric(DEFAULT_CPU_UTILIZATION)] });
    return change(filled, "behavior", ({ scaleUp, scaleDown }) => {
      const { behavior } = sent.spec;
      return {
        scaleUp: completeRules(scaleUp, behavior?.scaleUp, UP),
        scaleDown: completeRules(scaleDown, behavior?.scaleDown, DOWN),
      };
    });
  });
  const metadata = withCarried(completed.metadata);
  return metadata === completed.metadata ? completed : { ...completed, metadata };
}
