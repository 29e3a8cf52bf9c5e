/**
 * The managed namespaces of a cluster, from the sets it belongs to. Pure.
 *
 * Agents add conditions to each entry. Upstream drops them whenever the list is recomputed; here an unchanged entry
 * keeps them.
 */
import type { ClusterSetManagedNamespaceConfig } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import type { ManagedClusterSet } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { compareText } from "@flotilla/base";

type Entry = DeepReadonly<ClusterSetManagedNamespaceConfig>;

export function planManagedNamespaces(
  sets: Iterable<DeepReadonly<ManagedClusterSet>>,
  before: readonly Entry[] = [],
): readonly Entry[] {
  const idOf = ({ clusterSet, name }: Entry): string => `${clusterSet}/${name}`;
  const known = new Map(before.map((entry) => [idOf(entry), entry]));
  const wanted = new Map<string, Entry>();
  for (const { metadata, spec } of sets) {
    if (metadata.deletionTimestamp !== undefined) continue;
    for (const { name } of spec.managedNamespaces ?? []) {
      const entry = { name, clusterSet: metadata.name };
      wanted.set(idOf(entry), known.get(idOf(entry)) ?? entry);
    }
  }
  const list = [...wanted.values()].toSorted(
    (a, b) => compareText(a.clusterSet, b.clusterSet) || compareText(a.name, b.name),
  );
  return list.length === before.length && list.every((entry, index) => entry === before[index]) ? before : list;
}
