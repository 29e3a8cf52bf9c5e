/**
 * Decides about the pods of a WorkloadSpread: the subset of each, the order in which a scale-in deletes them, which
 * wait for a node in vain, and the status.
 *
 * Reads: the WorkloadSpread, the pods of its target, their nodes. Writes nothing.
 */
import type { Node } from "@flotilla/apimachinery/facts/core-v1.ts";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import { activePodsOrder, isActive, POD_DELETION_COST_ANNOTATION } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { legacyShare } from "../int-or-percent.ts";
import { matchOf, MATCHED_ANNOTATION, matchText } from "./inject-subset.ts";
import { scoreSubset } from "./match-subset.ts";
import { planSubsetStatuses } from "./plan-subset-statuses.ts";
import { limitOf, NO_LIMIT } from "./subset-records.ts";
import { versionOfPod } from "./spread-targets.ts";
import type { ReadonlySpread, Status, Subset, SubsetStatus } from "./spread-targets.ts";

/** Stands for the pods that belong to no subset. */
const NO_SUBSET = "kruise.io/workloadspread-fake-subset-name";
const IGNORE_PATCH_ANNOTATION = "workloadspread.kruise.io/ignore-patch-existing-pods-metadata";
const COST_STEP = 100;
const COUNTED_COST = ["CloneSet", "Deployment", "ReplicaSet"];

type PodsBySubset = ReadonlyMap<string, readonly ReadonlyPod[]>;

export interface SpreadScene {
  pods: readonly ReadonlyPod[];
  /** The desired pods of the target. */
  replicas: number;
  latestVersion: string;
  node(name: string): DeepReadonly<Node> | undefined;
}

export interface SpreadPlan {
  /** By version. */
  podsBySubset: ReadonlyMap<string, PodsBySubset>;
  /** Strategic merge patches of the metadata of pods. */
  patches: ReadonlyMap<ReadonlyPod, JsonObject>;
  /** Unset for subsets whose limits cannot be read. */
  status?: Status;
  /** Pods to delete, because another subset may have room. */
  unschedulable: ReadonlyMap<string, readonly ReadonlyPod[]>;
  events: readonly RecordedEvent[];
  /** When something ends that no event reports. */
  waitsMs: readonly number[];
}

export function planWorkloadSpread(spread: ReadonlySpread, scene: SpreadScene, nowMs: number): SpreadPlan {
  const patches = new Map<ReadonlyPod, JsonObject>();
  const byVersion = Map.groupBy(scene.pods, versionOfPod);
  const podsBySubset = new Map(
    [...byVersion].map(([version, pods]) => [version, groupBySubset(spread, { ...scene, pods }, patches)]),
  );
  if (COUNTED_COST.includes(spread.spec.targetRef.kind))
    for (const [version, groups] of podsBySubset)
      setCosts(spread, groups, scene.replicas, version !== scene.latestVersion, patches);

  const events: RecordedEvent[] = [];
  const waitsMs: number[] = [];
  const all = merged(podsBySubset.values());
  const context = { spread, replicas: scene.replicas, nowMs, events, waitsMs };
  const overall = planSubsetStatuses(context, spread.status?.subsetStatuses, all);
  if (!overall) return { podsBySubset, patches, unschedulable: new Map(), events, waitsMs };
  const versioned: Record<string, readonly SubsetStatus[]> = {};
  for (const [version, groups] of podsBySubset) {
    const plan = planSubsetStatuses(context, spread.status?.versionedSubsetStatuses?.[version], groups);
    if (plan) versioned[version] = plan.statuses;
  }
  // Pods of another version may have been admitted, and not seen yet.
  for (const [version, known] of Object.entries(spread.status?.versionedSubsetStatuses ?? {})) {
    if (podsBySubset.has(version)) continue;
    const statuses = planSubsetStatuses(context, known, new Map())?.statuses ?? [];
    if (statuses.some(({ creatingPods, deletingPods }) => creatingPods ?? deletingPods)) versioned[version] = statuses;
  }
  const status: Status = {
    observedGeneration: spread.metadata.generation ?? 0,
    subsetStatuses: overall.statuses,
    versionedSubsetStatuses: Object.keys(versioned).length > 0 ? versioned : undefined,
  };
  return { podsBySubset, patches, status, unschedulable: overall.unschedulable, events: unique(events), waitsMs };
}

const unique = (events: readonly RecordedEvent[]): RecordedEvent[] => [
  ...new Map(events.map((event) => [event.message, event])).values(),
];

function merged(versions: Iterable<PodsBySubset>): PodsBySubset {
  const all = new Map<string, ReadonlyPod[]>();
  for (const groups of versions)
    for (const [subset, pods] of groups) all.set(subset, [...(all.get(subset) ?? []), ...pods]);
  return all;
}

function groupBySubset(
  spread: ReadonlySpread,
  { pods, replicas, node }: SpreadScene,
  patches: Map<ReadonlyPod, JsonObject>,
): PodsBySubset {
  const groups = new Map<string, ReadonlyPod[]>([[NO_SUBSET, []]]);
  const missing = new Map<string, number>();
  for (const subset of spread.spec.subsets) {
    groups.set(subset.name, []);
    const limit = limitOf(subset, replicas) ?? 0;
    missing.set(subset.name, limit === NO_LIMIT ? Infinity : limit);
  }
  const fill = (name: string): void => void missing.set(name, (missing.get(name) ?? 0) - 1);
  for (const pod of pods) {
    const subset = ownSubset(spread, pod);
    if (subset !== undefined && missing.has(subset)) fill(subset);
  }
  for (const pod of pods) {
    let name = ownSubset(spread, pod);
    if (name === undefined) {
      const found = findSubset(spread, pod, node, missing);
      name = found?.name;
      if (found) {
        patches.set(pod, joiningPatch(spread, found));
        fill(found.name);
      }
    }
    (groups.get(name ?? NO_SUBSET) ?? groups.get(NO_SUBSET))?.push(pod);
  }
  return groups;
}

/** Undefined for a pod that this WorkloadSpread has not placed. */
function ownSubset({ metadata }: ReadonlySpread, pod: ReadonlyPod): string | undefined {
  const match = matchOf(pod);
  return match?.name === metadata.name && match.subset !== "" ? match.subset : undefined;
}

/** The first of the subsets that suit the pod best. */
function findSubset(
  { spec }: ReadonlySpread,
  pod: ReadonlyPod,
  nodeNamed: SpreadScene["node"],
  missing: ReadonlyMap<string, number>,
): Subset | undefined {
  const node = pod.spec.nodeName ? nodeNamed(pod.spec.nodeName) : undefined;
  if (!node) return undefined;
  let best: { subset: Subset; score: number } | undefined;
  for (const subset of spec.subsets) {
    const score = scoreSubset(pod, node, subset, missing.get(subset.name) ?? 0);
    if (score !== undefined && score > (best?.score ?? -1)) best = { subset, score };
  }
  return best?.subset;
}

/** A running pod gets the metadata of the patch only: its spec cannot change. */
function joiningPatch({ metadata }: ReadonlySpread, { name, patch }: Subset): JsonObject {
  const ignores = metadata.annotations?.[IGNORE_PATCH_ANNOTATION]?.toLowerCase() === "true";
  const given = !ignores && isObject(patch) && isObject(patch["metadata"]) ? patch["metadata"] : {};
  const annotations = isObject(given["annotations"]) ? given["annotations"] : {};
  const match = matchText({ name: metadata.name, subset: name });
  return { metadata: { ...given, annotations: { ...annotations, [MATCHED_ANNOTATION]: match } } };
}

/**
 * Scale-in deletes pods of no subset first, then those beyond a limit, then the last subset. Of earlier revisions, the
 * first subset is the first, so that the new revision finds room there.
 */
function setCosts(
  { spec }: ReadonlySpread,
  groups: PodsBySubset,
  replicas: number,
  isEarlier: boolean,
  patches: Map<ReadonlyPod, JsonObject>,
): void {
  const { length } = spec.subsets;
  for (const [place, subset] of spec.subsets.entries()) {
    const index = isEarlier ? length - 1 - place : place;
    const active = (groups.get(subset.name) ?? []).filter(isActive);
    const limit = subset.maxReplicas === undefined ? Infinity : legacyShare(subset.maxReplicas, replicas, "up");
    if (limit === undefined || limit < 0) continue;
    const surplus = new Set(active.toSorted(activePodsOrder).slice(0, Math.max(0, active.length - limit)));
    for (const pod of active)
      setCost(patches, pod, surplus.has(pod) ? -COST_STEP * (index + 1) : COST_STEP * (length - index));
  }
  for (const pod of groups.get(NO_SUBSET) ?? []) if (isActive(pod)) setCost(patches, pod, -COST_STEP * (length + 1));
}

function setCost(patches: Map<ReadonlyPod, JsonObject>, pod: ReadonlyPod, cost: number): void {
  if (pod.metadata.annotations?.[POD_DELETION_COST_ANNOTATION] === String(cost)) return;
  const { metadata = {} } = (patches.get(pod) ?? {}) as { metadata?: JsonObject };
  const annotations = isObject(metadata["annotations"]) ? metadata["annotations"] : {};
  patches.set(pod, {
    metadata: { ...metadata, annotations: { ...annotations, [POD_DELETION_COST_ANNOTATION]: String(cost) } },
  });
}
