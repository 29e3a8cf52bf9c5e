/** What dispatch reports on a binding although the copies could be made: a request of the template that has no effect. */
import { findCondition } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { PODS_FOUND, PODS_ROLLED_BACK } from "@flotilla/flotilla";
import type { ResourceBinding } from "@flotilla/karmada";

export interface BindingNotice {
  problem: "workload naming missing pods" | "rollout stopped";
  text: string;
}

const PROBLEMS = {
  [PODS_FOUND]: "workload naming missing pods",
  [PODS_ROLLED_BACK]: "rollout stopped",
} as const;

export function noticesOf({ metadata, status }: DeepReadonly<ResourceBinding>): BindingNotice[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  return Object.entries(PROBLEMS).flatMap(([type, problem]) => {
    const condition = findCondition(status?.conditions, type);
    return condition && condition.status !== "True" ? [{ problem, text: condition.message }] : [];
  });
}
