/** Prerequisites of a policy: the override policies that it names, and the value of its priority class. */
import type { ClusterOverridePolicy, OverridePolicy } from "@flotilla/karmada";
import type { PriorityClass } from "@flotilla/kubernetes";
import type { Lister } from "@flotilla/controller-runtime";
import type { Policy } from "./plan-match.ts";

export interface PrerequisiteListers {
  overridePolicies: Lister<OverridePolicy>;
  clusterOverridePolicies: Lister<ClusterOverridePolicy>;
  priorityClasses: Lister<PriorityClass>;
}

export type Prerequisites = { met: true; schedulePriority?: number } | { met: false; reason: string; message: string };

export function planPrerequisites(
  hub: string,
  { kind, metadata, spec }: Policy,
  listers: PrerequisiteListers,
): Prerequisites {
  const isCluster = kind === "ClusterPropagationPolicy";
  const missing = (spec.dependentOverrides ?? []).filter((name) =>
    isCluster
      ? !listers.clusterOverridePolicies.get({ cluster: hub, name })
      : !listers.overridePolicies.get({ cluster: hub, namespace: metadata.namespace ?? "", name }),
  );
  if (missing.length > 0)
    return {
      met: false,
      reason: "DependentOverridesMissing",
      message: `waiting for ${isCluster ? "ClusterOverridePolicy" : "OverridePolicy"} ${missing.join(", ")}`,
    };
  if (!spec.schedulePriority) return { met: true };
  const { priorityClassName, priorityClassSource } = spec.schedulePriority;
  if (priorityClassSource !== "KubePriorityClass")
    return {
      met: false,
      reason: "PriorityClassUnsupported",
      message: `priority class source ${priorityClassSource as string} is not supported; use KubePriorityClass`,
    };
  const found = listers.priorityClasses.get({ cluster: hub, name: priorityClassName });
  return found
    ? { met: true, schedulePriority: found.value }
    : { met: false, reason: "PriorityClassMissing", message: `waiting for PriorityClass ${priorityClassName}` };
}
