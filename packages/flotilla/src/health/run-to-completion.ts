/** Kinds that run once or on a schedule, and what their status does not say about their pods. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { argoWorkloads } from "@flotilla/argo";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { countOf, kubernetesWorkloads } from "@flotilla/kubernetes";
import { kruiseWorkloads } from "@flotilla/openkruise";

const WORKLOADS: readonly Kind[] = [...kubernetesWorkloads, ...kruiseWorkloads, ...argoWorkloads];
/** Kinds of other groups may have the same name. */
type KindRef = DeepReadonly<{ apiVersion: string; kind: string }>;
type Trait = "runsToCompletion" | "runsOnEveryNode" | "isScheduled" | "hidesEndedRuns";

function having(trait: Trait): (ref: KindRef) => boolean {
  const known = new Set(
    WORKLOADS.filter(({ workload }) => workload?.[trait]).map(({ group, kind }) => `${group}/${kind}`),
  );
  return ({ apiVersion, kind }) => known.has(`${parseApiVersion(apiVersion).group}/${kind}`);
}

/** Whether the pods of a kind end: it progresses for as long as it runs, which is not a problem by itself. */
export const runsToCompletion = having("runsToCompletion");

/** Whether a kind has a pod on each node. */
export const runsOnEveryNode = having("runsOnEveryNode");

/** Whether a kind starts runs of another kind on a schedule. */
export const isScheduled = having("isScheduled");

const hidesEndedRuns = having("hidesEndedRuns");

/**
 * Whether only the pods on the member show that something is wrong: active pods of a BroadcastJob, of a Workflow, and of
 * a Job of an old cluster, may wait or run; an AdvancedCronJob does not report how its last run ended.
 */
export function hidesItsPods(ref: KindRef, status: unknown): boolean {
  if (!isObject(status)) return false;
  const { active, ready, phase, lastScheduleTime } = status;
  if (isScheduled(ref))
    return (Array.isArray(active) && active.length > 0) || (hidesEndedRuns(ref) && lastScheduleTime !== undefined);
  if (!runsToCompletion(ref) || ready !== undefined) return false;
  // A Workflow counts no pods.
  return countOf(active) > 0 || (active === undefined && phase === "Running");
}
