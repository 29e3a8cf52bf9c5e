/**
 * Events: a controller's messages to users about an object, for `kubectl describe` and `kubectl get events`.
 *
 * Events are best effort. Recording never waits and never fails; a flood about one object is combined and then dropped,
 * as in upstream's recorder, so recording costs a bounded number of writes regardless of the number of pods of a
 * workload.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";

export interface RecordedEvent {
  type: "Normal" | "Warning";
  /** A CamelCase word that programs can rely on. */
  reason: string;
  message: string;
}

export interface EventRecorder {
  record(cluster: string, regarding: DeepReadonly<KubernetesObject>, event: RecordedEvent): void;
}

/** A recorder for a component, such as `cloneset-controller`: the events' source. */
export type EventRecorders = (component: string) => EventRecorder;
