/**
 * What a changed binding adds to the FederatedResourceQuotas of its namespace, and whether they have room for it. Pure.
 * Admission charges with it; plans and dispatch predict admission with it.
 */
import { formatQuantity } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { addAmounts, exceeding, onlyAmounts, readAmounts, subtractAmounts, withoutZeros } from "@flotilla/kubernetes";
import type { Amounts } from "@flotilla/kubernetes";
import type { FederatedResourceQuota, ResourceBinding } from "@flotilla/karmada";
import { usageOfBinding } from "./binding-usage.ts";

type Quota = DeepReadonly<FederatedResourceQuota>;
type Binding = DeepReadonly<Pick<ResourceBinding, "spec">>;

/** Karmada's reason of the rejection, which is also that of the conditions Scheduled and Dispatched. */
export const QUOTA_EXCEEDED = "QuotaExceeded";

/** What the binding uses more than before; never below zero, because only growth is charged. */
export function growthOf(before: Binding | undefined, after: Binding): Amounts {
  if (before && usesSame(before, after)) return new Map();
  const usage = usageOfBinding(after);
  return withoutZeros(before ? subtractAmounts(usage, usageOfBinding(before)) : usage);
}

const usesSame = (a: Binding, b: Binding): boolean =>
  a.spec.clusters === b.spec.clusters &&
  a.spec.replicaRequirements === b.spec.replicaRequirements &&
  a.spec.components === b.spec.components;

/** What is charged to each of the quotas that limit some of the growth. */
export function chargesOf(quotas: readonly Quota[], growth: Amounts): [Quota, Amounts][] {
  if (growth.size === 0) return [];
  return quotas.flatMap((quota): [Quota, Amounts][] => {
    const charge = onlyAmounts(growth, new Set(Object.keys(quota.spec.overall)));
    return charge.size === 0 ? [] : [[quota, charge]];
  });
}

/** Why the quota, of which so much is used, has no room for the charge; undefined if it has. Begins as in Karmada. */
export function whyNoRoom({ metadata, spec }: Quota, used: Amounts, charge: Amounts): string | undefined {
  const next = addAmounts(used, charge);
  const overall = readAmounts(spec.overall);
  const [resource] = exceeding(onlyAmounts(next, new Set(charge.keys())), overall);
  if (resource === undefined) return undefined;
  const shown = (amounts: Amounts): string => {
    const amount = amounts.get(resource);
    return amount ? formatQuantity(amount) : "0";
  };
  return (
    `FederatedResourceQuota(${metadata.namespace ?? ""}/${metadata.name}) exceeded for resource ${resource}: ` +
    `requested sum ${shown(next)}, limit ${shown(overall)}. Used: ${shown(used)}, asked in addition: ` +
    `${shown(charge)}.`
  );
}
