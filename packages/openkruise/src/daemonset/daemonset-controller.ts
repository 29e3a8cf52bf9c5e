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
  ControllerRevision,
  createExpectations,
  createFailedPods,
  createPodWriter,
  createRevisionHistory,
  createStatusDelay,
  nextAvailableInMs,
  Node,
  orphanedPods,
  orphansOf,
  ownedBy,
  planHistory,
  planRevisions,
  Pod,
  podTemplateData,
  REVISION_LABEL,
  selectorOf,
  STATUS_DELAY_MS,
  templateHash,
  writeAll,
} from "@flotilla/kubernetes";
import type { Owner, ReadonlyPod, RevisionFormat, RevisionPlan } from "@flotilla/kubernetes";
import { equalJson, messageOf } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { matchesLabels } from "@flotilla/apimachinery";
import { defineController, done, idOfKey, keyOf, owned, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { createWritePod } from "../in-place/write-pod.ts";
import type { PodStep } from "../in-place/write-pod.ts";
import { usesShares } from "./limits.ts";
import { changesNothing, planManage } from "./manage.ts";
import type { DaemonPlan } from "./manage.ts";
import { makePod } from "./new-pod.ts";
import { viewDaemonSet } from "./nodes.ts";
import type { DaemonView, ReadonlyDaemonSet } from "./nodes.ts";
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
interface Scene {
  view: DaemonView;
  key: ObjectKey;
  owner: Owner;
  pods: readonly ReadonlyPod[];
  revisions: RevisionPlan;
  signal: AbortSignal;
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
  const writer = createPodWriter({ client, expectations: podsSeen, events });
  const writePod = createWritePod({ client, podsSeen });
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

      const ours = await claimPods(set, key.cluster, signal);
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

  /** The pods of the set; undefined if some had to be adopted or released first. */
  async function claimPods(
    set: ReadonlyDaemonSet,
    cluster: string,
    signal: AbortSignal,
  ): Promise<ReadonlyPod[] | undefined> {
    const selector = selectorOf(set);
    const podOwner = { cluster, object: set };
    const orphans = orphansOf(pods, cluster, set.metadata.namespace, selector);
    const all = ownedBy(pods, cluster, set.metadata.uid);
    const unknownClusters = all.filter(
      (pod) => !pod.metadata.deletionTimestamp && !matchesLabels(selector, pod.metadata.labels),
    );
    await writer.adopt(podOwner, orphans, signal);
    await writer.release(podOwner, unknownClusters, signal);
    return orphans.length + unknownClusters.length > 0 ? undefined : all;
  }

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
      await carryOut(scene, places);
      return done; // Changes of the pods trigger the next reconcile.
    }

    const update = planUpdate(view, { revisions: history.of(owner), update: revisions.update, gates });
    const refreshed = planRefresh(scene.pods, update, gates, view.nowMs);
    await writeAll("pod refreshes", refreshed.steps, (step) => writePod(owner, step, signal).then(() => undefined));
    await writeAll("in-place updates", update.inPlace, (step) => updateInPlace(scene, step));
    await carryOut(scene, update);
    const isChanged = refreshed.steps.length + update.inPlace.length > 0 || !changesNothing(update);
    const again = isChanged ? done : await settle(scene, status);
    const waits = [again.requeueAfterMs, places.againInMs, refreshed.delayMs || undefined].filter(
      (wait) => wait !== undefined,
    );
    return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : done;
  }

  async function carryOut(
    { view: { set, hash }, owner, signal }: Scene,
    { create, remove, prepare }: DaemonPlan,
  ): Promise<void> {
    const podOwner = { cluster: owner.cluster, object: set };
    await writeAll("lifecycle changes", prepare, async (step) => void (await writePod(owner, step, signal)));
    await writer.create(
      podOwner,
      create.map((node) => makePod(set, node, hash, random)),
      signal,
    );
    await writer.remove(podOwner, remove, signal);
  }

  async function updateInPlace({ view: { set }, owner, revisions, signal }: Scene, step: PodStep): Promise<void> {
    const { name } = step.pod.metadata;
    try {
      if (!(await writePod(owner, step, signal))) return;
      events?.record(owner.cluster, set, {
        type: "Normal",
        reason: "SuccessfulUpdatePodInPlace",
        message: `successfully update pod ${name} in-place`,
      });
    } catch (error) {
      events?.record(owner.cluster, set, {
        type: "Warning",
        reason: "FailedUpdatePodInPlace",
        message: `failed to update pod ${name} in-place(revision ${revisions.update.metadata.name}): ${messageOf(error)}`,
      });
      throw error;
    }
  }

  async function settle(
    { view: { set, hash, nowMs }, key, owner, pods: ours, revisions, signal }: Scene,
    status: DaemonSetStatus,
  ): Promise<Result> {
    const availableInMs = nextAvailableInMs(ours, set.spec.minReadySeconds ?? 0, nowMs);
    const again = availableInMs === undefined ? done : { requeueAfterMs: availableInMs };
    if (equalJson(status, set.status)) {
      statusDelay.settled(idOfKey(key));
      const hashes = new Set([hash, ...ours.map(({ metadata }) => metadata.labels?.[REVISION_LABEL])]);
      const unused = planHistory(
        history.of(owner),
        set.spec.revisionHistoryLimit,
        (revision) => revision.metadata.name === revisions.update.metadata.name || hashes.has(hashOf(revision)),
      );
      await history.remove(owner, unused, signal);
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
