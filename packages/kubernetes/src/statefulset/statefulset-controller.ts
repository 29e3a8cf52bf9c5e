/**
 * StatefulSet: pods with stable names, an order and their own claims.
 *
 * Reads: StatefulSet, its pods, claims and ControllerRevisions.
 * Writes: Pod, PersistentVolumeClaim, ControllerRevision, StatefulSet status. A reconcile executes one step
 * (`plan-statefulset.ts`), or else writes status and history.
 */
import { ControllerRevision } from "../controllerrevision/controllerrevision-kind.ts";
import { PersistentVolumeClaim } from "../persistentvolumeclaim/persistentvolumeclaim-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { StatefulSet } from "./statefulset-kind.ts";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import type { ReadonlyClaim } from "../persistentvolumeclaim/template-claims.ts";
import { STATUS_DELAY_MS } from "../workloads/dependencies.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import { createRevisionHistory } from "../controllerrevision/revision-history.ts";
import { planHistory, planRevisions } from "../controllerrevision/revisions.ts";
import type { RevisionPlan } from "../controllerrevision/revisions.ts";
import { createStatusDelay } from "../workloads/status-delay.ts";
import { claimPods } from "../pod/claim-pods.ts";
import { orphanedPods } from "../pod/orphaned-pods.ts";
import { nextAvailableInMs } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { ordinalOf, revisionOf } from "./identity.ts";
import type { ReadonlyStatefulSet } from "./identity.ts";
import { planStatefulSet } from "./plan-statefulset.ts";
import { createStatefulWriter } from "./stateful-writer.ts";
import { statefulSetRevisions } from "./statefulset-revisions.ts";
import { planStatefulStatus } from "./statefulset-status.ts";
import type { StatefulSetStatus } from "./statefulset-status.ts";

/** Polled, because no event signals that a blocking claim was deleted. */
const BLOCKED_RETRY_MS = 1_000;

/** The input of one reconcile. */
interface View {
  set: ReadonlyStatefulSet;
  key: ObjectKey;
  owner: Owner;
  pods: readonly ReadonlyPod[];
  revisions: RevisionPlan;
  signal: AbortSignal;
}

export function createStatefulSetController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const pods = informers.of(Pod);
  const claims = informers.of(PersistentVolumeClaim);
  // A stale status would name an old current revision, and pods would be created from it.
  const statusSeen = createExpectations(informers.of(StatefulSet), clock);
  const history = createRevisionHistory(deps);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const writer = createStatefulWriter(deps);

  return defineController({
    name: "statefulset",
    for: StatefulSet,
    watches: [owned(Pod), owned(ControllerRevision), orphanedPods(informers, StatefulSet)],
    writes: [Pod, PersistentVolumeClaim, ControllerRevision, StatefulSet],

    async reconcile(set, { key, signal }) {
      // The server's garbage collector deletes the pods of a deleted set.
      if (set.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: set.metadata.uid ?? "" };
      const waitMs = Math.max(writer.waitMs(owner), statusSeen.waitMs(owner), history.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const ours = await claimPods(
        { pods, writer: writer.pods, isMember: (pod) => ordinalOf(set, pod) !== undefined },
        { cluster: key.cluster, object: set },
        signal,
      );
      if (!ours) return done; // Adopted objects trigger the next reconcile.
      const revisions = planRevisions(statefulSetRevisions, set, {
        known: history.of(owner),
        currentRevision: set.status?.currentRevision,
        collisionCount: set.status?.collisionCount,
      });
      const view: View = { set, key, owner, pods: ours, revisions, signal };
      if (revisions.write) {
        const outcome = await history.write(owner, revisions, signal);
        if (outcome === "collision")
          await writeStatus(view, {
            ...(set.status ?? { replicas: 0 }),
            collisionCount: revisions.collisionCount + 1,
          });
        return done;
      }
      const nowMs = clock.now();
      const claimNamed = (name: string): ReadonlyClaim | undefined =>
        claims.get({ cluster: key.cluster, name, namespace: key.namespace || undefined });
      const plan = planStatefulSet({
        set,
        pods: ours,
        current: revisions.current,
        update: revisions.update,
        claimNamed,
        nowMs,
      });
      if (await writer.carryOut(view, plan)) return done;
      const settled = await settle(view);
      return plan.isBlocked
        ? { requeueAfterMs: Math.min(BLOCKED_RETRY_MS, settled.requeueAfterMs ?? BLOCKED_RETRY_MS) }
        : settled;
    },
    forget: (key) => statusDelay.settled(idOfKey(key)),
  });

  async function settle(view: View): Promise<Result> {
    const { set, key, owner, pods: ours, revisions, signal } = view;
    const nowMs = clock.now();
    const status = planStatefulStatus(set, ours, revisions, nowMs);
    const availableInMs = nextAvailableInMs(ours, set.spec.minReadySeconds ?? 0, nowMs);
    const again = availableInMs === undefined ? done : { requeueAfterMs: availableInMs };
    if (equalJson(status, set.status)) {
      statusDelay.settled(idOfKey(key));
      const used = new Set([revisions.current.metadata.name, revisions.update.metadata.name, ...ours.map(revisionOf)]);
      await history.remove(
        owner,
        planHistory(history.of(owner), set.spec.revisionHistoryLimit, ({ metadata }) => used.has(metadata.name)),
        signal,
      );
      return again;
    }
    // The next rollout starts from the current revision, so a new one is written at once.
    const isUrgent =
      status.currentRevision !== set.status?.currentRevision || status.updateRevision !== set.status?.updateRevision;
    const leftMs = isUrgent ? 0 : statusDelay.waitMs(idOfKey(key));
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await writeStatus(view, status);
    statusDelay.settled(idOfKey(key));
    return again;
  }

  async function writeStatus({ set, owner, signal }: View, status: StatefulSetStatus): Promise<void> {
    const written = await unlessChanged(
      client.updateStatus(StatefulSet, owner.cluster, { ...set, status }, { signal }),
    );
    if (written) statusSeen.wrote(owner, written);
  }
}
