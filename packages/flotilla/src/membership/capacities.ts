/**
 * Allocatable and allocated resources of the members, summed over their nodes and pods. A pod change only marks its
 * member as changed; the sum is computed on demand, and again only after a change. An unobservable member keeps its
 * last sum.
 */
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { Node, Pod } from "@flotilla/kubernetes";
import type { Cluster } from "@flotilla/karmada";
import { findCondition } from "@flotilla/apimachinery";
import type { Informers, ObjectEvent } from "@flotilla/controller-runtime";
import { planCapacity } from "./resource-summary.ts";
import type { Capacity } from "./resource-summary.ts";

export interface Capacities {
  /** Watches the nodes and pods of the clusters that these informers see, until the returned function is called. */
  watch(informers: Informers): () => void;
  /** The same object while nothing changed; undefined until everything is listed. */
  of(
    cluster: string,
    models: DeepReadonly<Cluster>["spec"]["resourceModels"],
    informers: Informers,
  ): Capacity | undefined;
  forget(cluster: string): void;
}

interface Known {
  capacity: Capacity;
  models: DeepReadonly<Cluster>["spec"]["resourceModels"];
}

/**
 * `onNodes` is called when nodes of a member are added, removed, or change readiness; pod changes are frequent, and are
 * summed on demand.
 */
export function createCapacities(onNodes: (cluster: string) => void): Capacities {
  const known = new Map<string, Known>();
  const stale = new Set<string>();
  /** Events of a member that was forgotten, or is not summed yet, say nothing: its next sum is a new one. */
  const invalidate = (cluster: string): void => void (known.has(cluster) && stale.add(cluster));
  return {
    watch(informers) {
      const stops = [
        informers.of(Node).subscribe((event) => {
          if (!isRelevant(event)) return;
          invalidate(event.cluster);
          onNodes(event.cluster);
        }),
        informers.of(Pod).subscribe(({ cluster, object, old, deleted }) => {
          // Only these pod fields matter; its status changes often.
          if (!old || deleted || old.spec !== object.spec || old.status?.phase !== object.status?.phase)
            invalidate(cluster);
        }),
      ];
      return () => stops.forEach((stop) => stop());
    },
    of(cluster, models, informers) {
      const [nodes, pods] = [informers.of(Node), informers.of(Pod)];
      const before = known.get(cluster);
      const isSettled =
        before !== undefined && !stale.has(cluster) && (before.models === models || equalJson(before.models, models));
      if (isSettled || !nodes.fresh || !pods.fresh) return before?.capacity;
      stale.delete(cluster);
      const planned = planCapacity(models, nodes.list({ cluster }), pods.list({ cluster }));
      const capacity = before && equalJson(planned, before.capacity) ? before.capacity : planned;
      known.set(cluster, { capacity, models });
      return capacity;
    },
    forget(cluster) {
      known.delete(cluster);
      stale.delete(cluster);
    },
  };
}

/** Node heartbeats arrive every few minutes and change nothing here. */
function isRelevant({ object, old, deleted }: ObjectEvent<Node>): boolean {
  if (!old || deleted) return true;
  const readyOf = ({ status }: DeepReadonly<Node>): string | undefined =>
    findCondition(status?.conditions ?? [], "Ready")?.status;
  return (
    readyOf(old) !== readyOf(object) ||
    old.spec?.unschedulable !== object.spec?.unschedulable ||
    !equalJson(old.status?.allocatable, object.status?.allocatable)
  );
}
