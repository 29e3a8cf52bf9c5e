/**
 * Which namespaces of a member its sets ask for, how they are marked there, and what is told of them on the hub. Pure.
 */
import type { ClusterSetManagedNamespaceConfig, ManagedCluster } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { withCondition, type NextCondition } from "../../machinery/index.ts";

type Entry = DeepReadonly<ClusterSetManagedNamespaceConfig>;

const LABEL_PREFIX = "clusterset.open-cluster-management.io/";
const MAX_LABEL_NAME = 63;

/** On a namespace: this hub asks for it (`true`), or did once (`false`). */
export const namespaceLabel = (hubHash: string): string => `${LABEL_PREFIX}${hubHash.slice(0, MAX_LABEL_NAME)}`;

/** Nothing is asked of a cluster that is not accepted, and nothing any more of one that leaves. */
export function wantedEntries({ metadata, spec, status }: DeepReadonly<ManagedCluster>): readonly Entry[] {
  return metadata.deletionTimestamp || !spec.hubAcceptsClient ? [] : (status?.managedNamespaces ?? []);
}

/**
 * The entries with what became of each: a namespace that is named in `failures` is not there, for that reason. The same
 * list when that is no news.
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
    ? { type: "NamespaceAvailable", status: "True", reason: "NamespaceApplied", message: "The namespace is there" }
    : {
        type: "NamespaceAvailable",
        status: "False",
        reason: "NamespaceApplyFailed",
        message: `Failed to apply namespace: ${failure}`,
      };
}
