/**
 * Advanced DaemonSet: OpenKruise's pod on every node, updated in place, by partition and by node label.
 *
 * Reads: Advanced DaemonSet, its pods and ControllerRevisions, Node.
 * Writes: Pod, ControllerRevision, Advanced DaemonSet status. A reconcile either manages the nodes' pods (`manage.ts`)
 * or updates (`update.ts`), then writes status and history. After: placement puts each pod on the node that it names.
 */
import { AdvancedDaemonSet } from "./daemonset-kind.ts";
import {
  changesPlaces,
  claimPods,
  ControllerRevision,
  createExpectations,
  createFailedPods,
  createPodWriter,
  createRevisionHistory,
  createStatusDelay,
  nextAvailableInMs,
  Node,
  orphanedPods,
  planHistory,
  planRevisions,
  Pod,
  podTemplateData,
  REVISION_LABEL,
  selectorOf,
  STATUS_DELAY_MS,
  templateHash,
} from "@flotilla/kubernetes";
import type { Owner, ReadonlyPod, ReadonlyRevision, RevisionFormat } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, keyOf, owned, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { createWritePod } from "../in-place/write-pod.ts";
import { createDaemonWriter } from "./daemon-writer.ts";
import type { DaemonTarget } from "./daemon-writer.ts";
import { usesShares } from "./limits.ts";
import { changesNothing, planManage } from "./manage.ts";
import { viewDaemonSet } from "./nodes.ts";
import type { ReadonlyDaemonSet } from "./nodes.ts";
import { planDaemonStatus } from "./daemonset-status.ts";
import type { DaemonSetStatus } from "./daemonset-status.ts";
import { hashOf, planRefresh, planUpdate } from "./update.ts";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import type { KruiseDependencies } from "../api/kruise-definition.ts";

const FORMAT: RevisionFormat<AdvancedDaemonSet> = {
  dataOf: ({ spec }) => podTemplateData(spec.template),
  labelsOf: ({ spec }) => spec.template.metadata?.labels,
  annotationsOf: ({ metadata }) => metadata.annotations,
  hashOf: ({ spec }, _data, collisionCount) => templateHash(spec.template, collisionCount),
  hashLabel: REVISION_LABEL,
};

const EMPTY_STATUS: DaemonSetStatus = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
  updatedNumberScheduled: 0,
};

/** The input of one reconcile. */
interface Scene extends DaemonTarget {
  key: ObjectKey;
  pods: readonly ReadonlyPod[];
}

export function createAdvancedDaemonSetController(deps: KruiseDependencies): Controller<ObjectKey> {
  const { client, informers, clock, random, gates = DEFAULT_GATES } = deps;
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const sets = informers.of(AdvancedDaemonSet);
  const podsSeen = createExpectations(pods, clock);
  // Percentages are relative to the counts in the status.
  const statusSeen = createExpectations(sets, clock);
  const history = createRevisionHistory(deps);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const events = deps.events?.("daemonset-controller");
  const podWriter = createPodWriter({ client, expectations: podsSeen, events });
  const writer = createDaemonWriter({ podWriter, writePod: createWritePod({ client, podsSeen }), random, events });
  const failedPods = createFailedPods(clock);

  return defineController({
    name: "advanced-daemonset",
    for: AdvancedDaemonSet,
    watches: [
      owned(Pod),
      owned(ControllerRevision),
      orphanedPods(informers, AdvancedDaemonSet),
      watch(Node, (event) =>
        changesPlaces(event) ? sets.list({ cluster: event.cluster }).map((set) => keyOf(event.cluster, set)) : [],
      ),
    ],
    writes: [Pod, ControllerRevision, AdvancedDaemonSet],

    async reconcile(set, { key, signal }) {
      // The server's garbage collector deletes the pods of a deleted set.
      if (set.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: set.metadata.uid ?? "" };
      const waitMs = Math.max(podsSeen.waitMs(owner), statusSeen.waitMs(owner), history.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const ours = await claimPods({ pods, writer: podWriter }, { cluster: key.cluster, object: set }, signal);
      // Adopted objects trigger the next reconcile.
      if (!ours || (await history.adopt(key.cluster, set, selectorOf(set), signal))) return done;
      const revisions = planRevisions(FORMAT, set, {
        known: history.of(owner),
        collisionCount: set.status?.collisionCount,
      });
      if (revisions.write) {
        const outcome = await history.write(owner, revisions, signal);
        if (outcome === "collision")
          await writeStatus(
            set,
            { ...(set.status ?? EMPTY_STATUS), collisionCount: revisions.collisionCount + 1 },
            owner,
            signal,
          );
        return done;
      }
      const view = viewDaemonSet(
        set,
        nodes.list({ cluster: key.cluster }),
        ours,
        hashOf(revisions.update),
        clock.now(),
      );
      return pass({ view, key, owner, pods: ours, revisions, signal });
    },
    forget(key) {
      statusDelay.settled(idOfKey(key));
      failedPods.forget(idOfKey(key));
    },
  });

  async function pass(scene: Scene): Promise<Result> {
    const { view, key, owner, revisions, signal } = scene;
    const { set } = view;
    const status = planDaemonStatus(view, set.metadata.generation);
    // A percentage of nodes that are not counted yet would be 0.
    if (usesShares(set) && status.desiredNumberScheduled !== set.status?.desiredNumberScheduled) {
      await writeStatus(set, status, owner, signal);
      return done;
    }
    const places = planManage(view, (node) => failedPods.waitMs(idOfKey(key), node));
    for (const event of places.events) events?.record(key.cluster, set, event);
    if (!changesNothing(places)) {
      await writer.manage(scene, places);
      return done; // Changes of the pods trigger the next reconcile.
    }

    const update = planUpdate(view, { revisions: history.of(owner), update: revisions.update, gates });
    const refreshed = planRefresh(scene.pods, update, gates, view.nowMs);
    await writer.refresh(scene, refreshed.steps);
    await writer.updateInPlace(scene, update.inPlace);
    await writer.manage(scene, update);
    const isChanged = refreshed.steps.length + update.inPlace.length > 0 || !changesNothing(update);
    const again = isChanged ? done : await settle(scene, status);
    const waits = [again.requeueAfterMs, places.againInMs, refreshed.delayMs || undefined].filter(
      (wait) => wait !== undefined,
    );
    return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : done;
  }

  async function settle(scene: Scene, status: DaemonSetStatus): Promise<Result> {
    const { view, key, owner, signal } = scene;
    const { set, nowMs } = view;
    const availableInMs = nextAvailableInMs(scene.pods, set.spec.minReadySeconds ?? 0, nowMs);
    const again = availableInMs === undefined ? done : { requeueAfterMs: availableInMs };
    if (equalJson(status, set.status)) {
      statusDelay.settled(idOfKey(key));
      await history.remove(owner, unusedRevisions(scene, history.of(owner)), signal);
      return again;
    }
    const leftMs = statusDelay.waitMs(idOfKey(key));
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await writeStatus(set, status, owner, signal);
    statusDelay.settled(idOfKey(key));
    return again;
  }

  async function writeStatus(
    set: ReadonlyDaemonSet,
    status: DaemonSetStatus,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<void> {
    const written = await unlessChanged(
      client.updateStatus(AdvancedDaemonSet, owner.cluster, { ...set, status }, { signal }),
    );
    if (written) statusSeen.wrote(owner, written);
  }
}

/** Revisions beyond the history limit that no pod has. */
function unusedRevisions(
  { view: { set, hash }, pods, revisions }: Scene,
  known: readonly ReadonlyRevision[],
): ReadonlyRevision[] {
  const hashes = new Set([hash, ...pods.map(({ metadata }) => metadata.labels?.[REVISION_LABEL])]);
  return planHistory(
    known,
    set.spec.revisionHistoryLimit,
    (revision) => revision.metadata.name === revisions.update.metadata.name || hashes.has(hashOf(revision)),
  );
}
