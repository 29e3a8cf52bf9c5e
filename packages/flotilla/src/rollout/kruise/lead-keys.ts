/** The keys that a change of a Rollout concerns. Pure. */
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { bindingName } from "@flotilla/karmada";
import type { Rollout } from "@flotilla/openkruise";

type Lead = DeepReadonly<Rollout>;

const workloadOf = (cluster: string, { metadata, spec: { workloadRef } }: Lead): ObjectKey => ({
  cluster,
  namespace: metadata.namespace ?? "",
  name: bindingName(workloadRef.kind, workloadRef.name),
});

/** The bindings of its workload, now and before; none if only its status changed. */
export function bindingsOfLead(cluster: string, rollout: Lead, old?: Lead): ObjectKey[] {
  if (old && isSameLead(old, rollout)) return [];
  const now = workloadOf(cluster, rollout);
  const before = old && workloadOf(cluster, old);
  return before && before.name !== now.name ? [now, before] : [now];
}

const isSameLead = (a: Lead, b: Lead): boolean =>
  a.metadata.generation === b.metadata.generation &&
  a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
  equalJson(a.metadata.labels ?? {}, b.metadata.labels ?? {}) &&
  equalJson(a.metadata.annotations ?? {}, b.metadata.annotations ?? {});
