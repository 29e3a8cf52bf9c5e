/** Computes a ManagedCluster's status from the agent's view of the member. Pure. */
import type { Cluster } from "@flotilla/karmada";
import type { ClusterClaim, ManagedCluster } from "@flotilla/ocm";
import type { ManagedClusterStatus } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import type { Node } from "@flotilla/kubernetes";
import { equalJson, omitZero, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition, isConditionTrue, withCondition } from "@flotilla/apimachinery";
import { amountOf, resourceListOf } from "../../membership/resources.ts";
import type { Health, Trend } from "../../membership/ready.ts";
import { planClaims } from "../../ocm/pairing/plan-claims.ts";
import * as registrationConditions from "../../ocm/cluster-conditions.ts";
import type { Rotation } from "../credentials/keep-credentials.ts";

const { available, unavailable, joined } = registrationConditions;
/** Grace period: a member that fails to answer for a moment is not reported as unavailable. */
export const UNHEALTHY_AFTER_MS = 20_000;

export interface MemberView {
  health: Health;
  detail: string;
  /** Since when the member has been healthy or unhealthy. */
  trend: Trend;
  id: string;
  /** Unset while unknown. */
  version?: string;
  nodes?: readonly DeepReadonly<Node>[];
  claims?: readonly DeepReadonly<ClusterClaim>[];
  rotation?: Rotation;
}

type Read = DeepReadonly<ManagedCluster>;

/** Returns the same object when nothing changes, or the hub has not accepted the cluster. */
export function planManagedStatus(cluster: Read, view: MemberView, nowMs: number, now: string): Read {
  const before = cluster.status ?? { conditions: [] };
  let conditions = before.conditions ?? [];
  if (!isConditionTrue(conditions, "HubAcceptedManagedCluster")) return cluster;
  // Timestamps of a wrong clock would mislead, because the hub compares times. The hub sets this condition when the
  // clocks agree again.
  if (findCondition(conditions, "ManagedClusterConditionClockSynced")?.status === "False") return cluster;
  conditions = withCondition(conditions, joined, now);
  if (view.health === "ready") conditions = withCondition(conditions, available, now);
  else if (
    nowMs - view.trend.sinceMs >= UNHEALTHY_AFTER_MS &&
    findCondition(conditions, available.type)?.status !== "False"
  )
    conditions = withCondition(conditions, unavailable(`The kube-apiserver is not ok: ${view.detail}`), now);
  if (view.rotation) conditions = withCondition(conditions, rotated(view.rotation), now);
  const status = { ...before, ...factsOf(before, view), conditions } as Read["status"];
  return equalJson(status, before) ? cluster : { ...cluster, ...omitZero({ status }) };
}

/**
 * What is not known yet, as after a restart of the agent, stays as it was reported last; so does everything while the
 * member is unhealthy.
 */
function factsOf(
  before: DeepReadonly<ManagedClusterStatus>,
  view: MemberView,
): Partial<DeepReadonly<ManagedClusterStatus>> {
  const { health, id, version = before.version?.kubernetes, nodes, claims } = view;
  if (health !== "ready") return {};
  return {
    ...defined({ version: version ? { ...before.version, kubernetes: version } : undefined }),
    ...resourcesOf(before, nodes),
    ...defined({ clusterClaims: claims ? planClaims(faceOf(id, version), claims) : undefined }),
  };
}

function resourcesOf(
  before: DeepReadonly<ManagedClusterStatus>,
  nodes: readonly DeepReadonly<Node>[] | undefined,
): Partial<DeepReadonly<ManagedClusterStatus>> {
  if (!nodes) return {};
  const capacity = sum(nodes, "capacity");
  return {
    // Other controllers may report resources of their own; those stay.
    capacity: capacity && { ...before.capacity, ...capacity },
    allocatable: sum(nodes, "allocatable"),
  };
}

/** The subset of a Cluster from which claims are made. */
const faceOf = (id: string, kubernetesVersion = ""): Cluster => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name: "" },
  spec: { syncMode: "Pull", id },
  status: { kubernetesVersion },
});

function sum(
  nodes: readonly DeepReadonly<Node>[],
  what: "capacity" | "allocatable",
): Record<string, string> | undefined {
  const totals = new Map<string, bigint>();
  for (const { status } of nodes) {
    for (const [name, quantity] of Object.entries(status?.[what] ?? {}))
      totals.set(name, (totals.get(name) ?? 0n) + amountOf(name, quantity));
  }
  return resourceListOf(totals);
}

function rotated(rotation: Rotation): Parameters<typeof withCondition>[1] {
  const type = "ClusterCertificateRotated";
  return rotation.ok
    ? {
        type,
        status: "True",
        reason: "ClientCertificateUpdated",
        message: `the client certificate is valid until ${new Date(rotation.expiresMs).toISOString()}`,
      }
    : { type, status: "False", reason: "ClientCertificateUpdateFailed", message: rotation.message };
}
