/** Validates a HorizontalPodAutoscaler in terms of `v2`; `v1` is converted before validation. */
import {
  checkText,
  compareQuantities,
  dnsLabelProblems,
  field,
  parseQuantity,
  pathSegmentProblems,
} from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import { checkContainerResourceName, checkQuantityNotNegative } from "../resources/resource-names.ts";
import type {
  CrossVersionObjectReference,
  HPAScalingRules,
  HorizontalPodAutoscaler,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from "@flotilla/apimachinery/facts/autoscaling-v2.ts";

/** An object as sent by a client: any field may be missing. */
type Read<T> = Sent<T>;
type Spec = Read<HorizontalPodAutoscaler["spec"]>;

const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;

/** References that may omit the group, or that had none before. */
interface ReferenceOptions {
  anyVersion?: boolean;
  coreGroup?: boolean;
}

export function checkAutoscaler(spec: Spec, old: Spec | undefined): FieldError[] {
  const { minReplicas, maxReplicas = 0, scaleTargetRef, metrics = [], behavior } = spec;
  const fewest = old?.minReplicas === 0 ? 0 : 1;
  return [
    ...(minReplicas !== undefined && minReplicas < fewest
      ? [field.invalid("spec.minReplicas", minReplicas, `must be greater than or equal to ${fewest}`)]
      : []),
    ...(maxReplicas === 0 ? [field.required("spec.maxReplicas", "must be set and greater than 0")] : []),
    ...(maxReplicas < 0 ? [field.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to 1")] : []),
    ...(minReplicas !== undefined && maxReplicas < minReplicas
      ? [field.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`")]
      : []),
    ...checkReference("spec.scaleTargetRef", scaleTargetRef, targetOptions(scaleTargetRef, old?.scaleTargetRef)),
    ...checkMetrics(metrics, minReplicas, { coreGroup: true, anyVersion: (old?.metrics ?? []).some(namesNoVersion) }),
    ...checkScaling("spec.behavior.scaleUp", behavior?.scaleUp),
    ...checkScaling("spec.behavior.scaleDown", behavior?.scaleDown),
  ];
}

function targetOptions(
  ref: Read<CrossVersionObjectReference> | undefined,
  old: Read<CrossVersionObjectReference> | undefined,
): ReferenceOptions {
  if (old && old.apiVersion === ref?.apiVersion && old.kind === ref?.kind) return { anyVersion: true };
  // The only core-group kind that can be scaled.
  return { coreGroup: ref?.kind === "ReplicationController" };
}

const namesNoVersion = ({ type, object }: Read<MetricSpec>): boolean =>
  type === "Object" &&
  object !== undefined &&
  versionProblem(object.describedObject?.apiVersion, { coreGroup: true }) !== undefined;

function versionProblem(apiVersion = "", { anyVersion, coreGroup }: ReferenceOptions): string | undefined {
  if (anyVersion) return undefined;
  const slashes = apiVersion.split("/").length - 1;
  if (slashes > 1) return `unexpected GroupVersion string: ${apiVersion}`;
  const group = slashes === 1 ? (apiVersion.split("/")[0] ?? "") : "";
  return group === "" && !coreGroup ? "apiVersion must specify API group" : undefined;
}

function checkReference(
  at: string,
  ref: Read<CrossVersionObjectReference> | undefined,
  options: ReferenceOptions,
): FieldError[] {
  const { kind = "", name = "", apiVersion = "" } = ref ?? {};
  const problem = versionProblem(apiVersion, options);
  return [
    ...(kind === "" ? [field.required(`${at}.kind`)] : checkText(`${at}.kind`, kind, pathSegmentProblems)),
    ...(name === "" ? [field.required(`${at}.name`)] : checkText(`${at}.name`, name, pathSegmentProblems)),
    ...(problem === undefined ? [] : [field.invalid(`${at}.apiVersion`, apiVersion, problem)]),
  ];
}

function checkMetrics(
  metrics: readonly Read<MetricSpec>[],
  minReplicas: number | undefined,
  options: ReferenceOptions,
): FieldError[] {
  const errors = metrics.flatMap((metric, index) => checkMetric(`spec.metrics[${index}]`, metric, options));
  if (minReplicas === 0 && !metrics.some(({ type }) => type === "Object" || type === "External")) {
    errors.push(
      field.forbidden(
        "spec.metrics",
        "must specify at least one Object or External metric to support scaling to zero replicas",
      ),
    );
  }
  return errors;
}

const METRIC_TYPES = ["ContainerResource", "External", "Object", "Pods", "Resource"];
/** In evaluation order: only the first source that is set is validated. */
const SOURCES = ["object", "external", "pods", "resource", "containerResource"] as const;
type Source = (typeof SOURCES)[number];

const sourceOf = (type: string): Source | undefined =>
  SOURCES.find((source) => source.toLowerCase() === type.toLowerCase() && METRIC_TYPES.includes(type));

function checkMetric(at: string, metric: Read<MetricSpec>, options: ReferenceOptions): FieldError[] {
  const { type = "" } = metric;
  const unknown = METRIC_TYPES.includes(type) ? [] : [field.notSupported(`${at}.type`, type, METRIC_TYPES)];
  const present = SOURCES.filter((source) => metric[source] !== undefined);
  const expected = sourceOf(type);
  const [first] = present;
  return [
    ...(type === "" ? [field.required(`${at}.type`, "must specify a metric source type")] : []),
    ...unknown,
    ...(first ? checkSource(`${at}.${first}`, first, metric, options) : []),
    ...(expected && metric[expected] === undefined
      ? [field.required(`${at}.${expected}`, "must populate information for the given metric source")]
      : []),
    ...unknown,
    ...(present.length === 1
      ? []
      : present
          .filter((source) => source !== expected)
          .map((source) => field.forbidden(`${at}.${source}`, "must populate the given metric source only"))),
  ];
}

function checkSource(at: string, source: Source, read: Read<MetricSpec>, options: ReferenceOptions): FieldError[] {
  const { object, external, pods, resource, containerResource } = read;
  switch (source) {
    case "object":
      return [
        ...checkReference(`${at}.describedObject`, object?.describedObject, options),
        ...checkIdentifier(`${at}.metric`, object?.metric),
        ...checkTarget(`${at}.target`, object?.target),
        ...(object?.target?.value === undefined && object?.target?.averageValue === undefined
          ? [field.required(`${at}.target.averageValue`, "must set either a target value or averageValue")]
          : []),
      ];
    case "external":
      return [
        ...checkIdentifier(`${at}.metric`, external?.metric),
        ...checkTarget(`${at}.target`, external?.target),
        ...checkExternalTarget(`${at}.target`, external?.target),
      ];
    case "pods":
      return [
        ...checkIdentifier(`${at}.metric`, pods?.metric),
        ...checkTarget(`${at}.target`, pods?.target),
        ...(pods?.target?.averageValue === undefined
          ? [field.required(`${at}.target.averageValue`, "must specify a positive target averageValue")]
          : []),
      ];
    case "resource":
      return [
        ...(resource?.name ? [] : [field.required(`${at}.name`, "must specify a resource name")]),
        ...checkTarget(`${at}.target`, resource?.target),
        ...checkUse(`${at}.target`, resource?.target),
      ];
    default: {
      const { name = "", container = "", target } = containerResource ?? {};
      return [
        ...(name === ""
          ? [field.required(`${at}.name`, "must specify a resource name")]
          : checkContainerResourceName(`${at}.name`, name)),
        ...(container === ""
          ? [field.required(`${at}.container`, "must specify a container")]
          : checkText(`${at}.container`, container, dnsLabelProblems)),
        ...checkTarget(`${at}.target`, target),
        ...checkUse(`${at}.target`, target),
      ];
    }
  }
}

function checkIdentifier(at: string, metric: Read<MetricIdentifier> | undefined): FieldError[] {
  const { name = "" } = metric ?? {};
  return name === ""
    ? [field.required(`${at}.name`, "must specify a metric name")]
    : checkText(`${at}.name`, name, pathSegmentProblems);
}

const ZERO = parseQuantity("0");
const isPositive = (value: string | number): boolean => compareQuantities(parseQuantity(value), ZERO) > 0;

function checkTarget(at: string, target: Read<MetricTarget> | undefined): FieldError[] {
  const { type = "", value, averageValue, averageUtilization } = target ?? {};
  return [
    ...(type === "" ? [field.required(`${at}.type`, "must specify a metric target type")] : []),
    ...(["Utilization", "Value", "AverageValue"].includes(type)
      ? []
      : [field.invalid(`${at}.type`, type, "must be either Utilization, Value, or AverageValue")]),
    ...(value !== undefined && !isPositive(value) ? [field.invalid(`${at}.value`, value, "must be positive")] : []),
    ...(averageValue !== undefined && !isPositive(averageValue)
      ? [field.invalid(`${at}.averageValue`, averageValue, "must be positive")]
      : []),
    ...(averageUtilization !== undefined && averageUtilization < 1
      ? [field.invalid(`${at}.averageUtilization`, averageUtilization, "must be greater than 0")]
      : []),
  ];
}

function checkExternalTarget(at: string, target: Read<MetricTarget> | undefined): FieldError[] {
  const { value, averageValue } = target ?? {};
  if (value === undefined && averageValue === undefined)
    return [field.required(`${at}.averageValue`, "must set either a target value for metric or a per-pod target")];
  return value !== undefined && averageValue !== undefined
    ? [field.forbidden(`${at}.value`, "may not set both a target value for metric and a per-pod target")]
    : [];
}

function checkUse(at: string, target: Read<MetricTarget> | undefined): FieldError[] {
  const { averageUtilization, averageValue } = target ?? {};
  if (averageUtilization === undefined && averageValue === undefined)
    return [field.required(`${at}.averageUtilization`, "must set either a target raw value or a target utilization")];
  return averageUtilization !== undefined && averageValue !== undefined
    ? [field.forbidden(`${at}.averageValue`, "may not set both a target raw value and a target utilization")]
    : [];
}

const SELECTIONS = ["Disabled", "Max", "Min"];
const POLICY_TYPES = ["Percent", "Pods"];

function checkScaling(at: string, rules: Read<HPAScalingRules> | undefined): FieldError[] {
  if (!rules) return [];
  const { stabilizationWindowSeconds: window, selectPolicy, policies = [], tolerance } = rules;
  return [
    ...(window !== undefined && window < 0
      ? [field.invalid(`${at}.stabilizationWindowSeconds`, window, "must be greater than or equal to zero")]
      : []),
    ...(window !== undefined && window > MAX_WINDOW_SECONDS
      ? [
          field.invalid(
            `${at}.stabilizationWindowSeconds`,
            window,
            `must be less than or equal to ${MAX_WINDOW_SECONDS}`,
          ),
        ]
      : []),
    ...(selectPolicy !== undefined && !SELECTIONS.includes(selectPolicy)
      ? [field.notSupported(`${at}.selectPolicy`, selectPolicy, SELECTIONS)]
      : []),
    ...(policies.length === 0 ? [field.required(`${at}.policies`, "must specify at least one Policy")] : []),
    ...policies.flatMap(({ type = "", value = 0, periodSeconds = 0 }, index) => {
      const policy = `${at}.policies[${index}]`;
      return [
        ...(POLICY_TYPES.includes(type) ? [] : [field.notSupported(`${policy}.type`, type, POLICY_TYPES)]),
        ...(value <= 0 ? [field.invalid(`${policy}.value`, value, "must be greater than zero")] : []),
        ...(periodSeconds <= 0
          ? [field.invalid(`${policy}.periodSeconds`, periodSeconds, "must be greater than zero")]
          : []),
        ...(periodSeconds > MAX_PERIOD_SECONDS
          ? [
              field.invalid(
                `${policy}.periodSeconds`,
                periodSeconds,
                `must be less than or equal to ${MAX_PERIOD_SECONDS}`,
              ),
            ]
          : []),
      ];
    }),
    ...(tolerance === undefined ? [] : checkQuantityNotNegative(`${at}.tolerance`, tolerance)),
  ];
}
