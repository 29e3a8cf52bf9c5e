/**
 * Advanced StatefulSet: OpenKruise's pods with stable names and claims, updated in place, in any order, several at
 * once.
 *
 * Reads: Advanced StatefulSet, its pods, claims and ControllerRevisions, StorageClass (whether a claim can be
 * expanded).
 * Writes: Pod, PersistentVolumeClaim, ControllerRevision, Advanced StatefulSet status. A reconcile executes one step
 * (`plan-statefulset.ts`), or else writes status and history.
 */
import { AdvancedStatefulSet } from "./statefulset-kind.ts";
import {
  claimPods,
  ControllerRevision,
  createExpectations,
  createRevisionHistory,
  createStatusDelay,
  nextAvailableInMs,
  orphanedPods,
  PersistentVolumeClaim,
  planHistory,
  planRevisions,
  Pod,
  podTemplateData,
  selectorOf,
  STATUS_DELAY_MS,
  StorageClass,
} from "@flotilla/kubernetes";
import type { Owner, ReadonlyPod, RevisionFormat, RevisionPlan } from "@flotilla/kubernetes";
import { equalJson, formatTime } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { formatLabelSelector } from "@flotilla/apimachinery";
import { defineController, done, idOfKey, owned, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { RESIZED_BY_ANNOTATION } from "./claim-size.ts";
import { changesNothing, planStatefulSet } from "./plan-statefulset.ts";
import type { StatefulPlan } from "./plan-statefulset.ts";
import { isMember, minReadySecondsOf, revisionOf } from "./statefulset-pod-state.ts";
import type { ReadonlyStatefulSet } from "./statefulset-pod-state.ts";
import { BLOCKED_RETRY_MS } from "./scale-statefulset.ts";
import { withFailure } from "./statefulset-status.ts";
import type { StatefulSetStatus } from "./statefulset-status.ts";
import { createStatefulWriter, podFailure } from "./writer.ts";
import type { Failure } from "./writer.ts";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import type { KruiseDependencies } from "../api/kruise-definition.ts";

const FORMAT: RevisionFormat<AdvancedStatefulSet> = {
  dataOf: ({ spec }) => podTemplateData(spec.template),
  labelsOf: ({ spec }) => spec.template.metadata?.labels,
  annotationsOf: ({ metadata }) => metadata.annotations,
};

const EMPTY_STATUS: StatefulSetStatus = {
  replicas: 0,
  readyReplicas: 0,
  availableReplicas: 0,
  currentReplicas: 0,
  updatedReplicas: 0,
};

/** The input of one reconcile. */
interface View {
  set: ReadonlyStatefulSet;
  key: ObjectKey;
  owner: Owner;
  pods: readonly ReadonlyPod[];
  revisions: RevisionPlan;
  signal: AbortSignal;
}

export function createAdvancedStatefulSetController(deps: KruiseDependencies): Controller<ObjectKey> {
  const { client, informers, clock, gates = DEFAULT_GATES } = deps;
  const pods = informers.of(Pod);
  const claims = informers.of(PersistentVolumeClaim);
  const classes = informers.of(StorageClass);
  const podsSeen = createExpectations(pods, clock);
  const claimsSeen = createExpectations(claims, clock);
  // A stale status would name an old current revision, and pods would be created from it.
  const statusSeen = createExpectations(informers.of(AdvancedStatefulSet), clock);
  const history = createRevisionHistory(deps);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const events = deps.events?.("statefulset-controller");
  const writer = createStatefulWriter({ client, podsSeen, claimsSeen, events });

  return defineController({
    name: "advanced-statefulset",
    for: AdvancedStatefulSet,
    watches: [
      owned(Pod),
      owned(ControllerRevision),
      orphanedPods(informers, AdvancedStatefulSet),
      // Claims have no owner, or are owned by their pod; an expanded claim is annotated with its set.
      watch(PersistentVolumeClaim, ({ cluster, object: { metadata } }) => {
        const name = metadata.annotations?.[RESIZED_BY_ANNOTATION];
        return name === undefined ? [] : [{ cluster, name, namespace: metadata.namespace || undefined }];
      }),
    ],
    writes: [Pod, PersistentVolumeClaim, ControllerRevision, AdvancedStatefulSet],

    async reconcile(set, { key, log, signal }) {
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

      const ours = await claimPods(
        { pods, writer: writer.pods, isMember: (pod) => isMember(set, pod) },
        { cluster: key.cluster, object: set },
        signal,
      );
      // Adopted objects trigger the next reconcile.
      if (!ours || (await history.adopt(key.cluster, set, selectorOf(set), signal))) return done;
      const known = history.of(owner);
      const revisions = planRevisions(FORMAT, set, {
        known,
        currentRevision: set.status?.currentRevision,
        collisionCount: set.status?.collisionCount,
      });
      const view: View = { set, key, owner, pods: ours, revisions, signal };
      if (revisions.write) {
        const outcome = await history.write(owner, revisions, signal);
        if (outcome === "collision")
          await writeStatus(view, { ...(set.status ?? EMPTY_STATUS), collisionCount: revisions.collisionCount + 1 });
        return done;
      }

      const plan = withoutUselessGates(planPass(view));
      for (const event of plan.events) events?.record(key.cluster, set, event);
      // Recreated pods and the next rollout start from the revisions in the status.
      if (
        plan.status.updateRevision !== set.status?.updateRevision ||
        plan.status.currentRevision !== set.status?.currentRevision
      ) {
        await writeStatus(view, plan.status);
        return done;
      }
      const failure = await writer.carryOut(
        { set, owner, updateRevision: revisions.update.metadata.name, signal },
        plan,
      );
      if (!changesNothing(plan) && !failure) {
        log.debug("pods changed", { revision: revisions.update.metadata.name });
        // Changes of the pods trigger the next reconcile.
        return plan.delayMs > 0 ? { requeueAfterMs: plan.delayMs } : done;
      }
      if (plan.ending?.because === "failure") log.debug("set blocked", { why: plan.ending.message });
      return settle(view, plan, failure);
    },
    forget: (key) => statusDelay.settled(idOfKey(key)),
  });

  function planPass(view: View): StatefulPlan {
    const { set, key, owner, pods: ours, revisions } = view;
    const { cluster, namespace } = key;
    return planStatefulSet(
      {
        set,
        pods: ours,
        current: revisions.current,
        update: revisions.update,
        revisions: history.of(owner),
        claimNamed: (name) => claims.get({ cluster, name, namespace: namespace || undefined }),
        classNamed: (name) => classes.get({ cluster, name }),
        gates,
        nowMs: clock.now(),
      },
      { collisionCount: revisions.collisionCount, labelSelector: formatLabelSelector(selectorOf(set)) },
    );
  }

  /** Writes the status, then truncates the history. */
  async function settle(view: View, plan: StatefulPlan, failure: Failure | undefined): Promise<Result> {
    const { set, key, pods: ours } = view;
    const status = withConditions(set, plan, failure, formatTime(clock.now()));
    if (equalJson(status, set.status)) {
      statusDelay.settled(idOfKey(key));
      await pruneHistory(view);
    } else {
      const leftMs = failure ? 0 : statusDelay.waitMs(idOfKey(key));
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      await writeStatus(view, status);
      statusDelay.settled(idOfKey(key));
    }
    // Thrown after the status is written, so that the reconcile is retried with backoff.
    if (failure) throw failure.cause;
    const isBlocked = plan.ending?.because === "failure" && plan.ending.isBlocked;
    const waits = [
      nextAvailableInMs(ours, minReadySecondsOf(set), clock.now()),
      plan.delayMs || undefined,
      isBlocked ? BLOCKED_RETRY_MS : undefined,
    ].filter((wait) => wait !== undefined);
    return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : done;
  }

  async function writeStatus({ set, owner, signal }: View, status: StatefulSetStatus): Promise<void> {
    const written = await unlessChanged(
      client.updateStatus(AdvancedStatefulSet, owner.cluster, { ...set, status }, { signal }),
    );
    if (written) statusSeen.wrote(owner, written);
  }

  async function pruneHistory(view: View): Promise<void> {
    const { set, owner, pods: ours, revisions, signal } = view;
    const used = new Set([revisions.current.metadata.name, revisions.update.metadata.name, ...ours.map(revisionOf)]);
    const unused = planHistory(history.of(owner), set.spec.revisionHistoryLimit, ({ metadata }) =>
      used.has(metadata.name),
    );
    if (unused.length > 0) await history.remove(owner, unused, signal);
  }
}

/** The status with the condition of a failure. */
function withConditions(
  set: ReadonlyStatefulSet,
  { status, ending }: StatefulPlan,
  failure: Failure | undefined,
  now: string,
): StatefulSetStatus {
  if (failure?.condition)
    return withFailure(status, set.status, failure.condition.type, failure.condition.message, now);
  if (ending?.because === "failure" && ending.isCreation)
    return withFailure(status, set.status, "FailedCreatePod", podFailure("create", ending.message), now);
  return status;
}

/**
 * A pod without a node does not need the readiness gate yet, and placement is about to write it: two writes at once
 * would conflict.
 */
function withoutUselessGates(plan: StatefulPlan): StatefulPlan {
  const isUseful = ({ pod, after, isMended }: StatefulPlan["change"][number]): boolean =>
    Boolean(pod.spec.nodeName) || isMended || after.metadata !== pod.metadata || after.spec !== pod.spec;
  return plan.change.every(isUseful) ? plan : { ...plan, change: plan.change.filter(isUseful) };
}
