/**
 * DaemonSet: a pod on every node that should have one.
 *
 * Reads: DaemonSet, its pods and ControllerRevisions, Node.
 * Writes: Pod, ControllerRevision, DaemonSet status. A reconcile either manages the nodes' pods or updates, then writes
 * status and history.
 * After: placement puts each pod on the node that it names.
 */
import { ControllerRevision } from "../controllerrevision/controllerrevision-kind.ts";
import { DaemonSet } from "./daemonset-kind.ts";
import { Node } from "../node/node-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, keyOf, owned, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { STATUS_DELAY_MS } from "../workloads/dependencies.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import { createRevisionHistory } from "../controllerrevision/revision-history.ts";
import { REVISION_LABEL, planHistory, planRevisions } from "../controllerrevision/revisions.ts";
import type { RevisionPlan } from "../controllerrevision/revisions.ts";
import { createStatusDelay } from "../workloads/status-delay.ts";
import { claimPods } from "../pod/claim-pods.ts";
import { orphanedPods } from "../pod/orphaned-pods.ts";
import { nextAvailableInMs } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { createPodWriter } from "../pod/pod-writer.ts";
import { createFailedPods } from "./failed-pods.ts";
import { daemonPod } from "./daemon-pod.ts";
import type { ReadonlyDaemonSet } from "./daemon-pod.ts";
import { changesPlaces, viewDaemonSet } from "./node-fitness.ts";
import type { DaemonView } from "./node-fitness.ts";
import { planPlaces, planUpdate } from "./plan-daemonset.ts";
import type { DaemonPlan } from "./plan-daemonset.ts";
import { daemonSetRevisions } from "./daemonset-revisions.ts";
import { planDaemonStatus } from "./daemonset-status.ts";
import type { DaemonSetStatus } from "./daemonset-status.ts";

/** The input of one reconcile. */
interface Scene {
  view: DaemonView;
  /** Of the current template. */
  hash: string;
  key: ObjectKey;
  owner: Owner;
  pods: readonly ReadonlyPod[];
  revisions: RevisionPlan;
  signal: AbortSignal;
}

export function createDaemonSetController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock, random } = deps;
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const sets = informers.of(DaemonSet);
  const podsSeen = createExpectations(pods, clock);
  const history = createRevisionHistory(deps);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const events = deps.events?.("daemonset-controller");
  const writer = createPodWriter({ client, expectations: podsSeen, events });
  const failedPods = createFailedPods(clock);

  return defineController({
    name: "daemonset",
    for: DaemonSet,
    watches: [
      owned(Pod),
      owned(ControllerRevision),
      orphanedPods(informers, DaemonSet),
      watch(Node, (event) =>
        changesPlaces(event) ? sets.list({ cluster: event.cluster }).map((set) => keyOf(event.cluster, set)) : [],
      ),
    ],
    writes: [Pod, ControllerRevision, DaemonSet],

    async reconcile(set, { key, signal }) {
      // The server's garbage collector deletes the pods of a deleted set.
      if (set.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: set.metadata.uid ?? "" };
      const waitMs = Math.max(podsSeen.waitMs(owner), history.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const ours = await claimPods({ pods, writer }, { cluster: key.cluster, object: set }, signal);
      if (!ours) return done; // Adopted objects trigger the next reconcile.
      const revisions = planRevisions(daemonSetRevisions, set, {
        known: history.of(owner),
        collisionCount: set.status?.collisionCount,
      });
      if (revisions.write) {
        const outcome = await history.write(owner, revisions, signal);
        if (outcome === "collision")
          await writeStatus(
            set,
            { ...(set.status ?? EMPTY_STATUS), collisionCount: revisions.collisionCount + 1 },
            key.cluster,
            signal,
          );
        return done;
      }
      const hash = revisions.update.metadata.labels?.[REVISION_LABEL] ?? "";
      const view = viewDaemonSet(set, nodes.list({ cluster: key.cluster }), ours, clock.now());
      const scene: Scene = { view, hash, key, owner, pods: ours, revisions, signal };
      const places = planPlaces(view, hash, (node) => failedPods.waitMs(idOfKey(key), node));
      for (const event of places.events) events?.record(key.cluster, set, event);
      if (await carryOut(scene, places)) return done;
      if (await carryOut(scene, planUpdate(view, hash))) return done;
      const settled = await settle(scene);
      const waits = [settled.requeueAfterMs, places.againInMs].filter((wait) => wait !== undefined);
      return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : done;
    },
    forget(key) {
      statusDelay.settled(idOfKey(key));
      failedPods.forget(idOfKey(key));
    },
  });

  /** Returns whether anything was written. */
  async function carryOut({ view, hash, owner, signal }: Scene, { create, remove }: DaemonPlan): Promise<boolean> {
    const podOwner = { cluster: owner.cluster, object: view.set };
    await writer.create(
      podOwner,
      create.map((node) => daemonPod(view.set, node, hash, random)),
      signal,
    );
    await writer.remove(podOwner, remove, signal);
    return create.length + remove.length > 0;
  }

  async function settle(scene: Scene): Promise<Result> {
    const { view, hash, key, owner, pods: ours, revisions, signal } = scene;
    const { set, nowMs } = view;
    const status = planDaemonStatus(view, hash);
    const availableInMs = nextAvailableInMs(ours, set.spec.minReadySeconds ?? 0, nowMs);
    const again = availableInMs === undefined ? done : { requeueAfterMs: availableInMs };
    if (equalJson(status, set.status)) {
      statusDelay.settled(idOfKey(key));
      const hashes = new Set([hash, ...ours.map(({ metadata }) => metadata.labels?.[REVISION_LABEL])]);
      const { name } = revisions.update.metadata;
      const unused = planHistory(
        history.of(owner),
        set.spec.revisionHistoryLimit,
        ({ metadata }) => metadata.name === name || hashes.has(metadata.labels?.[REVISION_LABEL]),
      );
      await history.remove(owner, unused, signal);
      return again;
    }
    const leftMs = statusDelay.waitMs(idOfKey(key));
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await writeStatus(set, status, key.cluster, signal);
    statusDelay.settled(idOfKey(key));
    return again;
  }

  async function writeStatus(
    set: ReadonlyDaemonSet,
    status: DaemonSetStatus,
    cluster: string,
    signal: AbortSignal,
  ): Promise<void> {
    await unlessChanged(client.updateStatus(DaemonSet, cluster, { ...set, status }, { signal }));
  }
}

const EMPTY_STATUS: DaemonSetStatus = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};
