/** A workload as kruise-rollout sees it: its revisions, how far it is, and how its partition is written. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { isObject, textOf } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { IntOrString } from "@flotilla/apimachinery/facts/scalars.ts";
import { countOf, isReady, StatefulSet, shortHash } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { AdvancedDaemonSet } from "../daemonset/daemonset-kind.ts";
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import { IN_PROGRESSING } from "./rollout-names.ts";

export type WorkloadObject = KubernetesObject & { spec?: JsonObject; status?: JsonObject };

/** More than any workload has pods. */
const ALL_ORDINALS = 32_767;

/** The kinds that simulated members release by their partition. */
export const RELEASED_KINDS = [
  CloneSet,
  AdvancedStatefulSet,
  StatefulSet,
  AdvancedDaemonSet,
] as unknown as readonly Kind<WorkloadObject>[];

export const releasedKind = (ref: {
  readonly apiVersion: string;
  readonly kind: string;
}): Kind<WorkloadObject> | undefined =>
  RELEASED_KINDS.find(({ group, kind }) => kind === ref.kind && group === parseApiVersion(ref.apiVersion).group);

export interface ReleasedWorkload {
  readonly object: DeepReadonly<WorkloadObject>;
  readonly replicas: number;
  /** Pods of any revision. */
  readonly present: number;
  readonly updated: number;
  readonly updatedReady: number;
  readonly stableRevision: string;
  readonly updateRevision: string;
  /** Its controller has observed its newest spec. */
  readonly isObserved: boolean;
  /** Its webhook has put it under a Rollout. */
  readonly isInProgress: boolean;
  /** Its template is that of the stable revision again, and pods have another one. */
  readonly isReturning: boolean;
  readonly partition: IntOrString;
}

export function readWorkload(
  object: DeepReadonly<WorkloadObject>,
  pods: readonly ReadonlyPod[] = [],
): ReleasedWorkload {
  const { kind, metadata } = object;
  const spec: DeepReadonly<JsonObject> = object.spec ?? {};
  const status: DeepReadonly<JsonObject> = object.status ?? {};
  const isDaemonSet = kind === "DaemonSet";
  const updateRevision = shortHash(textOf(status["updateRevision"]));
  // A DaemonSet does not report the revision before.
  const stableRevision = shortHash(textOf(status["currentRevision"]));
  const present = countOf(isDaemonSet ? status["currentNumberScheduled"] : status["replicas"]);
  const updated = countOf(isDaemonSet ? status["updatedNumberScheduled"] : status["updatedReplicas"]);
  const reported = status["updatedReadyReplicas"];
  const isInProgress = (metadata.annotations?.[IN_PROGRESSING] ?? "") !== "";
  return {
    object,
    replicas: isDaemonSet
      ? countOf(status["desiredNumberScheduled"])
      : spec["replicas"] === undefined
        ? 1
        : countOf(spec["replicas"]),
    present,
    updated,
    updatedReady:
      typeof reported === "number" && reported > 0
        ? reported
        : pods.filter((pod) => isReady(pod) && hasRevision(pod, updateRevision)).length,
    stableRevision,
    updateRevision,
    isObserved: countOf(status["observedGeneration"]) >= (metadata.generation ?? 0),
    isInProgress,
    isReturning: isInProgress && stableRevision !== "" && stableRevision === updateRevision && updated !== present,
    partition: partitionIn(spec),
  };
}

export const hasRevision = ({ metadata }: ReadonlyPod, revision: string): boolean =>
  metadata.deletionTimestamp === undefined &&
  revision !== "" &&
  ["pod-template-hash", "controller-revision-hash"].some((label) => metadata.labels?.[label]?.endsWith(revision));

function partitionIn(spec: DeepReadonly<JsonObject>): IntOrString {
  const strategy = spec["updateStrategy"];
  const rolling = isObject(strategy) ? strategy["rollingUpdate"] : undefined;
  const partition = isObject(rolling) ? rolling["partition"] : undefined;
  return typeof partition === "number" || typeof partition === "string" ? partition : 0;
}

/** The partition at which no pod has the new revision. */
export const closedPartition = (kind: string): IntOrString => (kind === "CloneSet" ? "100%" : ALL_ORDINALS);

/** A merge patch of the partition; `null` removes it. A workload that is released is not paused. */
export function partitionPatch(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  partition: IntOrString | null,
): JsonObject {
  const rollingUpdate: JsonObject = { partition };
  if (parseApiVersion(apiVersion).group !== "apps")
    rollingUpdate["paused"] = kind === "CloneSet" || partition !== null ? false : null;
  return { updateStrategy: { rollingUpdate } };
}
