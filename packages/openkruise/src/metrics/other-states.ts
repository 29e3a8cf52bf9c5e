/** SidecarSet, BroadcastJob, WorkloadSpread and ContainerRecreateRequest, as kruise-state-metrics exports them. */
import { BroadcastJob } from "../api/broadcast-job.ts";
import { dynamicKind } from "@flotilla/apimachinery";
import { SidecarSet } from "../api/sidecar-set.ts";
import { familiesOf, fieldsOf, listOf, numberOf, shareOf, textOf } from "./state-families.ts";
import type { Fields, Sample, StateKind, StateView } from "@flotilla/kubernetes";

const generationOf = ({ metadata }: StateView): number => metadata.generation ?? 0;
const count =
  (field: string) =>
  ({ status }: StateView): number =>
    numberOf(status[field]);
const strategyOf = ({ spec }: StateView): Fields => fieldsOf(spec["updateStrategy"]);

/** One sample per distinct value among the containers. */
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
      ofContainers(({ upgradeStrategy }) => fieldsOf(upgradeStrategy)["upgradeType"]),
      "strategy_type",
    ),
    sidecarSet.family(
      "spec_containers_strategy_hotupgradeemptyimage",
      "The image used during a hot upgrade, as a label; the value is 0.",
      ofContainers(({ upgradeStrategy }) => fieldsOf(upgradeStrategy)["hotUpgradeEmptyImage"]),
      "hotupgradeemptyimage",
    ),
    sidecarSet.family(
      "spec_containers_volumepolicy",
      "Whether sidecars share volumes, as a label; the value is 0.",
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
    broadcastJob.figure("status_active", "Running pods.", count("active")),
    broadcastJob.figure("status_succeeded", "Succeeded pods.", count("succeeded")),
    broadcastJob.figure("status_failed", "Failed pods.", count("failed")),
    broadcastJob.figure("status_desired", "Desired pods: one on each matching node.", count("desired")),
    broadcastJob.conditions(),
    broadcastJob.figure(
      "spec_parallelism",
      "Maximum number of pods running at the same time; 0 if it is a percentage or not set.",
      ({ spec }) => numberOf(spec["parallelism"]),
    ),
    broadcastJob.figure("metadata_generation", "The generation of the desired state.", generationOf),
    broadcastJob.annotations,
    broadcastJob.labels,
    broadcastJob.figure(
      "spec_strategy_activedeadline_seconds",
      "Maximum duration of the job in seconds; 0 if it is not set.",
      (view) => numberOf(completionOf(view)["activeDeadlineSeconds"]),
    ),
    broadcastJob.figure(
      "spec_strategy_ttl_seconds",
      "Time to live after the job finished in seconds; 0 if it is not set.",
      (view) => numberOf(completionOf(view)["ttlSecondsAfterFinished"]),
    ),
    broadcastJob.family(
      "spec_strategy_type",
      "The completion policy, as a label; the value is 0.",
      (view) => [[[textOf(completionOf(view)["type"])], 0]],
      "strategy_type",
    ),
  ],
};

const ofKruise = (kind: string, plural: string): StateKind["kind"] =>
  dynamicKind({ group: "apps.kruise.io", version: "v1alpha1", kind, plural, scope: "Namespaced" });

const workloadSpread = familiesOf("workloadspread");
/** The subset label, which upstream omits: without it the subsets of one object could not be distinguished. */
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
      "Missing pods of each subset.",
      ofSubsets("missingReplicas"),
      "subset",
    ),
    workloadSpread.figure("metadata_generation", "The generation of the desired state.", generationOf),
    workloadSpread.annotations,
    workloadSpread.labels,
    workloadSpread.family(
      "spec_strategy_type",
      "The schedule strategy, as a label; the value is 0.",
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
    recreateRequest.figure("containers_pending", "Containers waiting to be recreated.", inPhase("Pending")),
    recreateRequest.figure("containers_recreating", "Containers being recreated.", inPhase("Recreating")),
    recreateRequest.figure("containers_succeeded", "Recreated containers.", inPhase("Succeeded")),
    recreateRequest.figure("containers_failed", "Containers that could not be recreated.", inPhase("Failed")),
    recreateRequest.figure("pending", "1 while the request is pending.", isIn("Pending")),
    recreateRequest.figure("recreating", "1 while containers are being recreated.", isIn("Recreating")),
    recreateRequest.figure("completed", "1 when the request has completed.", isIn("Completed")),
  ],
};

export const otherStates: readonly StateKind[] = [sidecarSets, broadcastJobs, workloadSpreads, recreateRequests];
