/** Custom and external metrics of an autoscaler, as they were read. */
import type { ReadonlyPod } from "../pod/pod-state.ts";
import type { ReadonlyAutoscaler } from "./scaling-limits.ts";

export type MetricSpec = NonNullable<ReadonlyAutoscaler["spec"]["metrics"]>[number];
export type PodsSource = NonNullable<MetricSpec["pods"]>;
export type ObjectSource = NonNullable<MetricSpec["object"]>;
export type ExternalSource = NonNullable<MetricSpec["external"]>;

/** A value in thousandths. `isPartial`: some clusters did not answer, so it is the least that the value can be. */
export interface MetricValue {
  milli: number;
  isPartial?: boolean;
}

/** Custom and external metrics as they were read; a string is the error. */
export interface MetricValues {
  /** The values of the pods, by pod; undefined for a pod without one. */
  ofPods(metric: PodsSource["metric"]): ((pod: ReadonlyPod) => number | undefined) | string;
  ofObject(object: ObjectSource["describedObject"], metric: ObjectSource["metric"]): MetricValue | string;
  external(metric: ExternalSource["metric"]): MetricValue | string;
}
