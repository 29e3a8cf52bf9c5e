/** Decides what a Cluster's status says, from what was seen of the member. Pure. */
import type { Cluster, Node } from "../api/index.ts";
import { equalJson } from "../base/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { isConditionTrue, withCondition } from "../machinery/index.ts";

type Status = NonNullable<Cluster["status"]>;

/** One look at a member. */
export type Sighting =
  | { reached: true; version: string; apiEnablements: NonNullable<Status["apiEnablements"]>; nodes: readonly DeepReadonly<Node>[] }
  /** `answered` tells a member that is unwell from one that cannot be reached. */
  | { reached: false; answered: boolean; message: string };

export function planClusterStatus(cluster: DeepReadonly<Cluster>, sighting: Sighting, now: string): DeepReadonly<Cluster> {
  const before = cluster.status ?? {};
  const conditions = sighting.reached
    ? withCondition(
        withCondition(before.conditions ?? [], { type: "Ready", status: "True", reason: "ClusterReady", message: "cluster is healthy and ready to accept workloads" }, now),
        { type: "CompleteAPIEnablements", status: "True", reason: "Complete", message: "the API enablements are complete" },
        now,
      )
    : withCondition(before.conditions ?? [], { type: "Ready", status: "False", reason: sighting.answered ? "ClusterNotReady" : "ClusterNotReachable", message: sighting.message }, now);
  // A member that cannot be observed keeps what was last known of it.
  const facts = sighting.reached
    ? {
        kubernetesVersion: sighting.version,
        apiEnablements: sighting.apiEnablements,
        nodeSummary: summarise(sighting.nodes),
      }
    : {};
  const status = { ...before, ...facts, conditions };
  return equalJson(status, before) ? cluster : { ...cluster, status: status };
}

/** A count of zero is left out, as the server leaves it out: writing it would look like a change for ever. */
function summarise(nodes: readonly DeepReadonly<Node>[]): NonNullable<Status["nodeSummary"]> {
  const readyNum = nodes.filter(({ status }) => isConditionTrue(status?.conditions ?? [], "Ready")).length;
  return { ...(nodes.length > 0 && { totalNum: nodes.length }), ...(readyNum > 0 && { readyNum }) };
}

/** What discovery says a cluster serves, sorted, without subresources. */
export function planApiEnablements(groups: readonly { groupVersion: string; resources: readonly { name: string; kind: string }[] }[]): NonNullable<Status["apiEnablements"]> {
  return groups
    .map(({ groupVersion, resources }) => ({
      groupVersion,
      resources: resources
        .filter(({ name }) => !name.includes("/"))
        .map(({ name, kind }) => ({ name, kind }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    }))
    .sort((a, b) => (a.groupVersion < b.groupVersion ? -1 : 1));
}
