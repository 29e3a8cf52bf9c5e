/** What the pre-download of images reads of CloneSets, Advanced StatefulSets and Advanced DaemonSets. Pure. */
import { podTemplateOf, REVISION_LABEL, shortHash, CONTROLLER_REVISION_HASH_LABEL } from "@flotilla/kubernetes";
import type { ReadonlyRevision } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { FeatureGates } from "../api/feature-gates.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { AdvancedDaemonSet } from "../daemonset/daemonset-kind.ts";
import { legacyShare, partitionOf, strictShare } from "../int-or-percent.ts";
import { planInPlaceUpdate } from "../in-place/update-spec.ts";
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import type { UpdateView } from "./plan-predownload.ts";

/** With this many pods or fewer an update does not wait for images. */
const FEW_REPLICAS = 3;

/** `revisions` are ordered, the newest last. */
type View<T> = (workload: DeepReadonly<T>, revisions: readonly ReadonlyRevision[], gates: FeatureGates) => UpdateView;

export const viewOfCloneSet: View<CloneSet> = (workload, revisions, gates) => {
  const { spec, status } = workload;
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const { podUpdatePolicy = "ReCreate", partition, maxUnavailable = "20%" } = rollingUpdate ?? {};
  const replicas = spec.replicas ?? 1;
  const rollout = rolloutOf(revisions, status?.currentRevision);
  const isAtOnce =
    (partitionOf(partition, replicas) ?? 0) === 0 && (legacyShare(maxUnavailable, replicas, "down") ?? 0) >= replicas;
  return {
    ...rollout,
    kind: CloneSet,
    workload,
    selector: spec.selector,
    template: spec.template,
    replicas,
    updatedReady: status?.updateRevision === rollout.update?.metadata.name ? (status?.updatedReadyReplicas ?? 0) : 0,
    isUseless:
      type === "OnDelete" ||
      podUpdatePolicy === "ReCreate" ||
      replicas <= FEW_REPLICAS ||
      isAtOnce ||
      !canUpdateInPlace(rollout, gates),
  };
};

export const viewOfStatefulSet: View<AdvancedStatefulSet> = (workload, revisions, gates) => {
  const { spec, status } = workload;
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const replicas = spec.replicas ?? 1;
  const rollout = rolloutOf(revisions, status?.currentRevision);
  const isAtOnce =
    (rollingUpdate?.partition ?? 0) === 0 &&
    (legacyShare(rollingUpdate?.maxUnavailable ?? 1, replicas, "down") ?? 0) >= replicas;
  return {
    ...rollout,
    kind: AdvancedStatefulSet,
    workload,
    selector: spec.selector,
    template: spec.template,
    replicas,
    updatedReady: status?.updateRevision === rollout.update?.metadata.name ? (status?.updatedReadyReplicas ?? 0) : 0,
    isUseless:
      type === "OnDelete" ||
      (rollingUpdate?.podUpdatePolicy ?? "ReCreate") === "ReCreate" ||
      replicas <= FEW_REPLICAS ||
      isAtOnce ||
      !canUpdateInPlace(rollout, gates),
  };
};

export const viewOfDaemonSet: View<AdvancedDaemonSet> = (workload, revisions) => {
  const { metadata, spec, status } = workload;
  const { partition = 0, maxUnavailable = 1 } = spec.updateStrategy?.rollingUpdate ?? {};
  const desired = status?.desiredNumberScheduled ?? 0;
  const update = revisions.at(-1);
  const hash = update?.metadata.labels?.[REVISION_LABEL] ?? "";
  const isOver =
    status?.observedGeneration === metadata.generation &&
    status?.updatedNumberScheduled === desired &&
    shortHash(status.updateRevision ?? "") === hash;
  return {
    kind: AdvancedDaemonSet,
    workload,
    selector: spec.selector,
    template: spec.template,
    replicas: desired,
    // OpenKruise ignores the annotation here.
    updatedReady: Infinity,
    update: isOver ? undefined : update,
    earlier: revisions.slice(0, -1),
    hash,
    isUseless:
      revisions.length < 2 ||
      ((strictShare(partition, desired, "down") ?? 0) === 0 &&
        (strictShare(maxUnavailable, desired, "up") ?? 0) >= desired),
  };
};

type Rollout = Pick<UpdateView, "update" | "earlier" | "hash">;

function rolloutOf(revisions: readonly ReadonlyRevision[], currentName: string | undefined): Rollout {
  const newest = revisions.at(-1);
  const current = revisions.find(({ metadata }) => metadata.name === currentName) ?? newest;
  return {
    update: newest === current ? undefined : newest,
    earlier: current ? [current] : [],
    hash: newest?.metadata.labels?.[CONTROLLER_REVISION_HASH_LABEL] ?? "",
  };
}

function canUpdateInPlace({ update, earlier: [current] }: Rollout, gates: FeatureGates): boolean {
  if (!update || !current) return false;
  const to = { template: podTemplateOf(update) };
  return planInPlaceUpdate({ template: podTemplateOf(current) }, to, update.metadata.name, { gates }) !== undefined;
}
