/** Whether a placement's spread constraints have an effect. Pure. */
import type { Placement } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";

/**
 * Static weights name their clusters, so Karmada does not spread them. A preference without any weight does not name
 * them, although replicas are then divided evenly.
 */
export function ignoresSpread({ replicaScheduling }: DeepReadonly<Placement>): boolean {
  if (
    replicaScheduling?.replicaSchedulingType !== "Divided" ||
    replicaScheduling.replicaDivisionPreference !== "Weighted"
  )
    return false;
  const { weightPreference } = replicaScheduling;
  return !weightPreference || (Boolean(weightPreference.staticWeightList?.length) && !weightPreference.dynamicWeight);
}

/** The sentence for users whose spread constraints are ignored; undefined if there are none, or if they count. */
export function ignoredSpread(placement: DeepReadonly<Placement>): string | undefined {
  const constraints = placement.spreadConstraints ?? [];
  if (constraints.length === 0 || !ignoresSpread(placement)) return undefined;
  const weights = placement.replicaScheduling?.weightPreference ? "static weights" : "equal weights";
  const asked = constraints.map(({ spreadByField = "cluster", spreadByLabel, minGroups = 0, maxGroups = 0 }) => {
    const limits = [
      ...(minGroups > 0 ? [`at least ${minGroups}`] : []),
      ...(maxGroups > 0 ? [`at most ${maxGroups}`] : []),
    ].join(" and ");
    return `${limits || "any number"} of ${spreadByLabel ? `label ${spreadByLabel}` : spreadByField}`;
  });
  const needed = constraints.flatMap(({ spreadByField = "cluster", spreadByLabel }) =>
    spreadByLabel ? [`the label ${spreadByLabel}`] : spreadByField === "cluster" ? [] : [`a ${spreadByField}`],
  );
  // Karmada's scheduler filters members by these before it looks at how replicas are divided.
  const excluded = needed.length > 0 ? `, but still exclude members without ${needed.join(" or ")}` : "";
  return (
    `spread constraints are ignored (${asked.join(", ")}), because replicas are divided by ` +
    `${weights}${excluded}; remove them, or use dynamicWeight: AvailableReplicas or ` +
    "replicaDivisionPreference: Aggregated"
  );
}
