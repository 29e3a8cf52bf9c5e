/** Validation of Rollout, as in kruise-rollout's webhook; an object of v1alpha1 is validated in the form of v1beta1. */
import { equalJson } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { field } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import type { CanaryStep, TrafficRoutingRef } from "@flotilla/apimachinery/facts/rollouts-kruise-v1beta1.ts";
import type { IntOrString } from "@flotilla/apimachinery/facts/scalars.ts";
import { readShare } from "../api/strategy-rules.ts";
import { kruiseAdmission } from "../api/webhook.ts";
import { Rollout } from "./rollout-kind.ts";
import { ROLLING_STYLE } from "../released-workload/rollout-names.ts";
import { isDeployment, isSupported, routesRequests, routingsOf, stepsOf, styleOf } from "./rollout-strategy.ts";
import type { RollingStyle } from "./rollout-strategy.ts";
import { toStorage } from "./rollout-versions.ts";

type Read<T> = DeepReadonly<T>;

/** A step of a partition that routes requests leaves at least so many percent of the pods to the stable revision. */
const MAX_PERCENT_WITH_ROUTES = 50;
const ALPHA = "rollouts.kruise.io/v1alpha1";

function checkRollout(review: Review<Rollout>): FieldError[] {
  const { object, oldObject, read } = review;
  const rollout = inBeta(object);
  const errors = [
    ...checkWorkload(rollout),
    ...(object.apiVersion === ALPHA ? checkAnnotation(object) : []),
    ...checkStrategy(rollout),
  ];
  const other = read
    .list(Rollout, object.metadata.namespace)
    .find(
      (each) =>
        each.metadata.name !== object.metadata.name &&
        equalJson(inBeta(each).spec.workloadRef, rollout.spec.workloadRef ?? null),
    );
  if (other)
    errors.push(
      field.invalid(
        "Conflict Checker",
        object.metadata.name,
        `This rollout conflict with Rollout(${other.metadata.namespace}/${other.metadata.name}), one workload only have less than one Rollout`,
      ),
    );
  return errors.length === 0 && oldObject ? checkChange(rollout, inBeta(oldObject)) : errors;
}

const inBeta = (rollout: Read<Rollout>): Read<Rollout> =>
  rollout.apiVersion === ALPHA ? (toStorage(rollout as unknown as JsonObject) as unknown as Read<Rollout>) : rollout;

function checkWorkload(rollout: Read<Rollout>): FieldError[] {
  const { workloadRef } = rollout.spec as { workloadRef?: Read<Rollout>["spec"]["workloadRef"] };
  const path = "Spec.ObjectRef.WorkloadRef";
  if (!workloadRef) return [field.invalid(path, null, "WorkloadRef is required")];
  if (!isSupported(workloadRef)) return [field.invalid(path, workloadRef, "WorkloadRef kind is not supported")];
  const { strategy } = rollout.spec;
  return strategy?.blueGreen && !isDeployment(workloadRef) && workloadRef.kind !== "CloneSet"
    ? [field.invalid(path, workloadRef, "WorkloadRef kind is not supported for bluegreen style")]
    : [];
}

function checkAnnotation({ metadata }: Read<Rollout>): FieldError[] {
  const style = metadata.annotations?.[ROLLING_STYLE] ?? "";
  return ["", "canary", "partition"].includes(style.toLowerCase())
    ? []
    : [field.invalid("RollingStyle", style, "Rolling style must be 'Canary', 'Partition' or empty")];
}

function checkStrategy(rollout: Read<Rollout>): FieldError[] {
  const strategy = (rollout.spec.strategy as Read<Rollout>["spec"]["strategy"] | undefined) ?? {};
  const path = "Spec.Strategy";
  if (!strategy.canary && !strategy.blueGreen)
    return [field.invalid(path, null, "Canary and BlueGreen cannot both be empty")];
  if (strategy.canary && strategy.blueGreen)
    return [field.invalid(path, null, "Canary and BlueGreen cannot both be set")];
  const at = `${path}.${strategy.blueGreen ? "BlueGreen" : "Canary"}`;
  const routings = routingsOf(strategy);
  const errors = checkSteps(stepsOf(strategy), `${at}.Steps`, styleOf(rollout));
  if (routings.length > 1)
    errors.push(field.invalid(at, routings, "Rollout currently only support single TrafficRouting."));
  return errors.concat(routings.flatMap((routing) => checkRouting(routing, `${at}.TrafficRouting`)));
}

/** The first problem ends the check. */
function checkSteps(steps: readonly Read<CanaryStep>[], path: string, style: RollingStyle): FieldError[] {
  if (steps.length === 0) return [field.invalid(path, steps, "The number of Canary.Steps cannot be empty")];
  for (const [index, step] of steps.entries()) {
    const problem = checkStep(step, `${path}[${index}]`, style);
    if (problem) return [problem];
  }
  for (const [index, { replicas }] of steps.entries()) {
    const before = steps[index - 1]?.replicas;
    if (typeof before !== typeof replicas || before === undefined || replicas === undefined) continue;
    if ((percentFor(replicas) ?? 0) < (percentFor(before) ?? 0))
      return [field.invalid(path, steps, "Steps.CanaryReplicas must be a non decreasing sequence")];
  }
  return [];
}

function checkStep(step: Read<CanaryStep>, path: string, style: RollingStyle): FieldError | undefined {
  const { replicas, traffic } = step;
  if (replicas === undefined) return field.invalid(`${path}.steps`, step, "replicas cannot be empty");
  const percent = percentFor(replicas);
  if (percent === undefined || percent <= 0 || (percent > 100 && typeof replicas === "string"))
    return field.invalid(
      `${path}.Replicas`,
      replicas,
      'replicas must be positive number, or a percentage with "0%" < canaryReplicas <= "100%"',
    );
  if (!routesRequests(step)) return undefined;
  if (style === "Partition" && typeof replicas === "string" && percent > MAX_PERCENT_WITH_ROUTES)
    return field.invalid(
      `${path}.steps`,
      step,
      "For partition style rollout: step[x].replicas must not greater than partition-percent-limit if traffic specified",
    );
  if (traffic === undefined) return undefined;
  const weight = percentFor(traffic);
  const least = style === "BlueGreen" ? 0 : 1;
  return weight === undefined || weight < least || weight > 100
    ? field.invalid(
        `${path}.steps`,
        step,
        style === "BlueGreen"
          ? 'traffic must be percentage with "0%" <= traffic <= "100%" in blueGreen strategy'
          : 'traffic must be percentage with "0%" < traffic <= "100%" in canary strategy',
      )
    : undefined;
}

function percentFor(value: IntOrString): number | undefined {
  const share = readShare(value, 100);
  return "value" in share ? share.value : undefined;
}

function checkRouting(routing: Read<TrafficRoutingRef>, path: string): FieldError[] {
  const { gracePeriodSeconds = 0, service, ingress, gateway, customNetworkRefs } = routing;
  const errors: FieldError[] = [];
  if (gracePeriodSeconds < 0)
    errors.push(
      field.invalid(`${path}.GracePeriodSeconds`, service, "TrafficRouting.GracePeriodSeconds cannot be negative"),
    );
  if (!service) errors.push(field.invalid(`${path}.Service`, service, "TrafficRouting.Service cannot be empty"));
  if (!ingress && !gateway && !customNetworkRefs)
    errors.push(field.invalid(`${path}.TrafficRoutings`, null, "TrafficRoutings are not set"));
  if (ingress && !ingress.name)
    errors.push(field.invalid(`${path}.Ingress`, ingress, "TrafficRouting.Ingress.Ingress cannot be empty"));
  if (gateway && !gateway.httpRouteName)
    errors.push(
      field.invalid(`${path}.Gateway`, gateway, "TrafficRouting.Gateway must set the name of HTTPRoute or HTTPsRoute"),
    );
  return errors;
}

/** What may not change while a release is in progress. */
function checkChange(rollout: Read<Rollout>, old: Read<Rollout>): FieldError[] {
  const { phase } = old.status ?? {};
  if (phase !== "Progressing" && phase !== "Terminating") return [];
  const [now, before] = [rollout.spec, old.spec];
  if (!equalJson(now.workloadRef, before.workloadRef))
    return [field.forbidden("Spec.ObjectRef", "Rollout 'ObjectRef' field is immutable")];
  const at = "Spec.Strategy.Canary|BlueGreen";
  if (!equalJson(routingsOf(now.strategy), routingsOf(before.strategy)))
    return [
      field.forbidden(
        `${at}.TrafficRoutings`,
        "Rollout 'Strategy.Canary|BlueGreen.TrafficRoutings' field is immutable",
      ),
    ];
  if (styleOf(rollout) !== styleOf(old))
    return [field.forbidden(at, "Rollout style and enableExtraWorkloadForCanary are immutable")];
  return stepsOf(now.strategy).length === stepsOf(before.strategy).length
    ? []
    : [field.forbidden(at, "Amount of Rollout steps are immutable")];
}

export const rolloutRules: readonly AnyAdmission[] = [
  kruiseAdmission(Rollout, {
    name: "rollout",
    code: 422,
    tables: { v1alpha1: "rollouts-kruise-v1alpha1", v1beta1: "rollouts-kruise-v1beta1" },
    check: checkRollout,
  }),
];
