/** What the workloads that an object concerns are on each member, from their bindings. Pure. */
import type { ResourceBinding } from "@flotilla/karmada";
import { equalJson, isObject, type DeepReadonly, type Json } from "@flotilla/base";
import { countOf } from "@flotilla/kubernetes";
import type { WorkloadsOnMember } from "@flotilla/kubernetes";
import { targetsOf } from "../bindings/target-clusters.ts";

type Binding = DeepReadonly<ResourceBinding>;

/** By cluster. */
export function planWorkloads(bindings: readonly Binding[]): ReadonlyMap<string, WorkloadsOnMember> {
  const found = new Map<string, WorkloadsOnMember>();
  for (const binding of bindings) {
    const targets = targetsOf(binding.spec);
    const isWhole =
      targets.length > 1 && binding.spec.placement?.replicaScheduling?.replicaSchedulingType !== "Divided";
    const unsettled = unsettledOn(binding);
    for (const { name, replicas = binding.spec.replicas ?? 0 } of targets) {
      const before = found.get(name);
      found.set(name, {
        replicas: (before?.replicas ?? 0) + replicas,
        unsettled: (before?.unsettled ?? 0) + (unsettled.get(name) ?? 0),
        isWhole: (before?.isWhole ?? true) && isWhole,
      });
    }
  }
  return found;
}

/** Whether the change of a binding changes what `planWorkloads` finds. */
export function changesWorkloads(before: Binding, after: Binding): boolean {
  if (before.metadata.uid !== after.metadata.uid) return true;
  if (before.spec !== after.spec && !equalJson(placeIn(before), placeIn(after))) return true;
  const isSame = before.status?.aggregatedStatus === after.status?.aggregatedStatus;
  return !isSame && !equalJson([...unsettledOn(before)], [...unsettledOn(after)]);
}

const placeIn = ({ spec }: Binding): Json => [
  targetsOf(spec).map(({ name, replicas }) => [name, replicas ?? null]),
  spec.replicas ?? null,
  spec.placement?.replicaScheduling?.replicaSchedulingType ?? null,
];

/** Where a partition holds pods back, the status says how many updated ones are expected. */
function unsettledOn({ status }: Binding): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { clusterName, status: own } of status?.aggregatedStatus ?? []) {
    if (!isObject(own) || typeof own["updatedReplicas"] !== "number") continue;
    const expected = own["expectedUpdatedReplicas"] ?? own["replicas"];
    const unsettled = Math.max(
      countOf(expected) - own["updatedReplicas"],
      countOf(own["replicas"]) - countOf(own["availableReplicas"]),
    );
    if (unsettled > 0) found.set(clusterName, unsettled);
  }
  return found;
}
