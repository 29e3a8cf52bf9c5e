/** Builds the missing registration of a member. Pure. */
import { omitZero, defined } from "@flotilla/base";
import { Cluster, CLUSTER_FINALIZER, CLUSTER_NOT_READY_TAINT } from "@flotilla/karmada";
import { ManagedCluster, REACHED_BY_HUB_ANNOTATION, UNREACHABLE_TAINT } from "@flotilla/ocm";
import { isConditionTrue } from "@flotilla/apimachinery";
import type { ClientConfig } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { AGREEMENT_ANNOTATION, agreementText, mergeRegistrations, NOTHING_AGREED } from "./merge-registrations.ts";
import { ID_CLAIM, PLATFORM_CLAIM, REGION_CLAIM } from "./plan-claims.ts";

const LEASE_SECONDS = 60;

/**
 * Joining a member implies accepting it. The fields that controllers would add are set from the start, which saves
 * their writes.
 */
export function planManagedCluster(
  face: DeepReadonly<Cluster>,
  finalizers: readonly string[],
): DeepReadonly<ManagedCluster> {
  const isReady = isConditionTrue(face.status?.conditions, "Ready");
  const configs = clientConfigOf(face);
  const bare: ManagedCluster = {
    apiVersion: `${ManagedCluster.group}/${ManagedCluster.storageVersion}`,
    kind: ManagedCluster.kind,
    metadata: { name: face.metadata.name, finalizers: [...finalizers] },
    spec: {
      hubAcceptsClient: true,
      leaseDurationSeconds: LEASE_SECONDS,
      managedClusterClientConfigs: configs.length > 0 ? configs : undefined,
      taints: isReady ? undefined : [{ key: UNREACHABLE_TAINT, effect: "NoSelect" }],
    },
  };
  const { agreement, managedCluster } = mergeRegistrations(face, bare, NOTHING_AGREED);
  return {
    ...bare,
    metadata: {
      ...bare.metadata,
      ...defined({ labels: managedCluster.labels ? (managedCluster.labels as Record<string, string>) : undefined }),
      annotations: { [AGREEMENT_ANNOTATION]: agreementText(agreement), [REACHED_BY_HUB_ANNOTATION]: "true" },
    },
    spec: { ...bare.spec, ...omitZero({ taints: managedCluster.taints }) },
  };
}

/** Tainted, so that nothing is scheduled there before its agent reports. */
export function planCluster(managed: DeepReadonly<ManagedCluster>): DeepReadonly<Cluster> {
  const claims = new Map((managed.status?.clusterClaims ?? []).map(({ name = "", value = "" }) => [name, value]));
  const [id, platform, region] = [ID_CLAIM, PLATFORM_CLAIM, REGION_CLAIM].map((name) => claims.get(name));
  const url = managed.spec.managedClusterClientConfigs?.[0]?.url;
  const bare: Cluster = {
    apiVersion: `${Cluster.group}/${Cluster.storageVersion}`,
    kind: Cluster.kind,
    metadata: { name: managed.metadata.name, finalizers: [CLUSTER_FINALIZER] },
    spec: {
      syncMode: "Pull",
      id: id || undefined,
      apiEndpoint: url || undefined,
      provider: platform && platform !== "Other" ? platform : undefined,
      region: region || undefined,
      taints: [{ key: CLUSTER_NOT_READY_TAINT, effect: "NoSchedule" }],
    },
  };
  const { cluster } = mergeRegistrations(bare, managed, NOTHING_AGREED);
  return {
    ...bare,
    metadata: {
      ...bare.metadata,
      ...defined({ labels: cluster.labels ? (cluster.labels as Record<string, string>) : undefined }),
    },
    spec: { ...bare.spec, ...omitZero({ taints: cluster.taints }) },
  };
}

/** Open Cluster Management accepts only https addresses. */
export function clientConfigOf({ spec }: DeepReadonly<Cluster>): ClientConfig[] {
  return spec.apiEndpoint?.startsWith("https://") ? [{ url: spec.apiEndpoint }] : [];
}
