/** The metrics that kruise-state-metrics exports for an Advanced StatefulSet. */
import type { Sample, StateKind } from "@flotilla/kubernetes";
import { AdvancedStatefulSet } from "./statefulset-kind.ts";
import {
  familiesOf,
  shareOf,
  textOf,
  generationOf,
  replicasOf,
  strategyOf,
  rollingOf,
  count,
} from "../metrics/state-families.ts";
import { listOf } from "@flotilla/base";

/**
 * A range such as `3-5` represents each ordinal in it. The bound is far above realistic reservations and limits the
 * cost of the label.
 */
const MAX_ORDINALS = 1_000;
function ordinals(entries: unknown): readonly Sample[] {
  const all = new Set<number>();
  for (const entry of listOf(entries)) {
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(textOf(entry)) ?? [];
    if (first === undefined) return [];
    for (let ordinal = Number(first); ordinal <= Number(last) && all.size < MAX_ORDINALS; ordinal++) all.add(ordinal);
  }
  // Two samples of a family must not have the same labels, so only the largest ordinal is exported.
  return all.size === 0 ? [] : [[[], Math.max(...all)]];
}

const statefulSet = familiesOf("statefulset");
export const statefulSetStates: StateKind = {
  kind: AdvancedStatefulSet,
  label: "statefulset",
  families: [
    statefulSet.created,
    statefulSet.figure("status_replicas", "Current pods.", count("replicas")),
    statefulSet.figure("status_replicas_available", "Available pods.", count("availableReplicas")),
    statefulSet.figure("status_replicas_current", "Pods of the current revision.", count("currentReplicas")),
    statefulSet.figure("status_replicas_ready", "Ready pods.", count("readyReplicas")),
    statefulSet.figure("status_replicas_updated", "Pods of the latest revision.", count("updatedReplicas")),
    statefulSet.figure(
      "status_observed_generation",
      "The generation observed by the controller.",
      count("observedGeneration"),
    ),
    statefulSet.conditions(),
    statefulSet.figure("replicas", "Desired pods.", replicasOf),
    statefulSet.figure("metadata_generation", "The generation of the desired state.", generationOf),
    statefulSet.figure("spec_replicas", "Desired pods.", replicasOf),
    statefulSet.figure(
      "spec_strategy_rollingupdate_max_unavailable",
      "Maximum number of unavailable pods during an update.",
      (view) => shareOf(rollingOf(view)["maxUnavailable"], replicasOf(view), Math.floor),
    ),
    statefulSet.family(
      "spec_reserveordinals",
      "The highest reserved ordinal; no sample if none is reserved.",
      ({ spec }) => ordinals(spec["reserveOrdinals"]),
    ),
    statefulSet.annotations,
    statefulSet.labels,
    statefulSet.family(
      "status_current_revision",
      "1 for the revision of the pods before the update.",
      ({ status }) => [[[textOf(status["currentRevision"])], 1]],
      "revision",
    ),
    statefulSet.family(
      "status_update_revision",
      "1 for the revision that pods are updated to.",
      ({ status }) => [[[textOf(status["updateRevision"])], 1]],
      "revision",
    ),
    statefulSet.family(
      "spec_strategy_type",
      "The update strategy, as a label; the value is 0.",
      (view) => [[[textOf(strategyOf(view)["type"])], 0]],
      "strategy_type",
    ),
  ],
};
