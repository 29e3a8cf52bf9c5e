/**
 * Whether a Placement has decided, and on what. Pure.
 *
 * It has when it says how many clusters it selected by its present spec, and its PlacementDecisions name as many. Until
 * then they are being written, or somebody deleted one: a cluster that they do not name was not deselected. Decisions
 * of an earlier Placement of the same name say nothing about this one.
 */
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  OcmPlacement,
  SCHEDULING_DISABLED_ANNOTATION,
} from "../../api/index.ts";
import type { PlacementDecision } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { findCondition } from "../../machinery/index.ts";
import type { DecisionGroup } from "../rollout/index.ts";

type Placement = DeepReadonly<OcmPlacement>;
type Decision = DeepReadonly<PlacementDecision>;

/** A Placement with what it decided. */
export interface Decided {
  placement: Placement;
  groups: readonly DecisionGroup[];
  /**
   * False where people wrote decisions and no controller has spoken: clusters may still come, so that none is taken for
   * deselected.
   */
  isFinal: boolean;
}

/** `absent`: there is no such Placement. `deciding`: what it decided is not known, or not all of it. */
export type Verdict = Decided | "absent" | "deciding";

export function decidedBy(placement: Placement | undefined, decisions: readonly Decision[]): Verdict {
  if (!placement) return "absent";
  const { uid, annotations, deletionTimestamp } = placement.metadata;
  // Its decisions go with it, one after the other.
  if (deletionTimestamp) return "deciding";
  const own = decisions.filter((decision) => ownerOf(decision) === uid);
  const byHand = decisions.filter((decision) => ownerOf(decision) === undefined);
  const decided = { placement, groups: groupsOf([...own, ...byHand]) };
  // Where scheduling is switched off, somebody else decides, and the status may be an old one.
  if (annotations?.[SCHEDULING_DISABLED_ANNOTATION] === "true")
    return own.length + byHand.length > 0 ? { ...decided, isFinal: true } : "deciding";
  const said = findCondition(placement.status?.conditions, "PlacementSatisfied");
  // OCM's own scheduler does not say of which version of the Placement it speaks.
  if (said?.observedGeneration !== undefined && said.observedGeneration !== placement.metadata.generation)
    return "deciding";
  const selected = said && placement.status?.numberOfSelectedClusters;
  if (selected === undefined) return byHand.length > 0 ? { ...decided, isFinal: false } : "deciding";
  return new Set(own.flatMap(clustersOf)).size === selected ? { ...decided, isFinal: true } : "deciding";
}

/** The Placement that made a decision, by its uid; undefined for one that a person wrote. */
const ownerOf = ({ metadata }: Decision): string | undefined =>
  metadata.ownerReferences?.find(
    ({ kind, apiVersion }) => kind === OcmPlacement.kind && apiVersion.startsWith(`${OcmPlacement.group}/`),
  )?.uid;

const clustersOf = ({ status }: Decision): string[] => (status?.decisions ?? []).map(({ clusterName }) => clusterName);

/** A cluster that moves from one decision to another is in both for a moment, and counts once. */
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
