/** Collects the inputs of a Placement from the hub's informers, for the controller and for explanations. */
import {
  AddOnPlacementScore,
  createScoreLibrary,
  DEFAULT_CLUSTER_SET,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  PlacementDecision,
  usesUnboundDefault,
} from "@flotilla/ocm";
import type { OcmPlacement } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import type { Informers } from "@flotilla/controller-runtime";
import { BY_PLACEMENT, createDecisionCounts } from "./decision-counts.ts";
import type { PlacementInput } from "./plan-placement.ts";

type Placement = DeepReadonly<OcmPlacement>;
type Decision = DeepReadonly<PlacementDecision>;

export interface PlacementSources {
  /** The existing decisions of a Placement. */
  decisionsOf(placement: Placement): Decision[];
  inputOf(placement: Placement, nowMs: number): PlacementInput;
}

export function createPlacementSources({ hub, informers }: { hub: string; informers: Informers }): PlacementSources {
  const clusters = informers.of(ManagedCluster);
  const sets = informers.of(ManagedClusterSet);
  const bindings = informers.of(ManagedClusterSetBinding);
  const scores = informers.of(AddOnPlacementScore);
  const decisions = informers.of(PlacementDecision);
  const counts = createDecisionCounts(decisions);
  const scoreObjectOf = (cluster: string, name: string): DeepReadonly<AddOnPlacementScore> | undefined =>
    scores.get({ cluster: hub, namespace: cluster, name });
  const library = createScoreLibrary(
    (cluster, name) => scoreObjectOf(cluster, name)?.status?.scores ?? (scoreObjectOf(cluster, name) ? [] : undefined),
  );

  function boundSets(placement: Placement): Map<string, DeepReadonly<ManagedClusterSet>> {
    const bound = bindings
      .list({ cluster: hub, namespace: placement.metadata.namespace ?? "" })
      .map(({ metadata }) => metadata.name);
    // Whatever else is bound: a binding of another set must not take clusters away.
    const names = usesUnboundDefault(placement) ? [...bound, DEFAULT_CLUSTER_SET] : bound;
    return new Map(
      names.flatMap((name): [string, DeepReadonly<ManagedClusterSet>][] => {
        const set = sets.get({ cluster: hub, name });
        return set ? [[name, set]] : [];
      }),
    );
  }

  const decisionsOf = ({ metadata }: Placement): Decision[] =>
    decisions
      .by(BY_PLACEMENT, `${metadata.namespace}/${metadata.name}`)
      .filter((decision) => decision.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));

  return {
    decisionsOf,
    inputOf(placement, nowMs) {
      const chosen = new Set(
        decisionsOf(placement).flatMap(({ status }) => (status?.decisions ?? []).map(({ clusterName }) => clusterName)),
      );
      return {
        boundSets: boundSets(placement),
        clusters: clusters.list({ cluster: hub }),
        chosen,
        ...counts.besides(chosen),
        scoreObjectOf,
        library,
        nowMs,
      };
    },
  };
}
