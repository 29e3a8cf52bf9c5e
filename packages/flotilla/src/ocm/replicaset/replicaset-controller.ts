/**
 * ManifestWorkReplicaSet: maintains one ManifestWork in the namespace of every cluster that its Placements chose, at
 * the pace of their rollout strategies.
 *
 * Reads: ManifestWorkReplicaSet, Placement, PlacementDecision, ManifestWork, ManagedCluster.
 * Writes: the ManifestWorks of the set; the set's status.
 * Before: placement decides. After: work applies what it wrote.
 */
import {
  ManagedCluster,
  ManifestWork,
  ManifestWorkReplicaSet,
  OcmPlacement,
  PLACEMENT_LABEL,
  PlacementDecision,
  REPLICA_SET_FINALIZER,
  REPLICA_SET_LABEL,
} from "@flotilla/ocm";
import { findCondition } from "@flotilla/apimachinery";
import { equalJson, formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import {
  defineController,
  done,
  isRejectedWrite,
  keyOf,
  rejectionOf,
  unlessChanged,
  watch,
} from "@flotilla/controller-runtime";
import type { Controller, Informers, ObjectEvent } from "@flotilla/controller-runtime";
import { ownerValue } from "./child-works.ts";
import { decidedBy, type Verdict } from "./decided.ts";
import type { DecisionRecorder } from "../../decisions/decision-recorder.ts";
import { whyUnavailable } from "../why-unavailable.ts";
import { planReplicaSet, referencesOf } from "./plan-replica-set.ts";
import type { ReplicaSetPlan } from "./plan-replica-set.ts";

type Work = DeepReadonly<ManifestWork>;

export interface ReplicaSetDependencies {
  hub: string;
  informers: Informers;
  client: Client;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

const BY_OWNER = "replicaSet";
const BY_PLACEMENT = "decidedBy";
const BY_REFERENCE = "placementRef";
/** A set that waits for its works to be deleted receives an event for each; this is a fallback for missing events. */
const RECHECK_MS = 60_000;
/** How soon a work that the hub's admission rejects is tried again. */
const REJECTED_RETRY_MS = 10_000;

export function createReplicaSetController(deps: ReplicaSetDependencies): Controller<ObjectKey> {
  const { hub, informers, client, recorder, clock } = deps;
  const sets = informers.of(ManifestWorkReplicaSet);
  const works = informers.of(ManifestWork);
  const placements = informers.of(OcmPlacement);
  const decisions = informers.of(PlacementDecision);
  const clusters = informers.of(ManagedCluster);
  works.addIndex(BY_OWNER, ({ metadata }) =>
    metadata.labels?.[REPLICA_SET_LABEL] ? [metadata.labels[REPLICA_SET_LABEL]] : [],
  );
  decisions.addIndex(BY_PLACEMENT, ({ metadata }) =>
    metadata.labels?.[PLACEMENT_LABEL] ? [`${metadata.namespace}/${metadata.labels[PLACEMENT_LABEL]}`] : [],
  );
  sets.addIndex(BY_OWNER, (set) => [ownerValue(set)]);
  sets.addIndex(BY_REFERENCE, (set) => referencesOf(set).map(({ name }) => `${set.metadata.namespace}/${name}`));

  const keysOf = (found: readonly DeepReadonly<ManifestWorkReplicaSet>[]): ObjectKey[] =>
    found.map((set) => keyOf(hub, set));
  const referring = (namespace: string | undefined, placement: string | undefined): ObjectKey[] =>
    keysOf(sets.by(BY_REFERENCE, `${namespace}/${placement}`));
  const ownersOf = ({ object, old }: ObjectEvent<ManifestWork>): ObjectKey[] =>
    [object, old].flatMap((work) => keysOf(sets.by(BY_OWNER, work?.metadata.labels?.[REPLICA_SET_LABEL] ?? "")));

  const decidedOf = (namespace: string, name: string): Verdict =>
    decidedBy(placements.get({ cluster: hub, namespace, name }), decisions.by(BY_PLACEMENT, `${namespace}/${name}`));
  const isOwn = (work: Work, owner: string): boolean => work.metadata.labels?.[REPLICA_SET_LABEL] === owner;

  async function write(wanted: ManifestWork, owner: string, signal: AbortSignal): Promise<void> {
    const before = works.get(keyOf(hub, wanted));
    // Another owner's work of this name is left alone: the API server reports that it exists, and the next reconcile
    // uses another name.
    if (!before || !isOwn(before, owner)) await client.create(ManifestWork, hub, wanted, { signal });
    else
      await client.update(
        ManifestWork,
        hub,
        {
          ...before,
          metadata: { ...before.metadata, labels: { ...before.metadata.labels, ...wanted.metadata.labels } },
          spec: wanted.spec,
        },
        { signal },
      );
  }

  async function remove({ metadata }: Work, signal: AbortSignal): Promise<void> {
    await unlessChanged(
      client.delete(
        ManifestWork,
        { cluster: hub, namespace: metadata.namespace ?? "", name: metadata.name },
        { preconditions: metadata.uid ? { uid: metadata.uid } : undefined, signal },
      ),
    );
  }

  /** Attempts every step. Returns why the hub rejects the works of clusters; other errors may be transient. */
  async function carryOut(
    { writes, deletes }: ReplicaSetPlan,
    owner: string,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const rejected = new Map<string, string>();
    const attempt = async ({ metadata }: Work, step: Promise<void>): Promise<void> => {
      try {
        await step;
      } catch (error) {
        if (!isRejectedWrite(error)) throw error;
        rejected.set(metadata.namespace ?? "", rejectionOf(error));
      }
    };
    for (const work of deletes) await attempt(work, remove(work, signal));
    for (const work of writes) await attempt(work, write(work, owner, signal));
    return rejected;
  }

  function recordStep(set: DeepReadonly<ManifestWorkReplicaSet>, { writes, deletes, status }: ReplicaSetPlan): void {
    const namesOf = (some: readonly Work[]): string[] => some.map(({ metadata }) => metadata.namespace ?? "");
    const rolledOut = findCondition(status.conditions, "PlacementRolledOut");
    recorder?.record({
      type: "RolloutStep",
      controller: "ocm-replicaset",
      object: set,
      clusters: [...namesOf(writes), ...namesOf(deletes)],
      cause: {
        reason: rolledOut?.reason ?? "RolloutStrategy",
        message: rolledOut?.message ?? `generation ${set.metadata.generation ?? 0} by its rollout strategy`,
      },
      before: { updated: set.status?.summary?.updated ?? 0, total: set.status?.summary?.desiredTotal ?? 0 },
      after: { writes: namesOf(writes), deletes: namesOf(deletes) },
    });
  }

  return defineController({
    name: "ocm-replicaset",
    for: ManifestWorkReplicaSet,
    watches: [
      watch(ManifestWork, ownersOf),
      watch(OcmPlacement, ({ object }) => referring(object.metadata.namespace, object.metadata.name)),
      watch(PlacementDecision, ({ object }) =>
        referring(object.metadata.namespace, object.metadata.labels?.[PLACEMENT_LABEL]),
      ),
      // Its reports are stale, or current again.
      watch(ManagedCluster, ({ object, old }) =>
        old && whyUnavailable(old) !== whyUnavailable(object)
          ? works
              .list({ cluster: hub, namespace: object.metadata.name })
              .flatMap(({ metadata }) => keysOf(sets.by(BY_OWNER, metadata.labels?.[REPLICA_SET_LABEL] ?? "")))
          : [],
      ),
    ],
    writes: [ManifestWork, ManifestWorkReplicaSet],
    finalizer: REPLICA_SET_FINALIZER,

    async reconcile(set, { key, signal }) {
      const { namespace = "" } = set.metadata;
      const owner = ownerValue(set);
      const nowMs = clock.now();
      const input = {
        decidedOf: (name: string) => decidedOf(namespace, name),
        isTaken(cluster: string, name: string) {
          const work = works.get({ cluster: hub, namespace: cluster, name });
          return work !== undefined && !isOwn(work, owner);
        },
        whyAway: (name: string) => whyUnavailable(clusters.get({ cluster: hub, name })),
        works: works.by(BY_OWNER, owner),
        nowMs,
        now: formatTime(nowMs),
      };
      const plan = planReplicaSet(set, input);
      const unwritten = await carryOut(plan, owner, signal);
      if (plan.writes.length + plan.deletes.length > unwritten.size) recordStep(set, plan);
      const { status } = unwritten.size > 0 ? planReplicaSet(set, { ...input, unwritten }) : plan;
      if (!equalJson(set.status, status))
        await client.patch(ManifestWorkReplicaSet, key, { status } as unknown as Json, {
          type: "merge",
          subresource: "status",
          signal,
        });
      // Nothing of the set changes when the hub's admission does.
      if (unwritten.size > 0) return { requeueAfterMs: Math.min(REJECTED_RETRY_MS, plan.recheckAfterMs ?? Infinity) };
      return plan.recheckAfterMs === undefined ? done : { requeueAfterMs: plan.recheckAfterMs };
    },

    async finalize(set, { signal }) {
      const own = works.by(BY_OWNER, ownerValue(set));
      for (const work of own) if (work.metadata.deletionTimestamp === undefined) await remove(work, signal);
      return own.length > 0 && set.spec.cascadeDeletionPolicy === "Foreground" ? { requeueAfterMs: RECHECK_MS } : done;
    },
  });
}
