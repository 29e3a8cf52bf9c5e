/** The metrics that kruise-state-metrics exports for a SidecarSet. */
import type { Fields, Sample, StateKind, StateView } from "@flotilla/kubernetes";
import { SidecarSet } from "./sidecarset-kind.ts";
import { familiesOf, shareOf, textOf, generationOf, strategyOf, count } from "../metrics/state-families.ts";
import { objectOf, listOf } from "@flotilla/base";

/** One sample per distinct value among the containers. */
const ofContainers =
  (read: (container: Fields) => unknown) =>
  ({ spec }: StateView): readonly Sample[] =>
    once(listOf(spec["containers"]).map((container) => textOf(read(objectOf(container)))));
const once = (values: readonly string[]): readonly Sample[] =>
  Array.from(new Set(values), (value): Sample => [[value], 0]);

const sidecarSet = familiesOf("sidecarset");
export const sidecarSetStates: StateKind = {
  kind: SidecarSet,
  label: "sidecarset",
  families: [
    sidecarSet.created,
    sidecarSet.figure("status_replicas_matched", "Pods selected by the SidecarSet.", count("matchedPods")),
    sidecarSet.figure("status_replicas_updated", "Pods with the latest sidecars.", count("updatedPods")),
    sidecarSet.figure("status_replicas_ready", "Ready pods.", count("readyPods")),
    sidecarSet.figure(
      "status_observed_generation",
      "The generation observed by the controller.",
      count("observedGeneration"),
    ),
    sidecarSet.figure(
      "status_replicas_updated_ready",
      "Ready pods with the latest sidecars.",
      count("updatedReadyPods"),
    ),
    sidecarSet.figure(
      "spec_strategy_rollingupdate_max_unavailable",
      "Maximum number of unavailable pods during an update.",
      (view) => shareOf(strategyOf(view)["maxUnavailable"], count("matchedPods")(view), Math.floor),
    ),
    sidecarSet.family(
      "spec_strategy_partition",
      "Number of pods that keep older sidecars, as a label; the value is 0.",
      (view) => (strategyOf(view)["partition"] === undefined ? [] : [[[textOf(strategyOf(view)["partition"])], 0]]),
      "partition",
    ),
    sidecarSet.family(
      "spec_strategy_type",
      "The update strategy, as a label; the value is 0.",
      (view) => [[[textOf(strategyOf(view)["type"])], 0]],
      "strategy_type",
    ),
    sidecarSet.figure("spec_metadata_generation", "The generation of the desired state.", generationOf),
    sidecarSet.annotations,
    sidecarSet.labels,
    sidecarSet.family(
      "spec_containers_injectpolicy",
      "The inject position of sidecars in a pod, as a label; the value is 0.",
      ofContainers(({ podInjectPolicy }) => podInjectPolicy),
      "injectpolicy",
    ),
    sidecarSet.family(
      "spec_containers_strategy_type",
      "The upgrade type of sidecars, as a label; the value is 0.",
      ofContainers(({ upgradeStrategy }) => objectOf(upgradeStrategy)["upgradeType"]),
      "strategy_type",
    ),
    sidecarSet.family(
      "spec_containers_strategy_hotupgradeemptyimage",
      "The image used during a hot upgrade, as a label; the value is 0.",
      ofContainers(({ upgradeStrategy }) => objectOf(upgradeStrategy)["hotUpgradeEmptyImage"]),
      "hotupgradeemptyimage",
    ),
    sidecarSet.family(
      "spec_containers_volumepolicy",
      "Whether sidecars share volumes, as a label; the value is 0.",
      ofContainers(({ shareVolumePolicy }) => objectOf(shareVolumePolicy)["type"]),
      "volumepolicy",
    ),
  ],
};
