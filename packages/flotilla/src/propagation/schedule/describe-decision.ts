/** Describes a scheduling decision for the log of decisions. Pure. */
import { APPLIED_PLACEMENT, CLUSTER_POLICY_NAME, POLICY_NAME, POLICY_NAMESPACE } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { describeClusters } from "../../decisions/describe-clusters.ts";
import type { DecisionInput } from "../../decisions/decision-recorder.ts";
import { resourceOf } from "../bindings/resource-of.ts";
import { isFresh } from "./assign.ts";
import { renderPlaced } from "./plan-events.ts";
import type { SchedulePlan } from "./plan-schedule.ts";

type Binding = DeepReadonly<ResourceBinding>;
type Described = Pick<DecisionInput, "type" | "object" | "clusters" | "cause" | "before" | "after">;

/** `binding` as of the decision. Undefined when it placed nothing again: only the record of the placement changed. */
export function describePlaced(binding: Binding, plan: SchedulePlan): Described | undefined {
  if (plan.outcome === "unchanged") return undefined;
  const before = describeClusters(binding.spec.clusters);
  const after = describeClusters(plan.outcome === "scheduled" ? plan.clusters : plan.staying);
  if (equalJson(before, after)) return undefined;
  const names = (of: object): string[] => Object.keys(of).toSorted();
  const isSameSet = equalJson(names(before), names(after));
  return {
    type: names(before).length === 0 ? "Placed" : isSameSet ? "Divided" : "Moved",
    object: resourceOf(binding),
    clusters: [...new Set([...names(before), ...names(after)])].filter((name) => before[name] !== after[name]),
    cause: plan.outcome === "scheduled" ? causeOf(binding, plan) : { reason: plan.reason, message: plan.message },
    before,
    after,
  };
}

/** A failure to place; recorded when it starts or changes, like its event. */
export function describeNotPlaced(binding: Binding, message: string): Described {
  const clusters = describeClusters(binding.spec.clusters);
  return {
    type: "NotPlaced",
    object: resourceOf(binding),
    clusters: [],
    cause: { reason: "Unschedulable", message },
    before: clusters,
    after: clusters,
  };
}

function causeOf(binding: Binding, plan: Extract<SchedulePlan, { outcome: "scheduled" }>): DecisionInput["cause"] {
  const { metadata, spec, status } = binding;
  const { clusters = [], gracefulEvictionTasks = [], replicas = 0 } = spec;
  if (plan.evictions?.length)
    return { reason: "ReturnedToAffinity", message: `the affinity ${plan.affinityName ?? ""} fits again` };
  if (clusters.length === 0 && status?.lastScheduledTime !== undefined)
    return { reason: "PlacedAgain", message: `placed again by ${policyOf(binding)}; it was on no member` };
  if (clusters.length === 0)
    return { reason: "FirstPlacement", message: `placed for the first time by ${policyOf(binding)}` };
  const leaving = gracefulEvictionTasks.filter(({ fromCluster }) => clusters.some(({ name }) => name === fromCluster));
  if (leaving.length > 0)
    return {
      reason: leaving[0]?.reason ?? "Evicted",
      message: leaving
        .map(({ fromCluster, message, producer }) => `evicted from ${fromCluster} by ${producer}: ${message ?? ""}`)
        .join("; "),
    };
  if (isFresh(spec, status))
    return { reason: "Rebalance", message: `a WorkloadRebalancer of ${spec.rescheduleTriggeredAt} asked for it` };
  const applied = metadata.annotations?.[APPLIED_PLACEMENT];
  if (applied !== undefined && applied !== JSON.stringify(spec.placement ?? {}))
    return { reason: "PolicyChanged", message: `${policyOf(binding)} has another placement` };
  const sum = clusters.reduce((total, cluster) => total + (cluster.replicas ?? 0), 0);
  if (sum !== replicas && sum > 0)
    return { reason: "ReplicasChanged", message: `the object asks for ${replicas} replicas instead of ${sum}` };
  const gone = clusters.filter(({ name }) => plan.clusters.every((chosen) => chosen.name !== name));
  return gone.length > 0
    ? {
        reason: "ClusterUnfit",
        message: gone.map(({ name }) => `${name}: ${reasonFor(plan, name)}`).join("; "),
      }
    : { reason: "FleetChanged", message: `clusters of the fleet changed: ${renderPlaced(plan.clusters)}` };
}

function reasonFor({ verdicts }: Extract<SchedulePlan, { outcome: "scheduled" }>, cluster: string): string {
  return verdicts.find((each) => each.cluster === cluster)?.reason ?? "it left the fleet, or others are preferred";
}

function policyOf({ metadata: { annotations = {} } }: Binding): string {
  const name = annotations[POLICY_NAME];
  const namespace = annotations[POLICY_NAMESPACE];
  if (name !== undefined) return `PropagationPolicy ${namespace === undefined ? "" : `${namespace}/`}${name}`;
  const cluster = annotations[CLUSTER_POLICY_NAME];
  return cluster === undefined ? "its policy" : `ClusterPropagationPolicy ${cluster}`;
}
