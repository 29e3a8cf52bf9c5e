/**
 * A budget that users create for the pods of the CloneSet, which therefore follows the CloneSet to its members. It allows
 * everything, so that the other invariants hold with and without it.
 */
import type { Kind } from "@flotilla/apimachinery";
import { PodUnavailableBudget } from "../../packages/openkruise/src/podunavailablebudget/podunavailablebudget-kind.ts";
import { NAMESPACE, TARGETS } from "./manifests.ts";
import type { Manifest } from "./manifests.ts";
import type { Finding, SettledState } from "./check-settled.ts";
import type { StoreView } from "./store-view.ts";

const { name: app, table, path } = TARGETS.CloneSet;
const MORE_THAN_ALL_PODS = 50;

export const companionKind = PodUnavailableBudget as unknown as Kind;

export const makeCompanion = (): Manifest => ({
  apiVersion: "policy.kruise.io/v1beta1",
  kind: "PodUnavailableBudget",
  metadata: { name: app, namespace: NAMESPACE },
  spec: { selector: { matchLabels: { app } }, maxUnavailable: MORE_THAN_ALL_PODS },
});

/** Its key in the store of a cluster. */
export const companionKey = (cluster: string): string =>
  `/policy.kruise.io/podunavailablebudgets/${cluster}/${NAMESPACE}/${app}`;

/** Whether the CloneSet takes it along: the CloneSet, its policy and the budget exist, and the policy says so. */
export function isTakenAlong(hub: StoreView): boolean {
  const policy = hub.get(`/policy.karmada.io/propagationpolicies/hub/${NAMESPACE}/place-${app}`);
  return Boolean(policy?.spec.propagateDeps && hub.get(`${table}hub/${path}`) && hub.get(companionKey("hub")));
}

export function* companionsFollow({ hub, members, names }: SettledState): Iterable<Finding> {
  const isWanted = isTakenAlong(hub);
  for (const member of names) {
    if (!hub.get(`/cluster.karmada.io/clusters/hub/${member}`)) continue;
    const hasCopy = members.get(`${table}${member}/${path}`) !== undefined;
    const hasCompanion = members.get(companionKey(member)) !== undefined;
    if (isWanted && hasCopy && !hasCompanion)
      yield {
        invariant: "companions are where their workload is",
        details: `${member} has cloneset/${app}, and not the budget of its pods`,
      };
    if (hasCompanion && !(isWanted && hasCopy))
      yield {
        invariant: "nothing is left on a member after a deletion",
        details: `${member} has the budget of the pods of cloneset/${app}, which ${hasCopy ? "is no longer taken along" : "it does not have"}`,
      };
  }
}
