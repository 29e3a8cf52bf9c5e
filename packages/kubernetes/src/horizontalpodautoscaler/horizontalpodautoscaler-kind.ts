/**
 * HorizontalPodAutoscaler: scales a workload's replicas in proportion to what its pods use. Stored as `v2`; `v1` is
 * converted from it.
 */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { ageColumn, builtInVersion, column, nameColumn } from "@flotilla/apimachinery";
import type { Column, Kind } from "@flotilla/apimachinery";
import type {
  HorizontalPodAutoscaler as HorizontalPodAutoscalerFacts,
  MetricSpec,
  MetricStatus,
} from "@flotilla/apimachinery/facts/autoscaling-v2.ts";
import { toV1, toV2 } from "./hpa-conversion.ts";
import { defaultAutoscaler } from "./hpa-defaults.ts";

export type HorizontalPodAutoscaler = HorizontalPodAutoscalerFacts;
type Autoscaler = DeepReadonly<HorizontalPodAutoscaler>;

const UNKNOWN = "<unknown>";
const SHOWN_METRICS = 2;

/** `current/target` of one metric. */
function metricCell(spec: DeepReadonly<MetricSpec>, status: DeepReadonly<MetricStatus> | undefined): string {
  switch (spec.type) {
    case "External":
    case "Object": {
      const { target } = (spec.type === "External" ? spec.external : spec.object) ?? {};
      const { current } = (spec.type === "External" ? status?.external : status?.object) ?? {};
      return target?.averageValue === undefined
        ? `${current ? (current.value ?? "0") : UNKNOWN}/${target?.value ?? "0"}`
        : `${current?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`;
    }
    case "Pods":
      return `${status?.pods ? (status.pods.current.averageValue ?? "0") : UNKNOWN}/${spec.pods?.target.averageValue ?? "0"}`;
    case "Resource":
    case "ContainerResource": {
      const { name = "", target } = (spec.type === "Resource" ? spec.resource : spec.containerResource) ?? {};
      const { current } = (spec.type === "Resource" ? status?.resource : status?.containerResource) ?? {};
      if (target?.averageValue !== undefined)
        return `${name}: ${current ? (current.averageValue ?? "0") : UNKNOWN}/${target.averageValue}`;
      const percent = (value: number | undefined, otherwise: string): string =>
        value === undefined ? otherwise : `${value}%`;
      return `${name}: ${percent(current?.averageUtilization, UNKNOWN)}/${percent(target?.averageUtilization, "<auto>")}`;
    }
    default:
      return "<unknown type>";
  }
}

function targets({ spec, status }: Autoscaler): string {
  const { metrics = [] } = spec;
  if (metrics.length === 0) return "<none>";
  const cells = metrics.map((metric, index) => metricCell(metric, status?.currentMetrics?.[index]));
  return cells.length > SHOWN_METRICS
    ? `${cells.slice(0, SHOWN_METRICS).join(", ")} + ${cells.length - SHOWN_METRICS} more...`
    : cells.join(", ");
}

const columns: Column[] = [
  nameColumn,
  column<HorizontalPodAutoscaler>(
    "Reference",
    ({ spec: { scaleTargetRef } }) => `${scaleTargetRef.kind}/${scaleTargetRef.name}`,
  ),
  column<HorizontalPodAutoscaler>("Targets", targets),
  column<HorizontalPodAutoscaler>("MinPods", ({ spec: { minReplicas } }) => String(minReplicas ?? "<unset>")),
  column<HorizontalPodAutoscaler>("MaxPods", ({ spec: { maxReplicas } }) => maxReplicas),
  column<HorizontalPodAutoscaler>("Replicas", ({ status }) => status?.currentReplicas ?? 0),
  ageColumn,
];

const inV2 = ({ value, ...rest }: Column): Column => ({
  ...rest,
  value: value
    ? (object: DeepReadonly<JsonObject>, nowMs: number) => value(toV2(object as JsonObject), nowMs)
    : undefined,
});

/** Converts a `v1` object to the stored form, with defaults. */
export const toStored = (object: JsonObject): JsonObject =>
  defaultAutoscaler(toV2(object) as unknown as Autoscaler) as unknown as JsonObject;

export const HorizontalPodAutoscaler: Kind<HorizontalPodAutoscaler> = {
  group: "autoscaling",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  shortNames: ["hpa"],
  categories: ["all"],
  scope: "Namespaced",
  storageVersion: "v2",
  versions: {
    v2: builtInVersion(columns, "autoscaling-v2", "HorizontalPodAutoscaler"),
    v1: builtInVersion(columns.map(inV2), "autoscaling-v1", "HorizontalPodAutoscaler", {
      toStorage: toStored,
      fromStorage: toV1,
    }),
  },
  subresources: { status: true },
  builtIn: true,
  hasGeneration: false,
};
