/** The status of an Advanced StatefulSet. Counts the observed pods, minus the planned deletions. Pure. */
import type { AdvancedStatefulSet } from "./statefulset-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { claimState } from "./claim-size.ts";
import { claimsInUse } from "./planned-actions.ts";
import type { Pass } from "./planned-actions.ts";
import {
  availabilityOf,
  isRunningAndReady,
  isTerminating,
  minReadySecondsOf,
  revisionOf,
} from "./statefulset-pod-state.ts";
import type { Counts } from "./update.ts";

export type StatefulSetStatus = NonNullable<DeepReadonly<AdvancedStatefulSet>["status"]>;
type Condition = NonNullable<StatefulSetStatus["conditions"]>[number];

export interface StatusFacts {
  collisionCount: number;
  labelSelector: string;
}

export function planStatus(
  pass: Pass,
  taken: Counts,
  { collisionCount, labelSelector }: StatusFacts,
): StatefulSetStatus {
  const { set, current, update, nowMs } = pass.input;
  const [currentName, updateName] = [current.metadata.name, update.metadata.name];
  const counts = {
    replicas: 0,
    ready: 0,
    available: 0,
    current: 0 - taken.current,
    updated: 0 - taken.updated,
    updatedReady: 0,
    updatedAvailable: 0,
  };
  for (const { seen } of [...pass.slots, ...pass.condemned]) {
    if (!seen.status?.phase) continue;
    const revision = revisionOf(seen);
    counts.replicas++;
    if (isRunningAndReady(seen)) {
      const { isAvailable } = availabilityOf(seen, minReadySecondsOf(set), nowMs);
      counts.ready++;
      counts.available += Number(isAvailable);
      // Terminating pods count here until they are removed, but not in updatedReplicas, as upstream does.
      counts.updatedReady += Number(revision === updateName);
      counts.updatedAvailable += Number(revision === updateName && isAvailable);
    }
    if (isTerminating(seen)) continue;
    counts.current += Number(revision === currentName);
    counts.updated += Number(revision === updateName);
  }
  const isRolling = (set.spec.updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate";
  const isComplete = isRolling && counts.updated === counts.replicas && counts.ready === counts.replicas;
  const volumeClaims = claimCounts(pass);
  return {
    observedGeneration: set.metadata.generation,
    replicas: counts.replicas,
    readyReplicas: counts.ready,
    availableReplicas: counts.available,
    currentReplicas: isComplete ? counts.updated : counts.current,
    updatedReplicas: counts.updated,
    updatedReadyReplicas: counts.updatedReady > 0 ? counts.updatedReady : undefined,
    updatedAvailableReplicas: counts.updatedAvailable > 0 ? counts.updatedAvailable : undefined,
    currentRevision: isComplete ? updateName : currentName,
    updateRevision: updateName,
    collisionCount,
    labelSelector,
    volumeClaims: volumeClaims.length > 0 ? volumeClaims : undefined,
  };
}

/** For every claim template: how many pods have a matching claim, and a volume that matches the claim. */
function claimCounts(pass: Pass): NonNullable<StatefulSetStatus["volumeClaims"]> {
  const counts = new Map(
    (pass.input.set.spec.volumeClaimTemplates ?? []).map(({ metadata: { name } }) => [
      name,
      { volumeClaimName: name, compatibleReplicas: 0, compatibleReadyReplicas: 0 },
    ]),
  );
  if (counts.size === 0) return [];
  for (const draft of pass.slots) {
    for (const { template, claim } of claimsInUse(pass, draft)) {
      const count = counts.get(template.metadata.name);
      const { isCompatible, isReady } = claimState(claim, template);
      if (!count || !isCompatible) continue;
      count.compatibleReplicas++;
      if (isReady) count.compatibleReadyReplicas++;
    }
  }
  return [...counts.values()];
}

/** A failed write is reported until a reconcile succeeds. An existing condition keeps its time. */
export function withFailure(
  status: StatefulSetStatus,
  before: StatefulSetStatus | undefined,
  type: "FailedCreatePod" | "FailedUpdatePod",
  message: string,
  now: string,
): StatefulSetStatus {
  const known = before?.conditions?.find((condition) => condition.type === type && condition.status === "True");
  const condition: Condition = { type, status: "True", lastTransitionTime: known?.lastTransitionTime ?? now, message };
  return { ...status, conditions: [condition] };
}
