/**
 * What the hub makes of Clusters, Works and the namespaces of Works when they are written or deleted by hand. Pure but for the clock.
 *
 * Taints that evict are dated: who tolerates one for a while counts from then.
 */
import { Cluster, createWorkAdmissions, executionNamespace, Namespace } from "../api/index.ts";
import type { Admission, AnyAdmission, ClusterReader, Taint } from "../api/index.ts";
import { formatTime } from "../base/index.ts";
import type { Clock, DeepReadonly } from "../base/index.ts";
import { prune, withoutTimeToLive } from "../interpreter/index.ts";
import type { FieldError } from "../machinery/index.ts";

const refused = (field: string, why: string): FieldError => ({ type: "Forbidden", field, message: `Forbidden: ${why}` });

const keepNamespaces: Admission<Namespace> = {
  for: Namespace,
  on: ["DELETE"],
  validate: ({ object: { metadata }, read }) =>
    holdsMembers(metadata.name, read) ? [refused("metadata", "the control plane keeps the Works and secrets of members here; deleting it would delete what they run")] : [],
};

/** The namespace of a member's Works goes when the member leaves, or has left. */
function holdsMembers(namespace: string, read: ClusterReader): boolean {
  if (namespace === "karmada-system" || namespace === "karmada-cluster") return true;
  const prefix = executionNamespace("");
  const cluster = namespace.startsWith(prefix) ? (read.get(Cluster.group, Cluster.plural, undefined, namespace.slice(prefix.length)) as DeepReadonly<Cluster> | undefined) : undefined;
  return cluster !== undefined && cluster.metadata.deletionTimestamp === undefined;
}

type Taints = readonly DeepReadonly<Taint>[];

/** One that was there before keeps its date, also when its writer left it out. */
export function datedTaints(taints: Taints, before: Taints, now: string): Taints {
  return taints.map((taint) => {
    if (taint.effect !== "NoExecute" || taint.timeAdded !== undefined) return taint;
    const known = before.find(({ key, value, effect }) => key === taint.key && value === taint.value && effect === taint.effect);
    return { ...taint, timeAdded: known?.timeAdded ?? now };
  });
}

const dateTaints = (clock: Pick<Clock, "now">): Admission<Cluster> => ({
  for: Cluster,
  on: ["CREATE", "UPDATE"],
  prepare({ object, oldObject, subresource }) {
    const { taints } = object.spec;
    if (subresource !== undefined || !taints?.some(({ effect, timeAdded }) => effect === "NoExecute" && timeAdded === undefined)) return object;
    return { ...object, spec: { ...object.spec, taints: datedTaints(taints, oldObject?.spec.taints ?? [], formatTime(clock.now())) } };
  },
});

export function createMembershipAdmissions({ clock }: { clock: Pick<Clock, "now"> }): readonly AnyAdmission[] {
  return [keepNamespaces, dateTaints(clock), ...createWorkAdmissions((manifest) => withoutTimeToLive(prune(manifest)))];
}
