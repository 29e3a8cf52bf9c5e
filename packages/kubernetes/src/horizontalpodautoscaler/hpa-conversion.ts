/**
 * Converts HorizontalPodAutoscaler between `v1`, which only supports CPU utilization, and `v2`, which is stored. Fields
 * that `v1` lacks are kept in annotations, in the form in which Kubernetes writes them, so both conversions are
 * lossless.
 */
import { isObject, type DeepReadonly, type Json, type JsonObject, defined } from "@flotilla/base";
import type { HorizontalPodAutoscaler as V1 } from "@flotilla/apimachinery/facts/autoscaling-v1.ts";
import type {
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscaler as V2,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from "@flotilla/apimachinery/facts/autoscaling-v2.ts";

type ReadObject = Readonly<JsonObject>;
type Metadata = DeepReadonly<V2["metadata"]>;

const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;
const BEHAVIOR = `${PREFIX}behavior`;
const CARRIED = [
  METRICS,
  BEHAVIOR,
  `${PREFIX}scale-down-tolerance`,
  `${PREFIX}scale-up-tolerance`,
  CURRENT_METRICS,
  CONDITIONS,
];

export const DEFAULT_CPU_UTILIZATION = 80;

export const cpuMetric = (averageUtilization: number): MetricSpec => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
});

/** Returns the metadata without the conversion annotations of other versions, and with the given ones. */
export function withCarried(metadata: Metadata, carried: Readonly<Record<string, string>> = {}): Metadata {
  const added = Object.keys(carried).length > 0;
  const { annotations } = metadata;
  if (!added && !(annotations && CARRIED.some((key) => Object.hasOwn(annotations, key)))) return metadata;
  const kept = Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !CARRIED.includes(key)));
  const { annotations: _, ...rest } = metadata;
  const joined = { ...kept, ...carried };
  return Object.keys(joined).length > 0 ? { ...rest, annotations: joined } : rest;
}

/** Drops undefined values and keeps the given order: users and tools compare these texts. */
function compact(fields: Record<string, unknown>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

const isCpuUtilization = ({ type, resource }: DeepReadonly<MetricSpec>): boolean =>
  type === "Resource" && resource?.name === "cpu" && resource.target?.averageUtilization !== undefined;

export function toV1(stored: JsonObject): JsonObject {
  const { metadata, spec, status, ...rest } = stored as unknown as DeepReadonly<V2> & {
    spec: DeepReadonly<V2["spec"]>;
  };
  const { metrics = [], behavior, ...common } = spec;
  const { currentMetrics = [], conditions = [], ...counts } = status ?? { desiredReplicas: 0 };
  const others = metrics.filter((metric) => !isCpuUtilization(metric));
  const cpu = metrics.find(isCpuUtilization)?.resource?.target.averageUtilization;
  const current = currentMetrics.findLast(
    ({ type, resource }) =>
      type === "Resource" && resource?.name === "cpu" && resource.current?.averageUtilization !== undefined,
  );
  const carried = defined({
    [METRICS]: others.length > 0 ? JSON.stringify(others.map(specToV1)) : undefined,
    [CURRENT_METRICS]: currentMetrics.length > 0 ? JSON.stringify(currentMetrics.map(statusToV1)) : undefined,
    [BEHAVIOR]: behavior ? JSON.stringify(behaviorText(behavior)) : undefined,
    [CONDITIONS]: conditions.length > 0 ? JSON.stringify(conditions.map(conditionText)) : undefined,
  });
  const { scaleTargetRef, minReplicas, maxReplicas } = common;
  return {
    ...rest,
    metadata: withCarried(metadata, carried),
    spec: compact({ scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: cpu }),
    status: compact({
      observedGeneration: counts.observedGeneration,
      lastScaleTime: counts.lastScaleTime,
      currentReplicas: counts.currentReplicas ?? 0,
      desiredReplicas: counts.desiredReplicas ?? 0,
      currentCPUUtilizationPercentage: current?.resource?.current.averageUtilization,
    }),
  } as unknown as JsonObject;
}

export function toV2(object: JsonObject): JsonObject {
  const { metadata, spec, status, ...rest } = object as unknown as DeepReadonly<V1>;
  const { targetCPUUtilizationPercentage: cpu, ...common } = spec ?? {};
  const { currentCPUUtilizationPercentage: current, currentReplicas, ...counts } = status ?? {};
  const { annotations = {} } = metadata;
  const others = listIn(annotations[METRICS])?.map(specToV2);
  const metrics = [...(others ?? []), ...(cpu === undefined ? [] : [cpuMetric(cpu)])];
  const behavior = behaviorIn(annotations[BEHAVIOR]);
  const known = listIn(annotations[CURRENT_METRICS])?.map(statusToV2);
  const currentMetrics =
    known ??
    (current === undefined
      ? []
      : [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: current } } }]);
  const conditions = listIn(annotations[CONDITIONS])?.map(({ type, status, lastTransitionTime, reason, message }) =>
    compact({ type, status, lastTransitionTime: lastTransitionTime ?? undefined, reason, message }),
  );
  return {
    ...rest,
    metadata: withCarried(metadata),
    spec: {
      ...common,
      metrics: metrics.length > 0 ? metrics : [cpuMetric(DEFAULT_CPU_UTILIZATION)],
      behavior,
    },
    ...defined({
      status:
        (status ?? known ?? conditions)
          ? {
              ...counts,
              currentReplicas: currentReplicas || undefined,
              currentMetrics: currentMetrics.length > 0 ? currentMetrics : undefined,
              conditions: conditions && conditions.length > 0 ? conditions : undefined,
            }
          : undefined,
    }),
  } as unknown as JsonObject;
}

/** Annotations can hold any text: anything but a list of objects counts as absent, as it does upstream. */
function listIn(text: string | undefined): ReadObject[] | undefined {
  const value = jsonIn(text);
  return Array.isArray(value) && value.every(isObject) ? value : undefined;
}

function jsonIn(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const objectAt = (object: ReadObject | undefined, key: string): ReadObject | undefined => {
  const value = object?.[key];
  return isObject(value) ? value : undefined;
};

function specToV1(spec: DeepReadonly<MetricSpec>): JsonObject {
  const { type, object, pods, resource, containerResource, external } = spec;
  return compact({
    type,
    object:
      object &&
      compact({
        target: object.describedObject,
        metricName: object.metric?.name ?? "",
        targetValue: object.target?.value ?? "0",
        selector: object.metric?.selector,
        averageValue: object.target?.averageValue,
      }),
    pods:
      pods &&
      compact({
        metricName: pods.metric?.name ?? "",
        targetAverageValue: pods.target?.averageValue ?? "0",
        selector: pods.metric?.selector,
      }),
    resource:
      resource &&
      compact({
        name: resource.name,
        targetAverageUtilization: resource.target?.averageUtilization,
        targetAverageValue: resource.target?.averageValue,
      }),
    containerResource:
      containerResource &&
      compact({
        name: containerResource.name,
        targetAverageUtilization: containerResource.target?.averageUtilization,
        targetAverageValue: containerResource.target?.averageValue,
        container: containerResource.container,
      }),
    external:
      external &&
      compact({
        metricName: external.metric?.name ?? "",
        metricSelector: external.metric?.selector,
        targetValue: external.target?.value,
        targetAverageValue: external.target?.averageValue,
      }),
  });
}

function statusToV1(status: DeepReadonly<MetricStatus>): JsonObject {
  const { type, object, pods, resource, containerResource, external } = status;
  const used = (current: DeepReadonly<MetricValueStatus> | undefined): JsonObject =>
    compact({
      currentAverageUtilization: current?.averageUtilization,
      currentAverageValue: current?.averageValue ?? "0",
    });
  return compact({
    type,
    object:
      object &&
      compact({
        target: object.describedObject,
        metricName: object.metric?.name ?? "",
        currentValue: object.current?.value ?? "0",
        selector: object.metric?.selector,
        averageValue: object.current?.averageValue,
      }),
    pods:
      pods &&
      compact({
        metricName: pods.metric?.name ?? "",
        currentAverageValue: pods.current?.averageValue ?? "0",
        selector: pods.metric?.selector,
      }),
    resource: resource && { name: resource.name, ...used(resource.current) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...used(containerResource.current),
      container: containerResource.container,
    },
    external:
      external &&
      compact({
        metricName: external.metric?.name ?? "",
        metricSelector: external.metric?.selector,
        currentValue: external.current?.value ?? "0",
        currentAverageValue: external.current?.averageValue,
      }),
  });
}

/** A target's type follows from the amount that is set. */
function targetOf(
  value: Json | undefined,
  averageValue: Json | undefined,
  averageUtilization: Json | undefined,
  otherwise: MetricTarget["type"],
): JsonObject {
  return compact({
    type: averageUtilization === undefined ? otherwise : "Utilization",
    value,
    averageValue,
    averageUtilization,
  });
}

const metricOf = (name: Json | undefined, selector: Json | undefined): JsonObject => compact({ name, selector });

function specToV2(metric: ReadObject): JsonObject {
  const object = objectAt(metric, "object");
  const pods = objectAt(metric, "pods");
  const resource = objectAt(metric, "resource");
  const container = objectAt(metric, "containerResource");
  const external = objectAt(metric, "external");
  const perPod = object?.averageValue !== undefined;
  return compact({
    type: metric.type,
    object: object && {
      describedObject: object.target,
      // The old form cannot omit the total and writes zero, which is not a valid target.
      target: targetOf(
        perPod && object.targetValue === "0" ? undefined : object.targetValue,
        object.averageValue,
        undefined,
        perPod ? "AverageValue" : "Value",
      ),
      metric: metricOf(object.metricName, object.selector),
    },
    pods: pods && {
      metric: metricOf(pods.metricName, pods.selector),
      target: targetOf(undefined, pods.targetAverageValue, undefined, "AverageValue"),
    },
    resource: resource && {
      name: resource.name,
      target: targetOf(undefined, resource.targetAverageValue, resource.targetAverageUtilization, "AverageValue"),
    },
    containerResource: container && {
      name: container.name,
      target: targetOf(undefined, container.targetAverageValue, container.targetAverageUtilization, "AverageValue"),
      container: container.container,
    },
    external: external && {
      metric: metricOf(external.metricName, external.metricSelector),
      target: targetOf(
        external.targetValue,
        external.targetAverageValue,
        undefined,
        external.targetValue === undefined ? "AverageValue" : "Value",
      ),
    },
  });
}

function statusToV2(metric: ReadObject): JsonObject {
  const object = objectAt(metric, "object");
  const pods = objectAt(metric, "pods");
  const resource = objectAt(metric, "resource");
  const container = objectAt(metric, "containerResource");
  const external = objectAt(metric, "external");
  const used = (from: ReadObject): JsonObject =>
    compact({ averageValue: from.currentAverageValue, averageUtilization: from.currentAverageUtilization });
  return compact({
    type: metric.type,
    object: object && {
      metric: metricOf(object.metricName, object.selector),
      current: compact({ value: object.currentValue, averageValue: object.averageValue }),
      describedObject: object.target,
    },
    pods: pods && {
      metric: metricOf(pods.metricName, pods.selector),
      current: compact({ averageValue: pods.currentAverageValue }),
    },
    resource: resource && { name: resource.name, current: used(resource) },
    containerResource: container && { name: container.name, current: used(container), container: container.container },
    external: external && {
      metric: metricOf(external.metricName, external.metricSelector),
      current: compact({ value: external.currentValue, averageValue: external.currentAverageValue }),
    },
  });
}

/** Upstream writes an absent time as null. */
function conditionText(condition: DeepReadonly<HorizontalPodAutoscalerCondition>): JsonObject {
  const { type, status, lastTransitionTime, reason, message } = condition;
  return compact({ type, status, lastTransitionTime: lastTransitionTime ?? null, reason, message });
}

type Behavior = NonNullable<DeepReadonly<V2["spec"]>["behavior"]>;
type Rules = NonNullable<Behavior["scaleUp"]>;

/** Upstream writes this annotation from a type without JSON names: every field is present and capitalized. */
function behaviorText({ scaleUp, scaleDown }: Behavior): JsonObject {
  const rules = (from: Rules | undefined): Json =>
    from
      ? {
          StabilizationWindowSeconds: from.stabilizationWindowSeconds ?? null,
          SelectPolicy: from.selectPolicy ?? null,
          Policies:
            from.policies?.map(({ type, value, periodSeconds }) => ({
              Type: type,
              Value: value,
              PeriodSeconds: periodSeconds,
            })) ?? null,
          Tolerance: from.tolerance ?? null,
        }
      : null;
  return { ScaleUp: rules(scaleUp), ScaleDown: rules(scaleDown) };
}

function behaviorIn(text: string | undefined): JsonObject | undefined {
  const value = jsonIn(text);
  if (!isObject(value)) return undefined;
  const rules = (from: ReadObject | undefined): JsonObject | undefined =>
    from &&
    compact({
      stabilizationWindowSeconds: from.StabilizationWindowSeconds ?? undefined,
      selectPolicy: from.SelectPolicy ?? undefined,
      policies: Array.isArray(from.Policies)
        ? from.Policies.filter(isObject).map(({ Type, Value, PeriodSeconds }) =>
            compact({ type: Type, value: Value, periodSeconds: PeriodSeconds }),
          )
        : undefined,
      tolerance: from.Tolerance ?? undefined,
    });
  return compact({ scaleUp: rules(objectAt(value, "ScaleUp")), scaleDown: rules(objectAt(value, "ScaleDown")) });
}
