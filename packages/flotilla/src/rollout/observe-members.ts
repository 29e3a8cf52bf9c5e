/** Reads the members of a release from what the hub knows: targets of the binding, Works with reports, Clusters. Pure. */
import { findCondition, isConditionTrue } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { countOf } from "@flotilla/kubernetes";
import { clusterNameOf, executionNamespace } from "@flotilla/karmada";
import type { Cluster, ResourceBinding, Work } from "@flotilla/karmada";
import { APPLIED_FAILED, MEMBER_UNREACHABLE, NO_ANSWER, RELEASE_OBSERVED, STEP_KEEPS } from "../flotilla-names.ts";
import { runsOnEveryNode } from "../health/run-to-completion.ts";
import { whyAway } from "../propagation/members/member-away.ts";
import { targetsOf } from "../propagation/bindings/target-clusters.ts";
import type { RolloutCluster } from "./kinds/fleet-rollout.ts";
import type { ObservedMember, Updates } from "./plan/release-state.ts";

type Template = DeepReadonly<KubernetesObject>;

export interface MembersInput {
  readonly binding: DeepReadonly<ResourceBinding>;
  readonly template: Template;
  readonly works: readonly DeepReadonly<Work>[];
  readonly clusterOf: (name: string) => DeepReadonly<Cluster> | undefined;
  readonly entries: readonly DeepReadonly<RolloutCluster>[];
  readonly updates: Updates;
  readonly trouble?: ReadonlyMap<string, { pods: number; message: string }> | undefined;
}

export function observeMembers(input: MembersInput): ObservedMember[] {
  const { binding, works, entries } = input;
  const workOf = new Map(works.map((work) => [work.metadata.namespace, work]));
  const entryOf = new Map(entries.map((entry) => [entry.name, entry]));
  return targetsOf(binding.spec).map(({ name, replicas }) =>
    observeMember(input, {
      name,
      replicas: replicas ?? binding.spec.replicas ?? 0,
      work: workOf.get(executionNamespace(name)),
      entry: entryOf.get(name),
    }),
  );
}

/** Pods of a release on members that the workload is leaving, as these last reported. Members that are away report nothing. */
export function leavingPods(
  { binding, works, clusterOf }: Pick<MembersInput, "binding" | "works" | "clusterOf">,
  release: string,
): number {
  const targets = new Set(targetsOf(binding.spec).map(({ name }) => executionNamespace(name)));
  let pods = 0;
  for (const { metadata, status } of works) {
    if (targets.has(metadata.namespace ?? "")) continue;
    const cluster = clusterOf(clusterNameOf(metadata.namespace ?? "") ?? "");
    const step = findCondition(status?.conditions, RELEASE_OBSERVED)?.message;
    if (!cluster || whyAway(cluster) !== undefined || step?.startsWith(`${release}@`) !== true) continue;
    const reported = status?.manifestStatuses?.[0]?.status;
    const counts: JsonObject = isObject(reported) ? reported : {};
    const updated = countOf(counts["updatedReplicas"]);
    pods += step.includes(STEP_KEEPS) ? Math.max(0, countOf(counts["replicas"]) - updated) : updated;
  }
  return pods;
}

function observeMember(
  { clusterOf, updates, trouble, template }: MembersInput,
  {
    name,
    replicas,
    work,
    entry,
  }: {
    name: string;
    replicas: number;
    work: DeepReadonly<Work> | undefined;
    entry: DeepReadonly<RolloutCluster> | undefined;
  },
): ObservedMember {
  const cluster = clusterOf(name);
  const conditions = work?.status?.conditions ?? [];
  const applied = findCondition(conditions, "Applied");
  const isReachable =
    cluster !== undefined &&
    whyAway(cluster) === undefined &&
    applied?.reason !== MEMBER_UNREACHABLE &&
    applied?.reason !== NO_ANSWER;
  const reported = work?.status?.manifestStatuses?.[0];
  const status: JsonObject = isObject(reported?.status) ? reported.status : {};
  const step = findCondition(conditions, RELEASE_OBSERVED)?.message;
  const isAcknowledged =
    isConditionTrue(conditions, "Applied") &&
    reported !== undefined &&
    (entry?.step === undefined || entry.step === step) &&
    isObserved(status);
  const counts =
    updates.takesDown === "none"
      ? wholeCounts(reported?.health !== "Unhealthy", 1)
      : runsOnEveryNode(template)
        ? daemonCounts(status)
        : ofRelease(podCounts(status, replicas, reported?.health === "Healthy"), status, entry);
  return {
    name,
    labels: cluster?.metadata.labels ?? {},
    isReachable,
    isAcknowledged,
    problem: applied?.reason === APPLIED_FAILED ? applied.message : undefined,
    trouble: trouble?.get(name),
    ...counts,
  };
}

/** The copy of a member that keeps pods of the release has another template: its updated pods are the others. */
function ofRelease(counts: Counts, status: JsonObject, entry: DeepReadonly<RolloutCluster> | undefined): Counts {
  if (entry?.kept === undefined) return counts;
  const { size, updated, ready, available } = counts;
  const kept = Math.max(0, countOf(status["replicas"]) - updated);
  return { size, available, updated: kept, ready: Math.min(kept, Math.max(0, available - ready)) };
}

type Counts = Pick<ObservedMember, "size" | "updated" | "ready" | "available">;

const wholeCounts = (isThere: boolean, size: number): Counts => ({
  size,
  updated: size,
  ready: isThere ? size : 0,
  available: isThere ? size : 0,
});

function isObserved({ generation, observedGeneration }: JsonObject): boolean {
  return typeof generation !== "number" || typeof observedGeneration !== "number" || observedGeneration >= generation;
}

function daemonCounts(status: JsonObject): Counts {
  const size = countOf(status["desiredNumberScheduled"]);
  const updated = countOf(status["updatedNumberScheduled"]);
  const available = countOf(status["numberAvailable"]);
  return { size, updated, available, ready: Math.max(0, available - Math.max(0, size - updated)) };
}

function podCounts(status: JsonObject, size: number, isHealthy: boolean): Counts {
  const hasCounts = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"].some(
    (name) => typeof status[name] === "number",
  );
  // A kind that reports no counters is as far as its health says.
  if (!hasCounts && size > 0)
    return { size, updated: isHealthy ? size : 0, ready: isHealthy ? size : 0, available: isHealthy ? size : 0 };
  const all = countOf(status["replicas"]);
  const updated = Math.min(countOf(status["updatedReplicas"]), Math.max(all, size));
  const available = countOf(status["availableReplicas"] ?? status["readyReplicas"]);
  const isSettled = available >= countOf(status["readyReplicas"]);
  const reported = status["updatedAvailableReplicas"] ?? (isSettled ? status["updatedReadyReplicas"] : undefined);
  // Pods of other templates may be unavailable, so this is the least that is available of the updated ones.
  const least = Math.max(0, available - Math.max(0, all - updated));
  return { size, updated, available, ready: Math.min(updated, Math.max(least, countOf(reported))) };
}
