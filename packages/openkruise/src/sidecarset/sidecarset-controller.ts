/**
 * SidecarSet: maintains the history of its injected content, and updates sidecar images in existing pods.
 *
 * Reads: SidecarSet, the pods that were injected with it, its ControllerRevisions, Namespace (if it selects by
 * namespace).
 * Writes: Pod (images and annotations; the condition SidecarSetUpgradable), ControllerRevision in OpenKruise's
 * namespace, SidecarSet status.
 * Before: injection annotates every pod with its sets; only these pods are reconciled.
 */
import {
  ControllerRevision,
  createExpectations,
  createStatusDelay,
  planRevisions,
  Pod,
  STATUS_DELAY_MS,
} from "@flotilla/kubernetes";
import type { ReadonlyPod, ReadonlyRevision, RevisionPlan, WorkloadDependencies } from "@flotilla/kubernetes";
import { SidecarSet } from "./sidecarset-kind.ts";
import type { SidecarSetStatus } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, owned, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { planSidecarPods } from "./plan-sidecarset.ts";
import { podRevision } from "./records.ts";
import { sidecarSetRevisions, surplusRevisions } from "./sidecarset-revisions.ts";
import { createSidecarPodWriter, isRefused } from "./sidecar-pod-writer.ts";
import type { SidecarTarget } from "./sidecar-pod-writer.ts";
import { createSidecarPods, setsOf } from "./sidecar-pods.ts";
import { createSidecarSetHistory } from "./sidecarset-history.ts";
import { planSidecarSetStatus } from "./sidecarset-status.ts";

/**
 * Retry interval for a pod that a budget blocks, as for CloneSets; or for one that another client changed in a field
 * that no set watches.
 */
const HELD_RETRY_MS = 1_000;

const EMPTY_STATUS: SidecarSetStatus = { matchedPods: 0, updatedPods: 0, readyPods: 0 };

/** The input of one reconcile. */
interface View extends SidecarTarget {
  pods: readonly ReadonlyPod[];
}

export function createSidecarSetController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const pods = createSidecarPods(deps);
  const podWriter = createSidecarPodWriter(deps, deps.events?.("sidecarset-controller"));
  const history = createSidecarSetHistory(deps);
  const statusSeen = createExpectations(informers.of(SidecarSet), clock);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);

  return defineController({
    name: "sidecarset",
    for: SidecarSet,
    watches: [owned(ControllerRevision), watch(Pod, setsOf)],
    writes: [Pod, ControllerRevision, SidecarSet],

    async reconcile(set, { key, log, signal }) {
      // Injected sidecars stay in their pods; the server's garbage collector deletes the history.
      if (set.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: set.metadata.uid ?? "" };
      const waitMs = Math.max(podWriter.waitMs(owner), history.waitMs(owner), statusSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      // Changes of a batch of pods can be handled together.
      const left = set.status?.observedGeneration === set.metadata.generation ? statusDelay.leftMs(idOfKey(key)) : 0;
      if (left > 0) return { requeueAfterMs: left };

      const revisions = planRevisions(sidecarSetRevisions, set, {
        known: history.of(owner),
        collisionCount: set.status?.collisionCount,
      });
      const view: View = { set, owner, pods: await pods.of(set, key.cluster, signal), signal };
      if (revisions.write) {
        await writeRevision(view, revisions);
        return done; // The revision or the status triggers the next reconcile.
      }
      await history.nameVersion(set, key.cluster, revisions.update, signal);
      const status = planSidecarSetStatus(set, view.pods, revisions.update.metadata.name, revisions.collisionCount);
      // Pods are annotated with the newest revision, so the status must record it before any pod is changed.
      const isNew =
        set.status?.latestRevision !== status.latestRevision ||
        set.status?.observedGeneration !== status.observedGeneration;
      if (isNew) {
        await writeStatus(view, status);
        return done;
      }
      const plan = planSidecarPods(set, view.pods, clock.now());
      const pass = await podWriter.carryOut(view, plan);
      if (pass.written > 0) log.debug("sidecars updated", { pods: plan.upgrade.length, flipped: plan.flip.length });
      if (pass.missed > 0) return { requeueAfterMs: HELD_RETRY_MS };
      if (pass.written > 0) return done; // Changes of the pods trigger the next reconcile.
      const result = await settle(view, status, key, pass.failure !== undefined);
      if (pass.failure === undefined) return result;
      if (isRefused(pass.failure)) return { requeueAfterMs: HELD_RETRY_MS };
      // Thrown after the status is written, so that the reconcile is retried with backoff.
      throw pass.failure;
    },
    forget(key) {
      statusDelay.settled(idOfKey(key));
      podWriter.forget(key);
    },
  });

  async function settle(view: View, status: SidecarSetStatus, key: ObjectKey, isUrgent: boolean): Promise<Result> {
    const { set, owner, signal } = view;
    if (equalJson(status, set.status)) {
      statusDelay.settled(idOfKey(key));
      await history.remove(owner, surplusRevisions(set, history.of(owner), usedBy(view)), signal);
      return done;
    }
    const leftMs = isUrgent ? 0 : statusDelay.waitMs(idOfKey(key));
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await writeStatus(view, status);
    statusDelay.settled(idOfKey(key));
    return done;
  }

  async function writeRevision(view: View, revisions: RevisionPlan): Promise<void> {
    const { set, owner, signal } = view;
    const outcome = await history.write(owner, revisions, signal);
    // The next attempt uses another hash.
    if (outcome === "collision")
      await writeStatus(view, { ...(set.status ?? EMPTY_STATUS), collisionCount: revisions.collisionCount + 1 });
  }

  async function writeStatus({ set, owner, signal }: View, status: DeepReadonly<SidecarSetStatus>): Promise<void> {
    const written = await unlessChanged(client.updateStatus(SidecarSet, owner.cluster, { ...set, status }, { signal }));
    if (written) statusSeen.wrote(owner, written);
  }
}

function usedBy({ set, pods }: View): (revision: ReadonlyRevision) => boolean {
  const used = new Set(pods.map((pod) => podRevision(pod, set.metadata.name)));
  return ({ metadata }) => used.has(metadata.name);
}
