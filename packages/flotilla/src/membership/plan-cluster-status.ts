/** Computes a Cluster's status from the observations of the member. Pure. */
import { RESPONDING } from "@flotilla/karmada";
import type { Cluster } from "@flotilla/karmada";
import { equalJson, formatTime, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition, isConditionTrue, withCondition } from "@flotilla/apimachinery";
import type { NextCondition } from "@flotilla/apimachinery";
import type { Facts, Probe } from "./probe.ts";
import { endsSilence, isSilent, planReady, planSilence } from "./ready.ts";
import type { ReadyTimes } from "./ready.ts";
import type { Capacity } from "./resource-summary.ts";

/** The observations of a member at one moment. */
export interface Observation {
  probe: Probe;
  /** How many probes in a row have had no answer. */
  unanswered?: number;
  /** Unset keeps the facts in the status. */
  facts?: Facts | undefined;
  capacity?: Capacity | undefined;
}

export function planClusterStatus(
  cluster: DeepReadonly<Cluster>,
  { probe, unanswered = 0, facts, capacity }: Observation,
  times: ReadyTimes,
): DeepReadonly<Cluster> {
  const now = formatTime(times.nowMs);
  const before = cluster.status ?? {};
  let conditions = before.conditions ?? [];
  const ready = planReady(cluster, probe, times);
  if (ready) conditions = withCondition(conditions, ready, now);
  const silent = findCondition(conditions, RESPONDING);
  // The messages of failures vary; the first one stays.
  if (silent && endsSilence(findCondition(conditions, "Ready"), probe.health))
    conditions = conditions.filter(({ type }) => type !== RESPONDING);
  else if (!silent && isConditionTrue(conditions, "Ready") && isSilent(probe.health, unanswered))
    conditions = withCondition(conditions, planSilence(probe), now);
  // A member that cannot be observed, or is not ready yet, keeps its last known facts.
  const isCollected = probe.health === "ready" && findCondition(conditions, "Ready")?.status === "True";
  if (isCollected && facts) conditions = withCondition(conditions, enablementsCondition(facts), now);
  const collected = isCollected ? { ...facts, capacity } : undefined;
  const status = {
    ...before,
    ...defined({ kubernetesVersion: collected?.version, apiEnablements: collected?.apiEnablements }),
    ...collected?.capacity,
    conditions,
  };
  return equalJson(status, before) ? cluster : { ...cluster, status };
}

function enablementsCondition({ apiEnablements, isComplete }: Facts): NextCondition {
  const type = "CompleteAPIEnablements";
  if (apiEnablements.length === 0)
    return { type, status: "False", reason: "Empty", message: "collected empty APIEnablements from the cluster" };
  if (!isComplete)
    return {
      type,
      status: "False",
      reason: "Partial",
      message: `might collect partial APIEnablements(${apiEnablements.length}) from the cluster`,
    };
  return { type, status: "True", reason: "Complete", message: "collected complete APIEnablements from the cluster" };
}
