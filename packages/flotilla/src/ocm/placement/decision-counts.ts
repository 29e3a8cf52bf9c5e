/**
 * The number of decisions that contain each cluster, updated incrementally, so that scheduling a Placement does not
 * read all others.
 */
import { PLACEMENT_LABEL } from "@flotilla/ocm";
import type { PlacementDecision } from "@flotilla/ocm";
import { idOfKey, keyOf } from "@flotilla/controller-runtime";
import type { Informer } from "@flotilla/controller-runtime";
import type { ScoreSources } from "./prioritizers.ts";

export interface DecisionCounts {
  /** The counts for a Placement that has chosen these clusters, each in one decision: without its own decisions. */
  besides(chosen: ReadonlySet<string>): Pick<ScoreSources, "decisionsOf" | "mostDecisions">;
}

/** Index of decisions by their Placement, as `namespace/name`. */
export const BY_PLACEMENT = "placement";

export function createDecisionCounts(decisions: Informer<PlacementDecision>): DecisionCounts {
  const counts = new Map<string, number>();
  /** The counted clusters of each decision, because its object may change between two events. */
  const counted = new Map<string, readonly { readonly clusterName: string }[]>();
  const count = (clusters: readonly { readonly clusterName: string }[], by: number): void => {
    for (const { clusterName } of clusters) {
      const next = (counts.get(clusterName) ?? 0) + by;
      if (next === 0) counts.delete(clusterName);
      else counts.set(clusterName, next);
    }
  };
  decisions.addIndex(BY_PLACEMENT, ({ metadata: { namespace, labels } }) =>
    labels?.[PLACEMENT_LABEL] ? [`${namespace}/${labels[PLACEMENT_LABEL]}`] : [],
  );
  decisions.subscribe(({ cluster, object, deleted }) => {
    const id = idOfKey(keyOf(cluster, object));
    count(counted.get(id) ?? [], -1);
    counted.delete(id);
    if (deleted || !object.status) return;
    counted.set(id, object.status.decisions);
    count(object.status.decisions, 1);
  });
  return {
    besides(chosen) {
      const decisionsOf = (cluster: string): number => (counts.get(cluster) ?? 0) - (chosen.has(cluster) ? 1 : 0);
      let mostDecisions = 0;
      for (const cluster of counts.keys()) mostDecisions = Math.max(mostDecisions, decisionsOf(cluster));
      return { decisionsOf, mostDecisions };
    },
  };
}
