/** Computes the scheduling fields of a binding's status. Pure. */
import type { ResourceBinding } from "@flotilla/karmada";
import { equalJson, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { withCondition } from "@flotilla/apimachinery";
import type { SchedulePlan } from "./plan-schedule.ts";

type Binding = DeepReadonly<ResourceBinding>;

/**
 * `generation`: the generation of the decision. It counts as observed once scheduling succeeded, which tools and
 * evictions wait for.
 */
export function planScheduled(binding: Binding, plan: SchedulePlan, generation: number, now: string): Binding {
  const before = binding.status ?? {};
  const conditions =
    plan.outcome === "unschedulable"
      ? withCondition(
          before.conditions ?? [],
          { type: "Scheduled", status: "False", reason: plan.reason, message: plan.message },
          now,
        )
      : withCondition(
          before.conditions ?? [],
          { type: "Scheduled", status: "True", reason: "Success", message: "Binding has been scheduled successfully." },
          now,
        );
  const status = {
    ...before,
    ...defined({ schedulerObservedGeneration: plan.outcome !== "unschedulable" ? generation : undefined }),
    // A binding that was checked and left unchanged was not scheduled again.
    ...defined({
      lastScheduledTime:
        plan.outcome === "scheduled" && before.schedulerObservedGeneration !== generation ? now : undefined,
      schedulerObservingAffinityName:
        plan.outcome === "scheduled" && plan.affinityName !== undefined ? plan.affinityName : undefined,
    }),
    conditions,
  };
  return equalJson(status, before) ? binding : { ...binding, status: status };
}
