/** What a drain of a member waits for: bindings and copies that are still there, and what keeps them. Pure. */
import { findCondition } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { DRAIN_TAINT, HEALTHY, isFinishedRun, toleratesTaint } from "@flotilla/flotilla";
import type { Event } from "@flotilla/kubernetes";
import type { Cluster, ResourceBinding, Work } from "@flotilla/karmada";

type Binding = DeepReadonly<Pick<ResourceBinding, "kind" | "metadata" | "spec" | "status">>;

export interface Remaining {
  /** `CloneSet shop/web`. */
  resource: string;
  /** Why it is still there. */
  reason: string;
  /**
   * `leaving`: its replacement starts. `waiting`: the hub has not decided yet. `blocked`: it cannot leave. `stays`: its
   * policy tolerates the drain, or it is a run that is finished.
   */
  state: "leaving" | "waiting" | "blocked" | "stays";
  /** What the hub reports about the health of a replacement that is not healthy. */
  unhealthy?: string | undefined;
}

const DRAIN = { key: DRAIN_TAINT, effect: "NoExecute" } as const;
const FAILED = "EvictWorkloadFromClusterFailed";

/** Bindings that use the member or are leaving it. `sinceMs` is when the drain began: older events are of other moves. */
export function remainingOn(
  member: string,
  bindings: readonly Binding[],
  events: readonly DeepReadonly<Event>[],
  sinceMs: number,
): Remaining[] {
  const failures = new Map<string, string>();
  const prefix = `Evict from cluster ${member} failed: `;
  for (const { reason, message = "", involvedObject, lastTimestamp, eventTime } of events) {
    const atMs = Date.parse(lastTimestamp ?? eventTime ?? "");
    if (reason === FAILED && message.startsWith(prefix) && atMs >= sinceMs)
      failures.set(`${involvedObject.kind}/${involvedObject.namespace ?? ""}/${involvedObject.name}`, message);
  }
  return bindings.flatMap((binding): Remaining[] => {
    const { kind, metadata, spec } = binding;
    const resource = titleOf(spec.resource);
    const task = spec.gracefulEvictionTasks?.find(({ fromCluster }) => fromCluster === member);
    if (task) {
      const targets = (spec.clusters ?? []).map(({ name }) => name).join(", ");
      const reason = `waits until it is healthy on ${targets || "another member"}`;
      return [{ resource, reason, state: "leaving", unhealthy: unhealthyOf(binding) }];
    }
    if (!spec.clusters?.some(({ name }) => name === member)) return [];
    if (spec.placement?.clusterTolerations?.some((toleration) => toleratesTaint(toleration, DRAIN)))
      return [{ resource, reason: "its policy tolerates the drain", state: "stays" }];
    if (isFinishedRun(binding))
      return [{ resource, reason: "it is finished and would run again elsewhere", state: "stays" }];
    const failure = failures.get(`${kind}/${metadata.namespace ?? ""}/${metadata.name}`);
    return [
      failure === undefined
        ? { resource, reason: "has not started to leave", state: "waiting" }
        : { resource, reason: failure.slice(prefix.length).replace(/\.$/, ""), state: "blocked" },
    ];
  });
}

/**
 * Copies that the hub wants deleted and the member still has. A Work exists until its objects on the member are deleted,
 * so a member that does not answer keeps what it runs.
 */
export function copiesOn(
  cluster: DeepReadonly<Cluster> | undefined,
  works: readonly DeepReadonly<Work>[],
): Remaining[] {
  const member = cluster?.metadata.name ?? "the member";
  const isReachable = findCondition(cluster?.status?.conditions, "Ready")?.status === "True";
  return works
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .flatMap(({ spec }) => spec.workload?.manifests ?? [])
    .map((manifest): Remaining => {
      const { kind = "", metadata = {} } = manifest as {
        kind?: string;
        metadata?: { namespace?: string; name?: string };
      };
      return {
        resource: titleOf({ kind, namespace: metadata.namespace, name: metadata.name ?? "" }),
        reason: isReachable
          ? `its copy is not deleted on ${member} yet`
          : `${member} is unreachable, and runs its copy until it is back`,
        state: isReachable ? "leaving" : "blocked",
      };
    });
}

function unhealthyOf({ status }: Binding): string | undefined {
  const condition = findCondition(status?.conditions, HEALTHY);
  return condition && condition.status !== "True" ? condition.message || condition.reason : undefined;
}

export function titleOf({
  kind,
  namespace,
  name,
}: Pick<Binding["spec"]["resource"], "kind" | "namespace" | "name">): string {
  return `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
}
