/**
 * Admission for Clusters, Works and execution namespaces, and for all writes of agents. Pure except for the clock.
 *
 * Taints that evict get timeAdded: toleration seconds count from then.
 */
import {
  Cluster,
  createWorkAdmissions,
  executionNamespace,
  KARMADA_CLUSTER_NAMESPACE,
  KARMADA_SYSTEM_NAMESPACE,
} from "@flotilla/karmada";
import { field } from "@flotilla/apimachinery";
import type { Admission, AnyStep, ClusterReader } from "@flotilla/apimachinery";
import { Namespace } from "@flotilla/kubernetes";
import type { Taint } from "@flotilla/apimachinery/facts/core-v1.ts";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { DRAIN_TAINT } from "../flotilla-names.ts";
import { createAgentRestriction } from "./agents/agent-restriction.ts";
import { clusterReferences } from "./cluster-references.ts";
import { prune, withoutTimeToLive } from "../interpreter/prune.ts";

/** Applies to the hub only; on members these names have no meaning. */
const keepNamespaces = (hub: string): Admission<Namespace> => ({
  name: "MemberNamespaces",
  for: Namespace,
  on: ["DELETE"],
  reads: [Cluster],
  validate: ({ cluster, object: { metadata }, read }) =>
    cluster === hub && holdsMembers(metadata.name, read)
      ? [
          field.forbidden(
            "metadata",
            "this namespace contains the Works and Secrets of members; deleting it would delete their workloads",
          ),
        ]
      : [],
});

/** The execution namespace is deleted when the member leaves, or has left. */
function holdsMembers(namespace: string, read: ClusterReader): boolean {
  if (namespace === KARMADA_SYSTEM_NAMESPACE || namespace === KARMADA_CLUSTER_NAMESPACE) return true;
  const prefix = executionNamespace("");
  const cluster = namespace.startsWith(prefix)
    ? read.get(Cluster, undefined, namespace.slice(prefix.length))
    : undefined;
  return cluster !== undefined && cluster.metadata.deletionTimestamp === undefined;
}

type Taints = readonly DeepReadonly<Taint>[];

/** An existing taint keeps its timeAdded, also when the client omits it. */
export function datedTaints(taints: Taints, before: Taints, now: string): Taints {
  const idOf = ({ key, value = "", effect }: DeepReadonly<Taint>): string => JSON.stringify([key, value, effect]);
  const dates = new Map(before.map((taint) => [idOf(taint), taint.timeAdded]));
  return taints.map((taint) =>
    taint.effect !== "NoExecute" || taint.timeAdded !== undefined
      ? taint
      : { ...taint, timeAdded: dates.get(idOf(taint)) ?? now },
  );
}

const dateTaints = (clock: Pick<Clock, "now">): Admission<Cluster> => ({
  name: "TaintTimes",
  for: Cluster,
  on: ["CREATE", "UPDATE"],
  prepare({ object, oldObject, subresource }) {
    const { taints } = object.spec;
    if (
      subresource !== undefined ||
      !taints?.some(({ effect, timeAdded }) => effect === "NoExecute" && timeAdded === undefined)
    )
      return object;
    return {
      ...object,
      spec: { ...object.spec, taints: datedTaints(taints, oldObject?.spec.taints ?? [], formatTime(clock.now())) },
    };
  },
});

/** NoExecute alone evicts little: Karmada moves only workloads whose policy asks for it. */
const explainTaints: Admission<Cluster> = {
  name: "TaintWarnings",
  for: Cluster,
  on: ["CREATE", "UPDATE"],
  warnings({ object, oldObject, subresource, byController }) {
    if (subresource !== undefined || byController) return [];
    const before = new Set((oldObject?.spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`));
    return (object.spec.taints ?? []).flatMap(({ key, effect }, index) =>
      effect === "NoExecute" && key !== DRAIN_TAINT && !before.has(`${key}:${effect}`)
        ? [
            `spec.taints[${index}]: NoExecute moves only workloads whose policy has failover.cluster; ` +
              `'flotilla drain ${object.metadata.name}' moves most others, too`,
          ]
        : [],
    );
  },
};

export function createMembershipAdmissions({
  hub,
  clock,
}: {
  hub: string;
  clock: Pick<Clock, "now">;
}): readonly AnyStep[] {
  return [
    createAgentRestriction(hub),
    keepNamespaces(hub),
    dateTaints(clock),
    explainTaints,
    clusterReferences(hub),
    ...createWorkAdmissions((manifest) => withoutTimeToLive(prune(manifest))),
  ];
}
