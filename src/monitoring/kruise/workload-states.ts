/** CloneSet, Advanced StatefulSet and Advanced DaemonSet, as kruise-state-metrics tells of them. */
import { AdvancedDaemonSet, AdvancedStatefulSet, CloneSet } from "../../api/index.ts";
import { familiesOf, fieldsOf, listOf, numberOf, shareOf, textOf } from "./state-family.ts";
import type { Fields, Sample, StateKind, StateView } from "./state-family.ts";

const generationOf = ({ metadata }: StateView): number => metadata.generation ?? 0;
const replicasOf = ({ spec }: StateView): number => (typeof spec["replicas"] === "number" ? spec["replicas"] : 1);
const strategyOf = ({ spec }: StateView): Fields => fieldsOf(spec["updateStrategy"]);
const rollingOf = (view: StateView): Fields => fieldsOf(strategyOf(view)["rollingUpdate"]);
const count =
  (field: string) =>
  ({ status }: StateView): number =>
    numberOf(status[field]);

/** v1beta1 keeps under `rollingUpdate` what v1alpha1 has in the strategy itself. */
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
    cloneSet.figure("status_replicas", "Pods that it has.", count("replicas")),
    cloneSet.figure("status_replicas_available", "Pods that are available.", count("availableReplicas")),
    cloneSet.figure(
      "status_replicas_unavailable",
      "Pods that are wanted and not available.",
      (view) => replicasOf(view) - count("availableReplicas")(view),
    ),
    cloneSet.figure("status_replicas_updated", "Pods of the newest revision.", count("updatedReplicas")),
    cloneSet.figure(
      "status_observed_generation",
      "The generation that its controller has seen.",
      count("observedGeneration"),
    ),
    cloneSet.conditions(),
    cloneSet.figure("spec_replicas", "Pods that are wanted.", replicasOf),
    cloneSet.figure(
      "spec_strategy_rollingupdate_max_unavailable",
      "How many pods may be unavailable during an update.",
      (view) => shareOf(cloneSetStrategy(view)["maxUnavailable"], replicasOf(view), Math.floor),
    ),
    cloneSet.figure(
      "spec_strategy_rollingupdate_max_surge",
      "How many pods more than wanted there may be during an update.",
      (view) => shareOf(cloneSetStrategy(view)["maxSurge"], replicasOf(view), Math.ceil),
    ),
    cloneSet.figure("metadata_generation", "The generation of what is wanted.", generationOf),
    cloneSet.annotations,
    cloneSet.labels,
    cloneSet.figure("status_replicas_ready", "Pods that are ready.", count("readyReplicas")),
    cloneSet.figure(
      "status_replicas_updated_ready",
      "Pods of the newest revision that are ready.",
      count("updatedReadyReplicas"),
    ),
    cloneSet.family(
      "spec_strategy_partition",
      "How many pods stay at older revisions; the label says it, the value is 0.",
      (view) => partition(cloneSetStrategy(view)["partition"]),
      "partition",
    ),
    cloneSet.family(
      "spec_strategy_type",
      "How pods are updated: 1 at the way that is asked for, 0 at the others.",
      (view) => CLONE_SET_TYPES.map((type): Sample => [[type], cloneSetType(view) === type ? 1 : 0]),
      "strategy_type",
    ),
  ],
};

const partition = (value: unknown): readonly Sample[] =>
  value === undefined || value === null ? [] : [[[textOf(value)], 0]];

/**
 * A range such as `3-5` stands for each ordinal in it. Nobody reserves more than this many, and a label must not cost
 * more.
 */
const MAX_ORDINALS = 1_000;
function ordinals(entries: unknown): readonly Sample[] {
  const all = new Set<number>();
  for (const entry of listOf(entries)) {
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(textOf(entry)) ?? [];
    if (first === undefined) return [];
    for (let ordinal = Number(first); ordinal <= Number(last) && all.size < MAX_ORDINALS; ordinal++) all.add(ordinal);
  }
  // One sample of a family may have the same labels as another only once, so the largest stands for all.
  return all.size === 0 ? [] : [[[], Math.max(...all)]];
}

const statefulSet = familiesOf("statefulset");
const statefulSets: StateKind = {
  kind: AdvancedStatefulSet,
  label: "statefulset",
  families: [
    statefulSet.created,
    statefulSet.figure("status_replicas", "Pods that it has.", count("replicas")),
    statefulSet.figure("status_replicas_available", "Pods that are available.", count("availableReplicas")),
    statefulSet.figure("status_replicas_current", "Pods of the current revision.", count("currentReplicas")),
    statefulSet.figure("status_replicas_ready", "Pods that are ready.", count("readyReplicas")),
    statefulSet.figure("status_replicas_updated", "Pods of the newest revision.", count("updatedReplicas")),
    statefulSet.figure(
      "status_observed_generation",
      "The generation that its controller has seen.",
      count("observedGeneration"),
    ),
    statefulSet.conditions(),
    statefulSet.figure("replicas", "Pods that are wanted.", replicasOf),
    statefulSet.figure("metadata_generation", "The generation of what is wanted.", generationOf),
    statefulSet.figure("spec_replicas", "Pods that are wanted.", replicasOf),
    statefulSet.figure(
      "spec_strategy_rollingupdate_max_unavailable",
      "How many pods may be unavailable during an update.",
      (view) => shareOf(rollingOf(view)["maxUnavailable"], replicasOf(view), Math.floor),
    ),
    statefulSet.family(
      "spec_reserveordinals",
      "The highest ordinal that is left out; nothing where none is.",
      ({ spec }) => ordinals(spec["reserveOrdinals"]),
    ),
    statefulSet.annotations,
    statefulSet.labels,
    statefulSet.family(
      "status_current_revision",
      "1 at the revision that pods had before the update.",
      ({ status }) => [[[textOf(status["currentRevision"])], 1]],
      "revision",
    ),
    statefulSet.family(
      "status_update_revision",
      "1 at the revision that pods are updated to.",
      ({ status }) => [[[textOf(status["updateRevision"])], 1]],
      "revision",
    ),
    statefulSet.family(
      "spec_strategy_type",
      "How pods are updated; the label says it, the value is 0.",
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
      "How many pods more than wanted there may be during an update.",
      (view) => shareOf(rollingOf(view)["maxSurge"], count("desiredNumberScheduled")(view), Math.ceil),
    ),
    daemonSet.family(
      "spec_strategy_partition",
      "How many pods stay at older revisions; the label says it, the value is 0.",
      (view) => partition(rollingOf(view)["partition"]),
      "partition",
    ),
    daemonSet.family(
      "spec_strategy_type",
      "How pods are updated; the label says it, the value is 0.",
      (view) => [[[textOf(strategyOf(view)["type"])], 0]],
      "strategy_type",
    ),
    daemonSet.figure(
      "status_current_number_scheduled",
      "Nodes that have a pod and should.",
      count("currentNumberScheduled"),
    ),
    daemonSet.figure(
      "status_desired_number_scheduled",
      "Nodes that should have a pod.",
      count("desiredNumberScheduled"),
    ),
    daemonSet.figure("status_number_available", "Nodes whose pod is available.", count("numberAvailable")),
    daemonSet.figure(
      "status_number_misscheduled",
      "Nodes that have a pod and should not.",
      count("numberMisscheduled"),
    ),
    daemonSet.figure("status_number_ready", "Nodes whose pod is ready.", count("numberReady")),
    daemonSet.figure(
      "status_number_unavailable",
      "Nodes whose pod is missing or not available.",
      count("numberUnavailable"),
    ),
    daemonSet.figure(
      "status_observed_generation",
      "The generation that its controller has seen.",
      count("observedGeneration"),
    ),
    daemonSet.figure(
      "status_updated_number_scheduled",
      "Nodes whose pod is of the newest revision.",
      count("updatedNumberScheduled"),
    ),
    daemonSet.figure("metadata_generation", "The generation of what is wanted.", generationOf),
    daemonSet.annotations,
    daemonSet.labels,
  ],
};

export const workloadStates: readonly StateKind[] = [cloneSets, statefulSets, daemonSets];
