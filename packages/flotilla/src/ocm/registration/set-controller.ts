/**
 * ManagedClusterSet: maintains the two built-in sets, and reports the number of clusters of every set.
 *
 * Reads: ManagedClusterSet and its members.
 * Writes: the sets `default` and `global`, and their selectors; the status of every set.
 */
import {
  AUTO_UPDATE_ANNOTATION,
  DEFAULT_CLUSTER_SET,
  GLOBAL_CLUSTER_SET,
  ManagedCluster,
  ManagedClusterSet,
} from "@flotilla/ocm";
import type { ManagedClusterSelector } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta2.ts";
import { equalJson, formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { findCondition, isAlreadyExists, withCondition, type NextCondition } from "@flotilla/apimachinery";
import { defineKeyedController, done, idOfKey, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers, Source } from "@flotilla/controller-runtime";
import type { ClusterSets } from "./cluster-sets.ts";

type ClusterSet = DeepReadonly<ManagedClusterSet>;

export interface SetDependencies {
  hub: string;
  informers: Informers;
  client: Client;
  events: EventRecorder;
  clock: Clock;
  sets: ClusterSets;
}

const BUILT_IN: ReadonlyMap<string, ManagedClusterSelector> = new Map([
  [DEFAULT_CLUSTER_SET, { selectorType: "ExclusiveClusterSetLabel" }],
  [GLOBAL_CLUSTER_SET, { selectorType: "LabelSelector", labelSelector: {} }],
]);
/**
 * A starting fleet adds clusters by the hundred; their number is written at most this often. That a set is no longer
 * empty is written at once.
 */
const COUNT_EVERY_MS = 1_000;
const EMPTY = "ClusterSetEmpty";

function emptyCondition(count: number): NextCondition {
  return count === 0
    ? { type: EMPTY, status: "True", reason: "NoClusterMatched", message: "No ManagedCluster selected" }
    : { type: EMPTY, status: "False", reason: "ClustersSelected", message: `${count} ManagedClusters selected` };
}

export function createSetController(deps: SetDependencies): Controller<ObjectKey> {
  const { hub, informers, client, events, clock, sets } = deps;
  const known = informers.of(ManagedClusterSet);
  const countedMs = new Map<string, number>();

  async function create(name: string, clusterSelector: ManagedClusterSelector, signal: AbortSignal): Promise<void> {
    try {
      const set = await client.create(
        ManagedClusterSet,
        hub,
        {
          apiVersion: `${ManagedClusterSet.group}/${ManagedClusterSet.storageVersion}`,
          kind: ManagedClusterSet.kind,
          metadata: { name },
          spec: { clusterSelector },
        },
        { signal },
      );
      events.record(hub, set, {
        type: "Normal",
        reason: `${titleOf(name)}Created`,
        message: `set ${name} is built in and was created`,
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** Users may change everything but the selector, and that too with an annotation. */
  async function restore(
    set: ClusterSet,
    clusterSelector: ManagedClusterSelector,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (
      set.metadata.annotations?.[AUTO_UPDATE_ANNOTATION] === "false" ||
      isSameSelector(set.spec.clusterSelector, clusterSelector)
    )
      return false;
    const written = await unlessChanged(
      client.update(ManagedClusterSet, hub, { ...set, spec: { ...set.spec, clusterSelector } }, { signal }),
    );
    if (written)
      events.record(hub, set, {
        type: "Normal",
        reason: `${titleOf(set.metadata.name)}SpecRollbacked`,
        message: `the selector of set ${set.metadata.name} was restored; set the annotation ${AUTO_UPDATE_ANNOTATION}=false to use another one`,
      });
    return true;
  }

  return defineKeyedController<ObjectKey>({
    name: "ocm-cluster-sets",
    writes: [ManagedClusterSet],
    idOf: idOfKey,
    sources: [
      watch(ManagedClusterSet, ({ object }) => [{ cluster: hub, name: object.metadata.name }]),
      watch(ManagedCluster, (event) => sets.touched(event).map((name) => ({ cluster: hub, name }))),
      { source: atStart([...BUILT_IN.keys()].map((name) => ({ cluster: hub, name }))) },
    ],

    async reconcile(key, { signal }) {
      const set = known.get(key);
      const selector = BUILT_IN.get(key.name);
      if (!set) {
        countedMs.delete(key.name);
        if (selector) await create(key.name, selector, signal);
        return done;
      }
      if (set.metadata.deletionTimestamp || (selector && (await restore(set, selector, signal)))) return done;

      const nowMs = clock.now();
      const before = set.status?.conditions;
      const next = emptyCondition(sets.members(key.name).size);
      const conditions = withCondition(before, next, formatTime(nowMs));
      if (conditions === before) return done;
      const waitMs = (countedMs.get(key.name) ?? -COUNT_EVERY_MS) + COUNT_EVERY_MS - nowMs;
      if (waitMs > 0 && findCondition(before, EMPTY)?.status === next.status) return { requeueAfterMs: waitMs };
      countedMs.set(key.name, nowMs);
      await client.patch(ManagedClusterSet, key, { status: { conditions } } as unknown as Json, {
        type: "merge",
        subresource: "status",
        signal,
      });
      return done;
    },
  });
}

const titleOf = (name: string): string =>
  name === DEFAULT_CLUSTER_SET ? "DefaultManagedClusterSet" : "GlobalManagedClusterSet";

/** A missing selector equals the default selector type; an empty list in a selector means nothing. */
function isSameSelector(
  found: DeepReadonly<ManagedClusterSelector> | undefined,
  wanted: ManagedClusterSelector,
): boolean {
  const { selectorType = "ExclusiveClusterSetLabel", labelSelector } = found ?? {};
  const { matchLabels = {}, matchExpressions = [] } = labelSelector ?? {};
  const said = labelSelector && {
    matchLabels: Object.keys(matchLabels).length > 0 ? matchLabels : undefined,
    matchExpressions: matchExpressions.length > 0 ? matchExpressions : undefined,
  };
  return equalJson({ selectorType, labelSelector: said }, wanted);
}

/** Enqueues the built-in sets at the start, because there is no event for a missing object. */
function atStart(keys: readonly ObjectKey[]): Source<ObjectKey> {
  return {
    start(enqueue) {
      for (const key of keys) enqueue(key);
    },
    isQuiet: () => true,
  };
}
