/**
 * Whether a Placement has decided, and on which clusters. Pure.
 *
 * It has decided when it reports the number of clusters selected for its current spec, and its PlacementDecisions
 * contain as many. Until then they are being written, or one was deleted: a cluster missing from them was not
 * deselected. Decisions of an earlier Placement with the same name are ignored.
 */
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  OcmPlacement,
  SCHEDULING_DISABLED_ANNOTATION,
} from "@flotilla/ocm";
import type { PlacementDecision } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import type { DecisionGroup } from "../rollout/index.ts";

type Placement = DeepReadonly<OcmPlacement>;
type Decision = DeepReadonly<PlacementDecision>;

/** A Placement with its decision. */
export interface Decided {
  placement: Placement;
  groups: readonly DecisionGroup[];
  /**
   * False if users wrote decisions and no controller has written the status: more clusters may follow, so none counts
   * as deselected.
   */
  isFinal: boolean;
}

/** `absent`: the Placement does not exist. `deciding`: its decision is unknown or incomplete. */
export type Verdict = Decided | "absent" | "deciding";

export function decidedBy(placement: Placement | undefined, decisions: readonly Decision[]): Verdict {
  if (!placement) return "absent";
  const { uid, annotations, deletionTimestamp } = placement.metadata;
  // Its decisions are deleted with it, one after the other.
  if (deletionTimestamp) return "deciding";
  const own = decisions.filter((decision) => ownerOf(decision) === uid);
  const byHand = decisions.filter((decision) => ownerOf(decision) === undefined);
  const decided = { placement, groups: groupsOf([...own, ...byHand]) };
  // With scheduling disabled another client decides, and the status may be outdated.
  if (annotations?.[SCHEDULING_DISABLED_ANNOTATION] === "true")
    return own.length + byHand.length > 0 ? { ...decided, isFinal: true } : "deciding";
  const said = findCondition(placement.status?.conditions, "PlacementSatisfied");
  // OCM's own scheduler does not set observedGeneration.
  if (said?.observedGeneration !== undefined && said.observedGeneration !== placement.metadata.generation)
    return "deciding";
  const selected = said && placement.status?.numberOfSelectedClusters;
  if (selected === undefined) return byHand.length > 0 ? { ...decided, isFinal: false } : "deciding";
  return new Set(own.flatMap(clustersOf)).size === selected ? { ...decided, isFinal: true } : "deciding";
}

/** The uid of the Placement that owns a decision; undefined for one written by a user. */
const ownerOf = ({ metadata }: Decision): string | undefined =>
  metadata.ownerReferences?.find(
    ({ kind, apiVersion }) => kind === OcmPlacement.kind && apiVersion.startsWith(`${OcmPlacement.group}/`),
  )?.uid;

const clustersOf = ({ status }: Decision): string[] => (status?.decisions ?? []).map(({ clusterName }) => clusterName);

/** A cluster that moves between decisions is in both for a moment, and is counted once. */
function groupsOf(decisions: readonly Decision[]): DecisionGroup[] {
  const groups = new Map<string, DecisionGroup & { clusters: string[] }>();
  const seen = new Set<string>();
  for (const decision of decisions) {
    const { labels = {} } = decision.metadata;
    const [name = "", index = "0"] = [labels[DECISION_GROUP_NAME_LABEL], labels[DECISION_GROUP_INDEX_LABEL]];
    const group = groups.get(index) ?? { name, index: Number(index), clusters: [] };
    groups.set(index, group);
    for (const cluster of clustersOf(decision)) {
      if (!seen.has(cluster)) group.clusters.push(cluster);
      seen.add(cluster);
    }
  }
  return [...groups.values()];
}
