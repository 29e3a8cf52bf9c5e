/** SidecarSet, BroadcastJob, WorkloadSpread and ContainerRecreateRequest, as kruise-state-metrics tells of them. */
import { BroadcastJob, dynamicKind, SidecarSet } from "../../api/index.ts";
import { familiesOf, fieldsOf, listOf, numberOf, shareOf, textOf } from "./state-family.ts";
import type { Fields, Sample, StateKind, StateView } from "./state-family.ts";

const generationOf = ({ metadata }: StateView): number => metadata.generation ?? 0;
const count =
  (field: string) =>
  ({ status }: StateView): number =>
    numberOf(status[field]);
const strategyOf = ({ spec }: StateView): Fields => fieldsOf(spec["updateStrategy"]);

/** What the containers say, each value once. */
const ofContainers =
  (read: (container: Fields) => unknown) =>
  ({ spec }: StateView): readonly Sample[] =>
    once(listOf(spec["containers"]).map((container) => textOf(read(fieldsOf(container)))));
const once = (values: readonly string[]): readonly Sample[] =>
  Array.from(new Set(values), (value): Sample => [[value], 0]);

const sidecarSet = familiesOf("sidecarset");
const sidecarSets: StateKind = {
  kind: SidecarSet,
  label: "sidecarset",
  families: [
    sidecarSet.created,
    sidecarSet.figure("status_replicas_matched", "Pods that it selects.", count("matchedPods")),
    sidecarSet.figure("status_replicas_updated", "Pods with the newest sidecars.", count("updatedPods")),
    sidecarSet.figure("status_replicas_ready", "Pods that are ready.", count("readyPods")),
    sidecarSet.figure(
      "status_observed_generation",
      "The generation that its controller has seen.",
      count("observedGeneration"),
    ),
    sidecarSet.figure(
      "status_replicas_updated_ready",
      "Pods with the newest sidecars that are ready.",
      count("updatedReadyPods"),
    ),
    sidecarSet.figure(
      "spec_strategy_rollingupdate_max_unavailable",
      "How many pods may be unavailable during an update.",
      (view) => shareOf(strategyOf(view)["maxUnavailable"], count("matchedPods")(view), Math.floor),
    ),
    sidecarSet.family(
      "spec_strategy_partition",
      "How many pods keep older sidecars; the label says it, the value is 0.",
      (view) => (strategyOf(view)["partition"] === undefined ? [] : [[[textOf(strategyOf(view)["partition"])], 0]]),
      "partition",
    ),
    sidecarSet.family(
      "spec_strategy_type",
      "How pods are updated; the label says it, the value is 0.",
      (view) => [[[textOf(strategyOf(view)["type"])], 0]],
      "strategy_type",
    ),
    sidecarSet.figure("spec_metadata_generation", "The generation of what is wanted.", generationOf),
    sidecarSet.annotations,
    sidecarSet.labels,
    sidecarSet.family(
      "spec_containers_injectpolicy",
      "Where sidecars go in a pod; the label says it, the value is 0.",
      ofContainers(({ podInjectPolicy }) => podInjectPolicy),
      "injectpolicy",
    ),
    sidecarSet.family(
      "spec_containers_strategy_type",
      "How sidecars are upgraded; the label says it, the value is 0.",
      ofContainers(({ upgradeStrategy }) => fieldsOf(upgradeStrategy)["upgradeType"]),
      "strategy_type",
    ),
    sidecarSet.family(
      "spec_containers_strategy_hotupgradeemptyimage",
      "What stands in during a hot upgrade; the label says it, the value is 0.",
      ofContainers(({ upgradeStrategy }) => fieldsOf(upgradeStrategy)["hotUpgradeEmptyImage"]),
      "hotupgradeemptyimage",
    ),
    sidecarSet.family(
      "spec_containers_volumepolicy",
      "Whether sidecars share volumes; the label says it, the value is 0.",
      ofContainers(({ shareVolumePolicy }) => fieldsOf(shareVolumePolicy)["type"]),
      "volumepolicy",
    ),
  ],
};

const broadcastJob = familiesOf("broadcastjob");
const completionOf = ({ spec }: StateView): Fields => fieldsOf(spec["completionPolicy"]);
const broadcastJobs: StateKind = {
  kind: BroadcastJob,
  label: "broadcastjob",
  families: [
    broadcastJob.created,
    broadcastJob.figure("status_active", "Pods that run.", count("active")),
    broadcastJob.figure("status_succeeded", "Pods that succeeded.", count("succeeded")),
    broadcastJob.figure("status_failed", "Pods that failed.", count("failed")),
    broadcastJob.figure("status_desired", "Pods that are wanted: one on each node that fits.", count("desired")),
    broadcastJob.conditions(),
    broadcastJob.figure(
      "spec_parallelism",
      "How many pods may run at the same time; 0 where it is a percentage or not said.",
      ({ spec }) => numberOf(spec["parallelism"]),
    ),
    broadcastJob.figure("metadata_generation", "The generation of what is wanted.", generationOf),
    broadcastJob.annotations,
    broadcastJob.labels,
    broadcastJob.figure(
      "spec_strategy_activedeadline_seconds",
      "How long it may run; 0 where it is not said.",
      (view) => numberOf(completionOf(view)["activeDeadlineSeconds"]),
    ),
    broadcastJob.figure(
      "spec_strategy_ttl_seconds",
      "How long it stays after its end; 0 where it is not said.",
      (view) => numberOf(completionOf(view)["ttlSecondsAfterFinished"]),
    ),
    broadcastJob.family(
      "spec_strategy_type",
      "When it ends; the label says it, the value is 0.",
      (view) => [[[textOf(completionOf(view)["type"])], 0]],
      "strategy_type",
    ),
  ],
};

const ofKruise = (kind: string, plural: string): StateKind["kind"] =>
  dynamicKind({ group: "apps.kruise.io", version: "v1alpha1", kind, plural, scope: "Namespaced" });

const workloadSpread = familiesOf("workloadspread");
/** The subset, which upstream leaves out: without it subsets of one object cannot be told apart. */
const ofSubsets =
  (field: string) =>
  ({ status }: StateView): readonly Sample[] =>
    listOf(status["subsetStatuses"]).map((each): Sample => [
      [textOf(fieldsOf(each)["name"])],
      numberOf(fieldsOf(each)[field]),
    ]);
const workloadSpreads: StateKind = {
  kind: ofKruise("WorkloadSpread", "workloadspreads"),
  label: "workloadspread",
  families: [
    workloadSpread.created,
    workloadSpread.family("status_subset_replicas", "Pods of each subset.", ofSubsets("replicas"), "subset"),
    workloadSpread.family(
      "status_subset_replicas_missing",
      "Pods that each subset lacks.",
      ofSubsets("missingReplicas"),
      "subset",
    ),
    workloadSpread.figure("metadata_generation", "The generation of what is wanted.", generationOf),
    workloadSpread.annotations,
    workloadSpread.labels,
    workloadSpread.family(
      "spec_strategy_type",
      "How pods are spread; the label says it, the value is 0.",
      ({ spec }) => [[[textOf(fieldsOf(spec["scheduleStrategy"])["type"])], 0]],
      "strategy_type",
    ),
  ],
};

const recreateRequest = familiesOf("containerrecreaterequest");
const inPhase =
  (phase: string) =>
  ({ status }: StateView): number =>
    listOf(status["containerRecreateStates"]).filter((each) => fieldsOf(each)["phase"] === phase).length;
const isIn =
  (phase: string) =>
  ({ status }: StateView): number =>
    status["phase"] === phase ? 1 : 0;
const recreateRequests: StateKind = {
  kind: ofKruise("ContainerRecreateRequest", "containerrecreaterequests"),
  label: "containerrecreaterequest",
  families: [
    recreateRequest.annotations,
    recreateRequest.labels,
    recreateRequest.created,
    recreateRequest.figure("containers_pending", "Containers that wait.", inPhase("Pending")),
    recreateRequest.figure("containers_recreating", "Containers that are being recreated.", inPhase("Recreating")),
    recreateRequest.figure("containers_succeeded", "Containers that were recreated.", inPhase("Succeeded")),
    recreateRequest.figure("containers_failed", "Containers that could not be.", inPhase("Failed")),
    recreateRequest.figure("pending", "1 while it waits.", isIn("Pending")),
    recreateRequest.figure("recreating", "1 while it is at work.", isIn("Recreating")),
    recreateRequest.figure("completed", "1 when it has ended.", isIn("Completed")),
  ],
};

export const otherStates: readonly StateKind[] = [sidecarSets, broadcastJobs, workloadSpreads, recreateRequests];
