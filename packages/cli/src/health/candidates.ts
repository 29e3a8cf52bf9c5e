/**
 * Workloads that are not healthy according to the hub: bindings by their condition `Healthy`, ManifestWorks by the
 * conditions of their manifests. The pods on their members show whether, and why, that is a problem. Pure.
 */
import { findCondition, formatAge, formatApiVersion } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import {
  HEALTHY,
  hidesItsPods,
  RULE_FAILURES,
  runsToCompletion,
  unhealthyForMs,
  whyUnhealthy,
} from "@flotilla/flotilla";
import type { ResourceBinding } from "@flotilla/karmada";
import type { ManifestWork } from "@flotilla/ocm";
import { afflictedMembers, causesOf, idOf } from "./look-at-pods.ts";
import type { CopyReports, CopyRef } from "./look-at-pods.ts";
import { joinCauses } from "./name-members.ts";

export interface Candidate {
  problem: "workload unhealthy" | "ManifestWork unhealthy" | "rule failed";
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  /** What the hub reports; empty if its pods are looked at because the hub cannot know. */
  said: string;
  /** For how long; undefined while the workload may still be starting. */
  forMs: number | undefined;
  /** The copies whose pods to look at. */
  copies: readonly CopyRef[];
  /** Taking long is not a problem by itself: it runs to completion. */
  runsToCompletion: boolean;
}

export interface Moment {
  nowMs: number;
  /** The names of all members; unset when they are not known. */
  members?: ReadonlySet<string> | undefined;
  /** How long a workload may take to become healthy. */
  graceMs?: number | undefined;
}

export function candidateOfBinding(
  { metadata, spec, status }: DeepReadonly<ResourceBinding>,
  { nowMs, graceMs }: Moment,
): Candidate | undefined {
  const condition = findCondition(status?.conditions, HEALTHY);
  if (metadata.deletionTimestamp !== undefined) return undefined;
  if (!condition || condition.status === "True") return hiddenRun({ spec, status });
  const forMs = unhealthyForMs(condition, nowMs, graceMs);
  const isRule = RULE_FAILURES.has(condition.reason);
  if (condition.status === "Unknown" && forMs === undefined) return hiddenRun({ spec, status });
  const { apiVersion, kind, namespace, name } = spec.resource;
  const shares = new Map((spec.clusters ?? []).map((cluster) => [cluster.name, cluster.replicas]));
  const running = (status?.aggregatedStatus ?? []).filter(isRunning);
  const wrong = running.filter(({ clusterName, applied, health, status: reported }) => {
    const copy = {
      apiVersion,
      kind,
      metadata: { name },
      // An earlier copy may ask for another number.
      spec: { replicas: applied ? shares.get(clusterName) : undefined },
      status: reported,
    };
    return whyUnhealthy(copy, health) !== undefined || health === "Unhealthy";
  });
  // Where the reported numbers do not show which copy it is, all of them are looked at.
  const copies = (wrong.length > 0 ? wrong : running).map(({ clusterName: cluster }) => ({
    cluster,
    apiVersion,
    kind,
    namespace: namespace || undefined,
    name,
  }));
  return {
    problem: isRule ? "rule failed" : "workload unhealthy",
    apiVersion,
    kind,
    namespace: namespace || undefined,
    name,
    said: condition.message || condition.reason,
    forMs,
    copies,
    runsToCompletion: false,
  };
}

type Item = NonNullable<NonNullable<DeepReadonly<ResourceBinding>["status"]>["aggregatedStatus"]>[number];

/** A member that has not applied the latest copy, and reports a status, runs an earlier one. */
const isRunning = ({ applied, status }: Item): boolean => applied === true || status !== undefined;

/** A run whose pods the hub knows nothing about. */
function hiddenRun({ spec, status }: DeepReadonly<Pick<ResourceBinding, "spec" | "status">>): Candidate | undefined {
  const { apiVersion, kind, namespace: place, name } = spec.resource;
  const namespace = place || undefined;
  const copies = (status?.aggregatedStatus ?? [])
    .filter((item) => isRunning(item) && hidesItsPods(spec.resource, item.status))
    .map(({ clusterName: cluster }) => ({ cluster, apiVersion, kind, namespace, name }));
  if (copies.length === 0) return undefined;
  const problem = "workload unhealthy";
  return { problem, apiVersion, kind, namespace, name, said: "", forMs: undefined, copies, runsToCompletion: true };
}

/** One for each manifest that progresses or is degraded, or one if no agent has applied the work. */
export function candidatesOfWork(work: DeepReadonly<ManifestWork>, moment: Moment): Candidate[] {
  const { metadata, status } = work;
  const { nowMs, graceMs } = moment;
  if (metadata.deletionTimestamp !== undefined) return [];
  if (!findCondition(status?.conditions, "Applied")) return unappliedWork(work, moment);
  return (status?.resourceStatus?.manifests ?? []).flatMap(({ resourceMeta, conditions }): Candidate[] => {
    const [degraded, progressing] = [findCondition(conditions, "Degraded"), findCondition(conditions, "Progressing")];
    const condition = degraded?.status === "True" ? degraded : progressing?.status === "True" ? progressing : undefined;
    if (!condition) return [];
    const { group = "", version = "", kind = "", namespace, name = "" } = resourceMeta;
    const apiVersion = formatApiVersion(group, version);
    const { namespace: cluster = "" } = metadata;
    return [
      {
        problem: "ManifestWork unhealthy",
        apiVersion: work.apiVersion,
        kind: "ManifestWork",
        namespace: cluster,
        name: metadata.name,
        said: condition.message,
        forMs: unhealthyForMs({ ...condition, status: "False" }, nowMs, graceMs),
        copies: [
          {
            cluster,
            apiVersion,
            kind,
            namespace: namespace || undefined,
            name,
          },
        ],
        runsToCompletion: condition === progressing && runsToCompletion({ apiVersion, kind }),
      },
    ];
  });
}

/** Agents serve the namespace of their cluster only. */
function unappliedWork(
  { apiVersion, metadata }: DeepReadonly<ManifestWork>,
  { nowMs, graceMs, members }: Moment,
): Candidate[] {
  const { namespace: cluster = "", name, creationTimestamp: lastTransitionTime } = metadata;
  const isLost = members !== undefined && !members.has(cluster);
  const forMs = unhealthyForMs({ status: "False", lastTransitionTime: lastTransitionTime ?? "" }, nowMs, graceMs);
  return [
    {
      problem: "ManifestWork unhealthy",
      apiVersion,
      kind: "ManifestWork",
      namespace: cluster,
      name,
      said: isLost
        ? `there is no cluster named ${cluster}, so no agent applies works of this namespace`
        : `${cluster} has not applied it; check its agent`,
      forMs: isLost ? Math.max(0, nowMs - Date.parse(lastTransitionTime ?? "")) : forMs,
      copies: [],
      runsToCompletion: false,
    },
  ];
}

/** The copies to look at, those that the hub reports as unhealthy first: only some are read. */
export function copiesOf(candidates: readonly Candidate[]): CopyRef[] {
  const isLast = ({ runsToCompletion }: Candidate): number => Number(runsToCompletion);
  return candidates.toSorted((a, b) => isLast(a) - isLast(b)).flatMap(({ copies }) => copies);
}

/** What is wrong, the cause first; undefined if nothing is, or if it may still be starting. */
export function judgeCandidate(
  candidate: Candidate,
  { reports: known, unread }: Pick<CopyReports, "reports" | "unread">,
): string | undefined {
  const { said, forMs, copies, runsToCompletion, problem } = candidate;
  const isOverdue = forMs !== undefined;
  const reports = copies.flatMap((copy) => known.get(idOf(copy)) ?? []);
  const causes = causesOf(reports, isOverdue);
  if (causes.length === 0 && (!isOverdue || runsToCompletion)) return undefined;
  if (problem === "rule failed") return said;
  const since = forMs === undefined ? "" : ` (for ${formatAge(forMs)})`;
  const isUnchecked = causes.length === 0 && copies.some((copy) => unread.has(idOf(copy)));
  const found = causes.length === 0 ? [] : [joinCauses(afflictedMembers(reports, isOverdue), causes, MAX_CAUSES)];
  return [...found, ...(said ? [`${said}${since}`] : []), ...(isUnchecked ? [CAUSE_NOT_CHECKED] : [])].join("; ");
}

/** In one line; 'flotilla why' has all of them. */
const MAX_CAUSES = 3;

const CAUSE_NOT_CHECKED = "cause not checked";

/** What the hub reports about a workload that may still be starting, if its pods could not be read. */
export function uncheckedCandidate(
  { said, copies, runsToCompletion }: Candidate,
  { unread }: Pick<CopyReports, "unread">,
): string | undefined {
  if (!said || runsToCompletion || !copies.some((copy) => unread.has(idOf(copy)))) return undefined;
  return `${said}; ${CAUSE_NOT_CHECKED}`;
}
