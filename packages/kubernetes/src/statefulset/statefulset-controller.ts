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
import { equalJson, messageOf } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { isAlreadyExists, matchesLabels } from "@flotilla/apimachinery";
import { defineController, done, idOfKey, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import type { ReadonlyClaim } from "../persistentvolumeclaim/claims.ts";
import { STATUS_DELAY_MS } from "../workloads/dependencies.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import { orphansOf, ownedBy } from "../workloads/ownership.ts";
import { createRevisionHistory } from "../controllerrevision/history.ts";
import { planHistory, planRevisions } from "../controllerrevision/revisions.ts";
import type { RevisionFormat, RevisionPlan } from "../controllerrevision/revisions.ts";
import { selectorOf } from "../workloads/selector.ts";
import { createStatusDelay } from "../workloads/status-delay.ts";
import { writeAll } from "../workloads/write-all.ts";
import { orphanedPods } from "../pod/orphaned-pods.ts";
import { nextAvailableInMs } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { createPodWriter } from "../pod/pod-writer.ts";
import type { PodOwner, PodWords } from "../pod/pod-writer.ts";
import { revisionData } from "../controllerrevision/revision-data.ts";
import { ordinalOf, revisionOf } from "./identity.ts";
import type { ReadonlyStatefulSet } from "./identity.ts";
import { planStatefulSet } from "./plan-statefulset.ts";
import type { StatefulPlan } from "./plan-statefulset.ts";
import { planStatefulStatus } from "./statefulset-status.ts";
import type { StatefulSetStatus } from "./statefulset-status.ts";

/** Polled, because no event signals that a blocking claim was deleted. */
const BLOCKED_RETRY_MS = 1_000;

const FORMAT: RevisionFormat<StatefulSet> = {
  dataOf: ({ spec }) => revisionData(spec.template),
  labelsOf: ({ spec }) => spec.template.metadata?.labels,
  annotationsOf: ({ metadata }) => metadata.annotations ?? {},
};

const verbOf = (verb: "create" | "delete"): string => (verb === "create" ? "Create" : "Delete");
const WORDS: PodWords = {
  done: (verb, pod, { object }) => `${verbOf(verb)} Pod ${pod} in StatefulSet ${object.metadata.name} successful`,
  failed: (verb, pod, { object }, why) =>
    `${verbOf(verb)} Pod ${pod} in StatefulSet ${object.metadata.name} failed error: ${why}`,
};

export function createStatefulSetController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const pods = informers.of(Pod);
  const claims = informers.of(PersistentVolumeClaim);
  const podsSeen = createExpectations(pods, clock);
  const claimsSeen = createExpectations(claims, clock);
  // A stale status would name an old current revision, and pods would be created from it.
  const statusSeen = createExpectations(informers.of(StatefulSet), clock);
  const history = createRevisionHistory(deps);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const events = deps.events?.("statefulset-controller");
  const writer = createPodWriter({ client, expectations: podsSeen, events, words: WORDS });

  return defineController({
    name: "statefulset",
    for: StatefulSet,
    watches: [owned(Pod), owned(ControllerRevision), orphanedPods(informers, StatefulSet)],
    writes: [Pod, PersistentVolumeClaim, ControllerRevision, StatefulSet],

    async reconcile(set, { key, signal }) {
      // The server's garbage collector deletes the pods of a deleted set.
      if (set.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: set.metadata.uid ?? "" };
      const waitMs = Math.max(
        podsSeen.waitMs(owner),
        claimsSeen.waitMs(owner),
        statusSeen.waitMs(owner),
        history.waitMs(owner),
      );
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const podOwner: PodOwner = { cluster: key.cluster, object: set };
      const ours = await claimPods(set, podOwner, signal);
      if (!ours) return done; // Adopted objects trigger the next reconcile.
      const revisions = planRevisions(FORMAT, set, {
        known: history.of(owner),
        currentRevision: set.status?.currentRevision,
        collisionCount: set.status?.collisionCount,
      });
      if (revisions.write) {
        const outcome = await history.write(owner, revisions, signal);
        if (outcome === "collision")
          await writeStatus(
            set,
            { ...(set.status ?? { replicas: 0 }), collisionCount: revisions.collisionCount + 1 },
            owner,
            signal,
          );
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
      if (await carryOut(plan, podOwner, owner, signal)) return done;
      const settled = await settle(set, ours, revisions, owner, key, signal);
      return plan.isBlocked
        ? { requeueAfterMs: Math.min(BLOCKED_RETRY_MS, settled.requeueAfterMs ?? BLOCKED_RETRY_MS) }
        : settled;
    },
    forget: (key) => statusDelay.settled(idOfKey(key)),
  });

  /** The pods of the set; undefined if some had to be adopted or released first. */
  async function claimPods(
    set: ReadonlyStatefulSet,
    podOwner: PodOwner,
    signal: AbortSignal,
  ): Promise<ReadonlyPod[] | undefined> {
    const selector = selectorOf(set);
    const isMember = (pod: ReadonlyPod): boolean => ordinalOf(set, pod) !== undefined;
    const orphans = orphansOf(pods, podOwner.cluster, set.metadata.namespace, selector).filter(isMember);
    const all = ownedBy(pods, podOwner.cluster, set.metadata.uid);
    const unknownClusters = all.filter(
      (pod) => !pod.metadata.deletionTimestamp && !(isMember(pod) && matchesLabels(selector, pod.metadata.labels)),
    );
    await writer.adopt(podOwner, orphans, signal);
    await writer.release(podOwner, unknownClusters, signal);
    return orphans.length + unknownClusters.length > 0 ? undefined : all.filter(isMember);
  }

  /** Returns whether anything was written. */
  async function carryOut(plan: StatefulPlan, podOwner: PodOwner, owner: Owner, signal: AbortSignal): Promise<boolean> {
    // A pod without its claims would only wait for them.
    await writeAll("claim creations", plan.createClaims, (claim) => createClaim(claim, podOwner, owner, signal));
    await writeAll("claim updates", plan.mendClaims, async (claim) => {
      const written = await unlessChanged(client.update(PersistentVolumeClaim, owner.cluster, claim, { signal }));
      if (written) claimsSeen.wrote(owner, written);
    });
    await writer.create(podOwner, plan.create, signal);
    await writeAll("pod updates", plan.mend, async (pod) => void (await writer.update(podOwner, pod, signal)));
    await writer.remove(podOwner, plan.remove, signal);
    return (
      plan.createClaims.length + plan.mendClaims.length + plan.create.length + plan.mend.length + plan.remove.length > 0
    );
  }

  async function createClaim(
    { claim, pod }: StatefulPlan["createClaims"][number],
    { cluster, object }: PodOwner,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      claimsSeen.wrote(owner, await client.create(PersistentVolumeClaim, cluster, claim, { signal }));
      events?.record(cluster, object, {
        type: "Normal",
        reason: "SuccessfulCreate",
        message: `Create Claim ${claim.metadata.name} Pod ${pod} in StatefulSet ${object.metadata.name} success`,
      });
    } catch (error) {
      // The existing claim is used.
      if (isAlreadyExists(error)) return;
      events?.record(cluster, object, {
        type: "Warning",
        reason: "FailedCreate",
        message: `Create Claim ${claim.metadata.name} for Pod ${pod} in StatefulSet ${object.metadata.name} failed error: ${messageOf(error)}`,
      });
      throw error;
    }
  }

  async function settle(
    set: ReadonlyStatefulSet,
    ours: readonly ReadonlyPod[],
    revisions: RevisionPlan,
    owner: Owner,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<Result> {
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
    await writeStatus(set, status, owner, signal);
    statusDelay.settled(idOfKey(key));
    return again;
  }

  async function writeStatus(
    set: ReadonlyStatefulSet,
    status: StatefulSetStatus,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<void> {
    const written = await unlessChanged(
      client.updateStatus(StatefulSet, owner.cluster, { ...set, status }, { signal }),
    );
    if (written) statusSeen.wrote(owner, written);
  }
}
