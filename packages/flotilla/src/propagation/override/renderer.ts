/**
 * The effectful part of the override stage: collects the policies that may affect a copy and applies the plan. It
 * writes no object; dispatch calls it for every cluster and records the applied overrides on the Work.
 */
import type { Cluster, ClusterOverridePolicy, OverridePolicy } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Lister } from "@flotilla/controller-runtime";
import { OverrideError } from "./override-error.ts";
import { formatApplied, planOverrides, type OverrideInput } from "./plan-overrides.ts";

export interface RendererDependencies {
  hub: string;
  clusters: Lister<Cluster>;
  overridePolicies: Lister<OverridePolicy>;
  clusterOverridePolicies: Lister<ClusterOverridePolicy>;
}

/** A member's copy after overrides, and the record of these. */
export interface Rendered {
  object: DeepReadonly<KubernetesObject>;
  /** JSON for the Work's annotations; unset when nothing applied. */
  appliedOverrides?: string;
  appliedClusterOverrides?: string;
}

export function createRenderer({ hub, clusters, overridePolicies, clusterOverridePolicies }: RendererDependencies) {
  return (object: DeepReadonly<KubernetesObject>, clusterName: string): Rendered => {
    const { namespace } = object.metadata;
    const local = namespace ? overridePolicies.list({ cluster: hub, namespace }) : [];
    const everywhere = clusterOverridePolicies.list({ cluster: hub });
    const cluster = clusters.get({ cluster: hub, name: clusterName });
    // A cluster that has left has no labels or zones to select by; its Work is about to be deleted as well.
    if (!cluster || local.length + everywhere.length === 0) return { object };
    const plan = planOverrides({ object, cluster, clusterOverridePolicies: everywhere, overridePolicies: local });
    if (identityOf(object) !== identityOf(plan.object))
      throw renamed({ object, cluster, clusterOverridePolicies: everywhere, overridePolicies: local });
    const appliedOverrides = formatApplied(plan.appliedOverrides);
    const appliedClusterOverrides = formatApplied(plan.appliedClusterOverrides);
    return {
      object: plan.object,
      appliedOverrides: appliedOverrides || undefined,
      appliedClusterOverrides: appliedClusterOverrides || undefined,
    };
  };
}

const identityOf = ({ apiVersion, kind, metadata }: DeepReadonly<KubernetesObject>): string =>
  JSON.stringify([apiVersion, kind, metadata.namespace, metadata.name]);

/** A copy under another name would be another object: the existing one would never be removed. */
function renamed(input: OverrideInput): OverrideError {
  const cause = new OverrideError("an override may not change apiVersion, kind, name or namespace of the object");
  const { clusterOverridePolicies, overridePolicies } = input;
  const inCluster = clusterOverridePolicies.find((policy) =>
    renames({ ...input, clusterOverridePolicies: [policy], overridePolicies: [] }),
  );
  if (inCluster)
    return new OverrideError(`applying override policy ${inCluster.metadata.name}`, {
      cause,
      policy: `cluster override policy(${inCluster.metadata.name})`,
    });
  const local = overridePolicies.find((policy) =>
    renames({ ...input, clusterOverridePolicies: [], overridePolicies: [policy] }),
  );
  // Policies that change the identity only in combination are not distinguished.
  return local
    ? new OverrideError(`applying override policy ${local.metadata.name}`, {
        cause,
        policy: `override policy(${local.metadata.namespace ?? ""}/${local.metadata.name})`,
      })
    : cause;
}

/** Whether the policies of the input do that on their own. */
function renames(input: OverrideInput): boolean {
  try {
    return identityOf(planOverrides(input).object) !== identityOf(input.object);
  } catch (error) {
    if (error instanceof OverrideError) return false; // The policy depends on the changes of another one.
    throw error;
  }
}
