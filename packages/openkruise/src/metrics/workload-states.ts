/** CloneSet, Advanced StatefulSet and Advanced DaemonSet, as kruise-state-metrics exports them. */
import { AdvancedDaemonSet } from "../api/advanced-daemon-set.ts";
import { AdvancedStatefulSet } from "../api/advanced-stateful-set.ts";
import { CloneSet } from "../api/clone-set.ts";
import { familiesOf, fieldsOf, listOf, numberOf, shareOf, textOf } from "./state-families.ts";
import type { Fields, Sample, StateKind, StateView } from "@flotilla/kubernetes";

const generationOf = ({ metadata }: StateView): number => metadata.generation ?? 0;
const replicasOf = ({ spec }: StateView): number => (typeof spec["replicas"] === "number" ? spec["replicas"] : 1);
const strategyOf = ({ spec }: StateView): Fields => fieldsOf(spec["updateStrategy"]);
const rollingOf = (view: StateView): Fields => fieldsOf(strategyOf(view)["rollingUpdate"]);
const count =
  (field: string) =>
  ({ status }: StateView): number =>
    numberOf(status[field]);

/** v1beta1 has the fields under `rollingUpdate` that v1alpha1 has in the strategy itself. */
const cloneSetStrategy = (view: StateView): Fields => ({ ...strategyOf(view), ...rollingOf(view) });
const CLONE_SET_TYPES = ["ReCreate", "InPlaceIfPossible", "InPlaceOnly"];
function cloneSetType(view: StateView): string {
  const { podUpdatePolicy, type } = cloneSetStrategy(view);
  return textOf(podUpdatePolicy ?? (CLONE_SET_TYPES.includes(textOf(type)) ? type : "ReCreate"));
}

const cloneSet = familiesOf("cloneset");
const cloneSets: StateKind = {
  kind: CloneSet,
  label: "cloneset",
  families: [
    cloneSet.created,
    cloneSet.figure("status_replicas", "Current pods.", count("replicas")),
    cloneSet.figure("status_replicas_available", "Available pods.", count("availableReplicas")),
    cloneSet.figure(
      "status_replicas_unavailable",
      "Desired pods that are not available.",
      (view) => replicasOf(view) - count("availableReplicas")(view),
    ),
    cloneSet.figure("status_replicas_updated", "Pods of the latest revision.", count("updatedReplicas")),
    cloneSet.figure(
      "status_observed_generation",
      "The generation observed by the controller.",
      count("observedGeneration"),
    ),
    cloneSet.conditions(),
    cloneSet.figure("spec_replicas", "Desired pods.", replicasOf),
    cloneSet.figure(
      "spec_strategy_rollingupdate_max_unavailable",
      "Maximum number of unavailable pods during an update.",
      (view) => shareOf(cloneSetStrategy(view)["maxUnavailable"], replicasOf(view), Math.floor),
    ),
    cloneSet.figure(
      "spec_strategy_rollingupdate_max_surge",
      "Maximum number of pods above the desired number during an update.",
      (view) => shareOf(cloneSetStrategy(view)["maxSurge"], replicasOf(view), Math.ceil),
    ),
    cloneSet.figure("metadata_generation", "The generation of the desired state.", generationOf),
    cloneSet.annotations,
    cloneSet.labels,
    cloneSet.figure("status_replicas_ready", "Ready pods.", count("readyReplicas")),
    cloneSet.figure(
      "status_replicas_updated_ready",
      "Ready pods of the latest revision.",
      count("updatedReadyReplicas"),
    ),
    cloneSet.family(
      "spec_strategy_partition",
      "Number of pods that stay at older revisions, as a label; the value is 0.",
      (view) => partition(cloneSetStrategy(view)["partition"]),
      "partition",
    ),
    cloneSet.family(
      "spec_strategy_type",
      "The update strategy type: 1 for the one in use, 0 for the others.",
      (view) => CLONE_SET_TYPES.map((type): Sample => [[type], cloneSetType(view) === type ? 1 : 0]),
      "strategy_type",
    ),
  ],
};

const partition = (value: unknown): readonly Sample[] =>
  value === undefined || value === null ? [] : [[[textOf(value)], 0]];

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
const statefulSets: StateKind = {
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

const daemonSet = familiesOf("daemonset");
const daemonSets: StateKind = {
  kind: AdvancedDaemonSet,
  label: "daemonset",
  families: [
    daemonSet.created,
    daemonSet.conditions(),
    daemonSet.figure(
      "spec_strategy_rollingupdate_max_surge",
      "Maximum number of pods above the desired number during an update.",
      (view) => shareOf(rollingOf(view)["maxSurge"], count("desiredNumberScheduled")(view), Math.ceil),
    ),
    daemonSet.family(
      "spec_strategy_partition",
      "Number of pods that stay at older revisions, as a label; the value is 0.",
      (view) => partition(rollingOf(view)["partition"]),
      "partition",
    ),
    daemonSet.family(
      "spec_strategy_type",
      "The update strategy, as a label; the value is 0.",
      (view) => [[[textOf(strategyOf(view)["type"])], 0]],
      "strategy_type",
    ),
    daemonSet.figure(
      "status_current_number_scheduled",
      "Nodes that run the pod and are supposed to.",
      count("currentNumberScheduled"),
    ),
    daemonSet.figure(
      "status_desired_number_scheduled",
      "Nodes that are supposed to run the pod.",
      count("desiredNumberScheduled"),
    ),
    daemonSet.figure("status_number_available", "Nodes with an available pod.", count("numberAvailable")),
    daemonSet.figure(
      "status_number_misscheduled",
      "Nodes that run the pod but are not supposed to.",
      count("numberMisscheduled"),
    ),
    daemonSet.figure("status_number_ready", "Nodes with a ready pod.", count("numberReady")),
    daemonSet.figure(
      "status_number_unavailable",
      "Nodes whose pod is missing or unavailable.",
      count("numberUnavailable"),
    ),
    daemonSet.figure(
      "status_observed_generation",
      "The generation observed by the controller.",
      count("observedGeneration"),
    ),
    daemonSet.figure(
      "status_updated_number_scheduled",
      "Nodes whose pod has the latest revision.",
      count("updatedNumberScheduled"),
    ),
    daemonSet.figure("metadata_generation", "The generation of the desired state.", generationOf),
    daemonSet.annotations,
    daemonSet.labels,
  ],
};

export const workloadStates: readonly StateKind[] = [cloneSets, statefulSets, daemonSets];
