/**
 * Finds the Placements affected by a change through indexes: a cluster's status report does not enqueue Placements that
 * cannot choose it.
 */
import { usesUnboundDefault } from "@flotilla/ocm";
import type {
  AddOnPlacementScore,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
} from "@flotilla/ocm";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { keyOf } from "@flotilla/controller-runtime";
import type { Informer, ObjectEvent } from "@flotilla/controller-runtime";
import { membershipTest } from "./candidates.ts";

type Placement = DeepReadonly<OcmPlacement>;

export interface Concerned {
  byCluster(event: ObjectEvent<ManagedCluster>): ObjectKey[];
  bySet(event: ObjectEvent<ManagedClusterSet>): ObjectKey[];
  byBinding(event: ObjectEvent<ManagedClusterSetBinding>): ObjectKey[];
  byScore(event: ObjectEvent<AddOnPlacementScore>): ObjectKey[];
}

interface Views {
  hub: string;
  placements: Informer<OcmPlacement>;
  sets: Informer<ManagedClusterSet>;
  bindings: Informer<ManagedClusterSetBinding>;
}

const BY_SET = "clusterSet";
const WITHOUT_BINDING = "unbound";

export function findConcerned({ hub, placements, sets, bindings }: Views): Concerned {
  bindings.addIndex(BY_SET, ({ spec }) => [spec.clusterSet]);
  placements.addIndex(WITHOUT_BINDING, (placement) => (usesUnboundDefault(placement) ? ["default"] : []));

  const placementsIn = (namespace: string | undefined): Placement[] =>
    namespace === undefined ? [] : placements.list({ cluster: hub, namespace });
  const keysOf = (found: Iterable<Placement>): ObjectKey[] => Array.from(found, (placement) => keyOf(hub, placement));
  function ofSets(names: Iterable<string>): Set<Placement> {
    const found = new Set<Placement>();
    for (const name of names) {
      for (const { metadata } of bindings.by(BY_SET, name))
        for (const placement of placementsIn(metadata.namespace)) found.add(placement);
      for (const placement of placements.by(WITHOUT_BINDING, name)) found.add(placement);
    }
    return found;
  }
  const setsOf = (...clusters: (DeepReadonly<ManagedCluster> | undefined)[]): string[] =>
    sets
      .list({ cluster: hub })
      .flatMap((set) =>
        clusters.some((cluster) => cluster && membershipTest(set)(cluster)) ? [set.metadata.name] : [],
      );

  return {
    byCluster({ object, old, deleted }) {
      const found = ofSets(setsOf(object, old));
      // A report that changes no selectable field only affects expressions, which may read the whole object.
      const isReport = !deleted && old !== undefined && equalJson(choosableOf(object), choosableOf(old));
      return keysOf(isReport ? [...found].filter(hasExpressions) : found);
    },
    bySet({ object, old }) {
      return old && equalJson(old.spec, object.spec) ? [] : keysOf(ofSets([object.metadata.name]));
    },
    byBinding({ object, old }) {
      return old && equalJson(old.spec, object.spec) ? [] : keysOf(placementsIn(object.metadata.namespace));
    },
    // A score's namespace is its cluster's name.
    byScore({ object, old, deleted }) {
      if (!deleted && old && equalJson(old.status, object.status)) return [];
      const names = sets.list({ cluster: hub }).map(({ metadata }) => metadata.name);
      return keysOf(
        [...ofSets(names)].filter(
          (placement) => hasExpressions(placement) || usesScore(placement, object.metadata.name),
        ),
      );
    },
  };
}

const choosableOf = ({ metadata, spec, status }: DeepReadonly<ManagedCluster>): unknown => [
  metadata.labels,
  metadata.deletionTimestamp,
  spec.taints,
  status?.clusterClaims,
  status?.allocatable,
  status?.capacity,
];
const hasExpressions = ({ spec }: Placement): boolean =>
  (spec.predicates ?? []).some(
    ({ requiredClusterSelector }) => requiredClusterSelector?.celSelector?.celExpressions?.length,
  );
const usesScore = ({ spec }: Placement, name: string): boolean =>
  (spec.prioritizerPolicy?.configurations ?? []).some(
    ({ scoreCoordinate }) => scoreCoordinate.addOn?.resourceName === name,
  );
