/**
 * When a rollout of OpenKruise is where it should be. Without a partition that is everywhere, as Karmada asks. With one the
 * stage counts: as many pods updated as the partition lets through (`expectedUpdatedReplicas`), and all pods available.
 */
import type { DeepReadonly } from "../../../base/index.ts";
import { isObject } from "../../../base/index.ts";
import { countIn } from "../../replica-status.ts";
import { isObserved, isRolledOut, type Workload } from "../../workload.ts";

export function hasReachedStage(workload: DeepReadonly<Workload>, isPartitioned: boolean): boolean {
  if (!isObject(workload.status)) return false;
  const expected = workload.status["expectedUpdatedReplicas"];
  if (!isPartitioned || typeof expected !== "number") return isRolledOut(workload);
  const replicas = workload.spec?.replicas ?? 1;
  return isObserved(workload) && countIn(workload, "updatedReplicas") >= Math.min(replicas, expected) && countIn(workload, "availableReplicas") >= replicas;
}
