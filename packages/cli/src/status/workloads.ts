/** Where workloads run, from their bindings and from ManifestWorks. Pure. */
import { CLUSTER_POLICY_NAME, POLICY_NAME, POLICY_NAMESPACE } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import {
  DaemonSet,
  Deployment,
  isJobFinished,
  Job,
  kubernetesWorkloads,
  Pod,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from "@flotilla/kubernetes";
import { kruiseWorkloads } from "@flotilla/openkruise";
import { parseJobRecord, runsToCompletion, TEMPLATE_ACTIVE, TEMPLATE_FOUND } from "@flotilla/flotilla";
import { REPLICA_SET_LABEL } from "@flotilla/ocm";
import type { ManifestWork } from "@flotilla/ocm";
import { isObject, numberOf, textOf, objectOf } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { findCondition, isConditionTrue, parseApiVersion } from "@flotilla/apimachinery";
import type { ReleaseStatus } from "../health/collect-releases.ts";
import { isLeftByPolicy } from "../health/lost-targets.ts";
import type { RunStatus, WorkloadStatus } from "./fleet-status.ts";

export const idOfWorkload = ({ kind, namespace, name }: { kind: string; namespace: string; name: string }): string =>
  `${kind} ${namespace}/${name}`;

export function summariseWorkload(binding: DeepReadonly<ResourceBinding>): WorkloadStatus {
  const { metadata, spec, status } = binding;
  // It reports pods as active, succeeded and failed; the replicas of its binding are only its parallelism.
  const isRun = runsToCompletion(spec.resource);
  const statuses = statusesOf(binding);
  const counted = countedPods(spec.resource, statuses);
  const isLeft = isLeftByPolicy(binding) && Boolean(spec.clusters?.length) && metadata.deletionTimestamp === undefined;
  return {
    namespace: spec.resource.namespace ?? "",
    name: spec.resource.name,
    kind: spec.resource.kind,
    desired: isRun ? undefined : (counted?.desired ?? desiredOf(spec)),
    ready: counted?.ready ?? readyOf(spec.resource, statuses),
    state: stateOfPods(spec, statuses),
    ...releaseOf(spec.resource, statuses),
    stale: isConditionTrue(status?.conditions, "Stale") || undefined,
    run: isRun ? runOf(binding, statuses) : undefined,
    applied: appliedOf(status?.conditions ?? [], metadata.deletionTimestamp !== undefined),
    placement:
      placementOf(binding, isRun) || (isRun && isFinished(spec.resource.kind, statuses) ? FINISHED_ELSEWHERE : ""),
    withoutPolicy: isLeft || undefined,
    policy: policyOf(metadata.annotations ?? {}),
  };
}

/** The workload with the replicas that its object on the hub asks for, where the binding does not follow the object. */
export function withAskedReplicas(
  workload: WorkloadStatus,
  { spec }: DeepReadonly<ResourceBinding>,
  replicas: number,
): WorkloadStatus {
  const clusters = spec.clusters?.map(({ name }) => ({ name, replicas }));
  return workload.desired === undefined
    ? workload
    : { ...workload, desired: desiredOf({ ...spec, replicas, clusters }) };
}

/** Members report the revision of their copies as updated, which is not that of the template until the release is complete. */
export function withReleases(
  workloads: readonly WorkloadStatus[],
  releases: readonly ReleaseStatus[],
): WorkloadStatus[] {
  const byTarget = new Map(releases.map((release) => [`${release.namespace} ${release.target}`, release]));
  return workloads.map((workload) => {
    const release = byTarget.get(`${workload.namespace} ${workload.kind.toLowerCase()}/${workload.name}`);
    return release ? { ...workload, ...withOutdated(release.updated, release.total) } : workload;
  });
}

/** The placement of a finished run that no remaining member ran: it does not run again. */
const FINISHED_ELSEWHERE = "<finished, its member left>";

/** Of Jobs only: the rules of other kinds would load every controller with them. */
const isFinished = (kind: string, statuses: readonly JsonObject[]): boolean =>
  kind === Job.kind && statuses.length > 0 && statuses.every(isJobFinished);

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * Kinds whose members count pods instead of replicas, by the fields of their status: a SidecarSet counts the pods that
 * it selects, a DaemonSet one per node.
 */
const COUNTED_PODS = [
  { desired: "matchedPods", ready: "readyPods" },
  { desired: "desiredNumberScheduled", ready: "numberReady" },
];
/** Every member gets all its replicas, so its binding does not count them. */
const UNDIVIDED_PODS = { desired: "replicas", ready: "readyReplicas" };

function countedPods(
  resource: Resource,
  statuses: readonly JsonObject[],
): { desired: number; ready: number } | undefined {
  const isUndivided = idOfKind(resource) === `/${ReplicationController.kind}`;
  const fields = (isUndivided ? [UNDIVIDED_PODS] : COUNTED_PODS).find(({ desired }) =>
    statuses.some((status) => desired in status),
  );
  return fields && { desired: sumOf(statuses, fields.desired), ready: sumOf(statuses, fields.ready) };
}

const idOfKind = ({ apiVersion, kind }: Resource): string => `${parseApiVersion(apiVersion).group}/${kind}`;

/** Kinds whose status omits the number of ready replicas when it is 0. */
const WORKLOADS: ReadonlySet<string> = new Set(
  [...kubernetesWorkloads, ...kruiseWorkloads, ReplicaSet].map(({ group, kind }) => `${group}/${kind}`),
);

/** Undefined for other kinds that do not report it: that is not none. */
function readyOf(resource: Resource, statuses: readonly JsonObject[]): number | undefined {
  const id = idOfKind(resource);
  if (isPod(resource)) return statuses.filter(({ conditions }) => isTrue(conditions, "Ready")).length;
  return WORKLOADS.has(id) || statuses.length === 0 || statuses.some((status) => "readyReplicas" in status)
    ? sumOf(statuses, "readyReplicas")
    : undefined;
}

const isPod = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean =>
  kind === Pod.kind && parseApiVersion(apiVersion).group === Pod.group;

/** Of a Pod that has ended on every member; no member reports it as ready, also after a success. */
function stateOfPods(
  { resource, clusters = [] }: DeepReadonly<ResourceBinding>["spec"],
  statuses: readonly JsonObject[],
): string | undefined {
  const phases = statuses.map(({ phase }) => phase);
  if (!isPod(resource) || phases.length === 0 || phases.length < clusters.length) return undefined;
  const failed = phases.filter((phase) => phase === "Failed").length;
  const done = phases.filter((phase) => phase === "Succeeded").length;
  if (failed + done < phases.length) return undefined;
  return failed === 0 ? `${done}/${phases.length} Complete` : `Failed: ${done} done, ${failed} failed`;
}

const statusesOf = ({ status }: DeepReadonly<ResourceBinding>): JsonObject[] =>
  (status?.aggregatedStatus ?? []).map((item) => (isObject(item.status) ? item.status : {}));

const sumOf = (statuses: readonly JsonObject[], field: string): number =>
  statuses.reduce((total, status) => total + numberOf(status[field]), 0);

/** Counters of the pods of the newest version, with the counter of all pods. */
const UPDATED_PODS = [
  { updated: "updatedReplicas", all: "replicas" },
  { updated: "updatedNumberScheduled", all: "currentNumberScheduled" },
  { updated: "updatedPods", all: "matchedPods" },
];

/** Kinds of Kubernetes that count updated pods and omit the number when it is 0, as while a rollout is paused. */
const OMIT_NONE_UPDATED: ReadonlySet<string> = new Set([Deployment.kind, StatefulSet.kind, DaemonSet.kind]);

/** How far a release has come. A member that still has the copy of an earlier release has no pod of the newest one. */
function releaseOf(
  { apiVersion, kind }: Resource,
  statuses: readonly JsonObject[],
): Pick<WorkloadStatus, "updated" | "outdated"> {
  const mayOmit = parseApiVersion(apiVersion).group === Deployment.group && OMIT_NONE_UPDATED.has(kind);
  const fields = UPDATED_PODS.find(({ updated, all }) =>
    statuses.some((status) => updated in status || (mayOmit && all in status)),
  );
  if (!fields) return {};
  const [newest] = statuses.toSorted((a, b) => generationOf(b) - generationOf(a));
  const updated = sumOf(
    statuses.filter(({ release }) => release === newest?.["release"]),
    fields.updated,
  );
  return withOutdated(updated, sumOf(statuses, fields.all));
}

const generationOf = (status: JsonObject): number => numberOf(status["resourceTemplateGeneration"]);

function withOutdated(
  updated: number | undefined,
  all: number | undefined,
): Pick<WorkloadStatus, "updated" | "outdated"> {
  if (updated === undefined || all === undefined) return {};
  return { updated, outdated: all > updated ? all - updated : undefined };
}

function policyOf(annotations: Readonly<Record<string, string>>): string | undefined {
  const name = annotations[POLICY_NAME];
  if (name === undefined) return annotations[CLUSTER_POLICY_NAME];
  return `${annotations[POLICY_NAMESPACE] ?? ""}/${name}`;
}

/** What members had finished before the Job left them, unless their last numbers are still among the statuses. */
function sumOfRecord(binding: DeepReadonly<ResourceBinding>): number {
  const targets = new Set((binding.spec.clusters ?? []).map(({ name }) => name));
  const left = new Set(
    (binding.status?.aggregatedStatus ?? []).map(({ clusterName }) => clusterName).filter((name) => !targets.has(name)),
  );
  return parseJobRecord(binding).reduce((sum, { cluster, succeeded }) => sum + (left.has(cluster) ? 0 : succeeded), 0);
}

/** A copy that is not applied is another one than its member reports. */
function runOf(binding: DeepReadonly<ResourceBinding>, statuses: readonly JsonObject[]): RunStatus {
  const hasFailed = statuses.some(({ conditions }) => isTrue(conditions, "Failed"));
  const isApplied = findCondition(binding.status?.conditions, "FullyApplied")?.status !== "False";
  const before = sumOfRecord(binding);
  const desired = sumOf(statuses, "desired");
  return {
    active: sumOf(statuses, "active"),
    succeeded: before + sumOf(statuses, "succeeded"),
    failed: sumOf(statuses, "failed"),
    desired: desired > 0 ? desired : undefined,
    finished:
      isApplied &&
      statuses.length > 0 &&
      statuses.every(({ conditions }) => isTrue(conditions, "Failed") || isTrue(conditions, "Complete"))
        ? hasFailed
          ? "Failed"
          : "Complete"
        : undefined,
  };
}

function isTrue(conditions: unknown, type: string): boolean {
  return (
    Array.isArray(conditions) &&
    conditions.some((each) => isObject(each) && each["type"] === type && each["status"] === "True")
  );
}

/** A dependency has no clusters of its own; it is on those of its dependents. */
function placementOf({ spec, status }: DeepReadonly<ResourceBinding>, isRun: boolean): string {
  const { clusters = [], requiredBy = [] } = spec;
  const items = isRun ? [] : (status?.aggregatedStatus ?? []);
  const byCluster = new Map(items.map((item) => [item.clusterName, item]));
  if (clusters.length > 0)
    return clusters
      .map(({ name, replicas }) =>
        replicas === undefined ? name : `${name}=${replicas}${otherReplicas(replicas, byCluster.get(name))}`,
      )
      .join(" ");
  return [...new Set(requiredBy.flatMap((owner) => (owner.clusters ?? []).map(({ name }) => name)))]
    .toSorted()
    .join(" ");
}

/**
 * Where a member runs another number and will keep it: one that is up to date, as an autoscaler or a Retain rule may
 * decide, and one that has not taken its share.
 */
function otherReplicas(
  placed: number,
  item: NonNullable<NonNullable<DeepReadonly<ResourceBinding>["status"]>["aggregatedStatus"]>[number] | undefined,
): string {
  const runs = isObject(item?.status) ? item.status["replicas"] : undefined;
  const isKept = item?.applied === false || item?.health === "Healthy";
  return isKept && typeof runs === "number" && runs !== placed ? ` (runs ${runs})` : "";
}

/** A failed dispatch comes first: the members then still run the previous version. */
function appliedOf(
  conditions: DeepReadonly<NonNullable<NonNullable<ResourceBinding["status"]>["conditions"]>>,
  isDeleting: boolean,
): string {
  if (findCondition(conditions, TEMPLATE_FOUND)?.status === "False") return "NoTemplate";
  if (findCondition(conditions, TEMPLATE_ACTIVE)?.status === "False") return "Deleting";
  const dispatched = findCondition(conditions, "Dispatched");
  if (dispatched?.status === "False") return dispatched.reason;
  return findCondition(conditions, "FullyApplied")?.status ?? (isDeleting ? "Deleting" : "Unknown");
}

/**
 * Over all members: with duplicated replicas each member runs all of them, and what is divided is what was asked for,
 * also while it is not placed. Undefined for objects without replicas.
 */
function desiredOf({ replicas, clusters = [], placement }: DeepReadonly<ResourceBinding>["spec"]): number | undefined {
  if (replicas === undefined) return undefined;
  const isDivided = placement?.replicaScheduling?.replicaSchedulingType === "Divided";
  return isDivided || clusters.length === 0
    ? replicas
    : clusters.reduce((sum, cluster) => sum + (cluster.replicas ?? 0), 0);
}

/**
 * The objects of a ManifestWork that run pods. Their numbers are known if the work asks for them as feedback. `isStale`:
 * the cluster does not report.
 */
export function summariseManifests(
  { metadata, spec, status }: DeepReadonly<ManifestWork>,
  isStale = false,
): WorkloadStatus[] {
  const reported = new Map(
    status?.resourceStatus?.manifests?.map((manifest) => [manifest.resourceMeta.ordinal ?? 0, manifest]),
  );
  return ((spec.workload?.manifests ?? []) as unknown as readonly JsonObject[]).flatMap((manifest, ordinal) => {
    const own = objectOf(manifest["spec"]);
    if (!runsPods(own)) return [];
    const { name, namespace } = objectOf(manifest["metadata"]);
    const { conditions, statusFeedback } = reported.get(ordinal) ?? {};
    const valueOf = (value: string): number | undefined =>
      statusFeedback?.values?.find((each) => each.name === value)?.fieldValue.integer;
    const ready = valueOf("ReadyReplicas");
    const [updated, all] = [valueOf("UpdatedReplicas"), valueOf("Replicas")];
    const progressing = findCondition(conditions, "Progressing")?.status;
    return [
      {
        namespace: textOf(namespace),
        name: textOf(name),
        kind: textOf(manifest["kind"]),
        desired: typeof own["replicas"] === "number" ? own["replicas"] : undefined,
        ready,
        ...withOutdated(updated, all),
        state:
          ready === undefined
            ? progressing === "True"
              ? "Progressing"
              : progressing === "False"
                ? "UpToDate"
                : undefined
            : undefined,
        stale: isStale || undefined,
        applied: findCondition(conditions, "Applied")?.status ?? "Unknown",
        placement: `${metadata.namespace ?? ""} (ManifestWork ${metadata.name})`,
      },
    ];
  });
}

/** The namespaces that a ManifestWork is about: its cluster's, that of its ManifestWorkReplicaSet, and those of its objects. */
export function namespacesOf({ metadata, spec }: DeepReadonly<ManifestWork>): Set<string> {
  const manifests = (spec.workload?.manifests ?? []) as unknown as readonly JsonObject[];
  return new Set([
    metadata.namespace ?? "",
    // The label has the namespace and the name.
    ...(/^[^.]+(?=\.)/.exec(metadata.labels?.[REPLICA_SET_LABEL] ?? "") ?? []),
    ...manifests.map((manifest) => textOf(objectOf(manifest["metadata"])["namespace"])),
  ]);
}

/** A pod template, that of jobs on a schedule, or the containers of a SidecarSet or a pod. */
const runsPods = ({ template, jobTemplate, containers }: JsonObject): boolean =>
  isObject(template) || isObject(jobTemplate) || Array.isArray(containers);
