/** The metrics that kruise-state-metrics exports for a CloneSet. */
import type { Fields, Sample, StateKind, StateView } from "@flotilla/kubernetes";
import { CloneSet } from "./cloneset-kind.ts";
import {
  familiesOf,
  shareOf,
  textOf,
  generationOf,
  replicasOf,
  strategyOf,
  rollingOf,
  count,
  partitionSamples,
} from "../metrics/state-families.ts";

/** v1beta1 has the fields under `rollingUpdate` that v1alpha1 has in the strategy itself. */
const cloneSetStrategy = (view: StateView): Fields => ({ ...strategyOf(view), ...rollingOf(view) });
const CLONE_SET_TYPES = ["ReCreate", "InPlaceIfPossible", "InPlaceOnly"];
function cloneSetType(view: StateView): string {
  const { podUpdatePolicy, type } = cloneSetStrategy(view);
  return textOf(podUpdatePolicy ?? (CLONE_SET_TYPES.includes(textOf(type)) ? type : "ReCreate"));
}

const cloneSet = familiesOf("cloneset");
export const cloneSetStates: StateKind = {
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
      (view) => partitionSamples(cloneSetStrategy(view)["partition"]),
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
