/**
 * Events: what a controller tells people about an object, for `kubectl describe` and `kubectl get events`.
 *
 * They are best effort. Recording never waits and never fails; a flood about one object is combined and then dropped,
 * as upstream's recorder does, so telling costs a bounded number of writes however many pods a workload has.
 */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";

export interface RecordedEvent {
  type: "Normal" | "Warning";
  /** A word in CamelCase that programs can rely on. */
  reason: string;
  message: string;
}

export interface EventRecorder {
  record(cluster: string, regarding: DeepReadonly<KubernetesObject>, event: RecordedEvent): void;
}

/** A recorder for a component, such as `cloneset-controller`: the source that events name. */
export type EventRecorders = (component: string) => EventRecorder;
