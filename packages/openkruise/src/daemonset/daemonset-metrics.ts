/** The metrics that kruise-state-metrics exports for an Advanced DaemonSet. */
import type { StateKind } from "@flotilla/kubernetes";
import { AdvancedDaemonSet } from "./daemonset-kind.ts";
import {
  familiesOf,
  shareOf,
  textOf,
  generationOf,
  strategyOf,
  rollingOf,
  count,
  partitionSamples,
} from "../metrics/state-families.ts";

const daemonSet = familiesOf("daemonset");
export const daemonSetStates: StateKind = {
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
      (view) => partitionSamples(rollingOf(view)["partition"]),
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
