/**
 * The pod webhook of WorkloadSpreads: places a new pod into the first subset that misses one, and records pods that are
 * created or deleted before the controller sees them.
 *
 * A pod is placed by what the status says when it is admitted. The record is written just before the pod is: if another
 * pod took the last place in between, the pod is admitted again.
 */
import { controllerOf, labelSelectorOf, matchesLabels, parseApiVersion } from "@flotilla/apimachinery";
import type { Admission, ClusterReader, Reservation, Review } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { isActive, Pod, ReplicaSet } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { KruiseWebhookOptions } from "../api/kruise-definition.ts";
import { isPodInScope } from "../api/webhook-scope.ts";
import { injectSubset, matchOf } from "./inject-subset.ts";
import { isSameTarget, replicasOf, targetKindOf, versionOfPod } from "./spread-targets.ts";
import type { ReadonlySpread } from "./spread-targets.ts";
import { chooseSubset, recordDeletion, withCurrentLimits, withoutRecord } from "./subset-records.ts";
import type { Choice } from "./subset-records.ts";
import { WorkloadSpread } from "./workloadspread-kind.ts";

export function createSpreadAdmissions(options: KruiseWebhookOptions): Admission<Pod>[] {
  return options.gates.isOn("WorkloadSpread") ? [createPlacing(options), createReleasing(options)] : [];
}

function createPlacing(options: KruiseWebhookOptions): Admission<Pod> {
  const { nowMs } = options;
  const choiceFor = (spread: ReadonlySpread, pod: ReadonlyPod, id: string, read: ClusterReader): Choice => {
    const replicas = desiredReplicas(spread, read);
    const version = versionOfPod(pod);
    const name = id === pod.metadata.name ? id : "";
    return chooseSubset(withCurrentLimits(spread, version, replicas), { name, id, version }, replicas, nowMs());
  };
  return {
    name: "WorkloadSpread",
    for: Pod,
    on: ["CREATE"],
    mutate(review) {
      const { object, cluster, subresource, dryRun, read } = review;
      if (subresource !== undefined || dryRun || !options.appliesTo(cluster)) return object;
      const spreads = read.written(WorkloadSpread, object.metadata.namespace);
      if (spreads.length === 0 || !isActive(object) || !isPodInScope(review, options)) return object;
      const spread = spreadOf(spreads, object, read);
      if (!spread) return object;
      const { name } = object.metadata;
      const uid = isNamedByServer(object) ? review.newUid() : undefined;
      const { subset, status } = choiceFor(spread, object, uid ?? name, read);
      if (subset === undefined) return object;
      return injectSubset(spread, object, { name: spread.metadata.name, subset, uid: status && uid });
    },
    async reserve({ object, cluster, subresource, read }, write): Promise<Reservation | "stale" | undefined> {
      const match = subresource === undefined && options.appliesTo(cluster) ? matchOf(object) : undefined;
      const { namespace, name } = object.metadata;
      if (!match || !read.get(WorkloadSpread, namespace, match.name)) return undefined;
      const id = match.uid ?? name;
      let isStale = false;
      let isRecorded = false;
      await write.changeStatus(WorkloadSpread, namespace, match.name, (spread) => {
        const { subset, status } = choiceFor(spread, object, id, read);
        isStale = subset !== match.subset;
        isRecorded = !isStale && status !== undefined;
        return isRecorded ? status : undefined;
      });
      if (isStale) return "stale";
      return isRecorded ? releaseOf(write, object, match.name, id, "creatingPods") : undefined;
    },
  };
}

/**
 * Kubernetes' controllers leave the name to the server, which a webhook does not know then; OpenKruise's do not. The
 * generated name is known here, but the record has to look the same.
 */
function isNamedByServer(pod: ReadonlyPod): boolean {
  const owner = controllerOf(pod);
  const isOfKruise = owner !== undefined && parseApiVersion(owner.apiVersion).group === "apps.kruise.io";
  return !pod.metadata.name || (pod.metadata.generateName !== undefined && !isOfKruise);
}

function createReleasing(options: KruiseWebhookOptions): Admission<Pod> {
  return {
    name: "WorkloadSpreadRelease",
    for: Pod,
    on: ["DELETE"],
    async reserve(review, write) {
      const { object, subresource, read } = review;
      if (subresource !== undefined && subresource !== "eviction") return undefined;
      const match = matchOf(object);
      const { namespace, name } = object.metadata;
      if (!match || !isActive(object) || !controllerOf(object) || !isPodInScope(review, options)) return undefined;
      if (!read.get(WorkloadSpread, namespace, match.name)) return undefined;
      let isRecorded = false;
      await write.changeStatus(WorkloadSpread, namespace, match.name, (spread) => {
        const pod = { name, subset: match.subset, version: versionOfPod(object) };
        const status = recordDeletion(spread, pod, desiredReplicas(spread, read), options.nowMs());
        isRecorded = status !== undefined;
        return status;
      });
      return isRecorded ? releaseOf(write, object, match.name, name, "deletingPods") : undefined;
    },
  };
}

function releaseOf(
  write: Parameters<NonNullable<Admission<Pod>["reserve"]>>[1],
  pod: ReadonlyPod,
  spread: string,
  id: string,
  what: "creatingPods" | "deletingPods",
): Reservation {
  return {
    release: () =>
      write.changeStatus(WorkloadSpread, pod.metadata.namespace, spread, (stored) =>
        withoutRecord(stored, versionOfPod(pod), id, what),
      ),
  };
}

function desiredReplicas(spread: ReadonlySpread, read: ClusterReader): number {
  const { targetRef } = spread.spec;
  const kind = targetKindOf(targetRef);
  return replicasOf(spread, kind && read.get(kind, spread.metadata.namespace, targetRef.name));
}

/** The WorkloadSpread of the workload that the pod belongs to, directly or through a ReplicaSet. */
function spreadOf(
  spreads: readonly ReadonlySpread[],
  pod: ReadonlyPod,
  read: Review<Pod>["read"],
): DeepReadonly<WorkloadSpread> | undefined {
  const owner = controllerOf(pod);
  if (!owner || !targetKindOf(owner)) return undefined;
  const set = owner.kind === ReplicaSet.kind ? read.get(ReplicaSet, pod.metadata.namespace, owner.name) : undefined;
  const above = set && controllerOf(set);
  return spreads.find(
    (spread) =>
      spread.metadata.deletionTimestamp === undefined &&
      [owner, above].some((one) => one && isSameTarget(spread.spec.targetRef, one)) &&
      selects(spread, pod),
  );
}

export const selects = ({ spec: { targetFilter } }: ReadonlySpread, { metadata }: ReadonlyPod): boolean =>
  !targetFilter?.selector || matchesLabels(labelSelectorOf(targetFilter.selector), metadata.labels);
