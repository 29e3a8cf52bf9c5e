/**
 * The namespaces that a member's sets list, how they are labelled there, and how they are reported on the hub. Pure.
 */
import type { ClusterSetManagedNamespaceConfig } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import type { ManagedCluster } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { withCondition, type NextCondition } from "@flotilla/apimachinery";

type Entry = DeepReadonly<ClusterSetManagedNamespaceConfig>;

const LABEL_PREFIX = "clusterset.open-cluster-management.io/";
const MAX_LABEL_NAME = 63;

/** On a namespace: this hub's sets list it (`true`), or did once (`false`). */
export const namespaceLabel = (hubHash: string): string => `${LABEL_PREFIX}${hubHash.slice(0, MAX_LABEL_NAME)}`;

/** Empty for a cluster that is not accepted or is being deleted. */
export function wantedEntries({ metadata, spec, status }: DeepReadonly<ManagedCluster>): readonly Entry[] {
  return metadata.deletionTimestamp || !spec.hubAcceptsClient ? [] : (status?.managedNamespaces ?? []);
}

/**
 * The entries with their conditions: a namespace in `failures` is not available, for that reason. Returns the same list
 * if nothing changed.
 */
export function withOutcomes(
  entries: readonly Entry[],
  failures: ReadonlyMap<string, string>,
  now: string,
): readonly Entry[] {
  const next = entries.map((entry) => {
    const conditions = withCondition(entry.conditions, outcome(failures.get(entry.name)), now);
    return conditions === entry.conditions ? entry : { ...entry, conditions };
  });
  return next.every((entry, index) => entry === entries[index]) ? entries : next;
}

function outcome(failure: string | undefined): NextCondition {
  return failure === undefined
    ? { type: "NamespaceAvailable", status: "True", reason: "NamespaceApplied", message: "The namespace exists" }
    : {
        type: "NamespaceAvailable",
        status: "False",
        reason: "NamespaceApplyFailed",
        message: `Failed to apply namespace: ${failure}`,
      };
}
