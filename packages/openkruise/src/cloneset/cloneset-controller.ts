/**
 * CloneSet: OpenKruise's workload for stateless applications, with in-place updates, a partition and specified
 * deletions.
 *
 * Reads: CloneSet, its pods, volume claims and ControllerRevisions, Node (topology of victims).
 * Writes: Pod, PersistentVolumeClaim, ControllerRevision, CloneSet (status; finished `podsToDelete` are removed, as
 * upstream does). A reconcile either scales or updates, then writes the status; the planners beside this file make all
 * decisions.
 */
import { CloneSet } from "./cloneset-kind.ts";
import {
  ControllerRevision,
  createExpectations,
  createPace,
  createRevisionHistory,
  createStatusDelay,
  isActive,
  nextAvailableInMs,
  Node,
  ownedBy,
  PersistentVolumeClaim,
  planHistory,
  planRevisions,
  Pod,
  REVISION_LABEL,
  selectorOf,
  shortHash,
  STATUS_DELAY_MS,
  WriteAllError,
} from "@flotilla/kubernetes";
import type { Owner, ReadonlyRevision } from "@flotilla/kubernetes";
import { equalJson, messageOf } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { formatLabelSelector, matchesLabels } from "@flotilla/apimachinery";
import { defineController, done, idOfKey, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import type { KruiseDependencies } from "../api/kruise-definition.ts";
import { planClaims } from "./claims.ts";
import type { DiffInput } from "./diff.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";
import { createPodWriter } from "./pod-writer.ts";
import type { Scene } from "./pod-writer.ts";
import { cloneSetRevisions } from "./revisions.ts";
import { changesNothing, planScale } from "./scale.ts";
import { EMPTY_STATUS, deadlineInMs, planStatus } from "./cloneset-status.ts";
import type { CloneSetStatus, StatusInput } from "./cloneset-status.ts";
import { changesPods, planUpdate } from "./update.ts";
import { DEFAULT_GATES } from "../api/feature-gates.ts";

/** The input of one reconcile. */
interface View extends Scene {
  key: ObjectKey;
  known: readonly ReadonlyRevision[];
}

interface PassResult {
  failures: StatusInput["failures"];
  changed: boolean;
  /** Requeue after this time; 0 if an event will trigger the next reconcile. */
  delayMs: number;
}

/** Retry interval for a pod that a budget blocks. */
const HELD_RETRY_MS = 1_000;

export function createCloneSetController(deps: KruiseDependencies): Controller<ObjectKey> {
  const { client, informers, clock, random, gates = DEFAULT_GATES } = deps;
  const pods = informers.of(Pod);
  const claims = informers.of(PersistentVolumeClaim);
  const nodes = informers.of(Node);
  const history = createRevisionHistory(deps);
  const podsSeen = createExpectations(pods, clock);
  const claimsSeen = createExpectations(claims, clock);
  // A stale status would name an old current revision, and pods would be created from it.
  const statusSeen = createExpectations(informers.of(CloneSet), clock);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const pace = createPace(clock);
  const recorder = deps.events?.("cloneset-controller");
  const record = (
    owner: Owner,
    cloneSet: ReadonlyCloneSet,
    event: Parameters<NonNullable<typeof recorder>["record"]>[2],
  ): void => recorder?.record(owner.cluster, cloneSet, event);
  const mayUpdate = deps.mayUpdatePod ?? (() => Promise.resolve(true));
  const writer = createPodWriter({ client, podsSeen, claimsSeen, clock, random, gates, record, mayUpdate });

  return defineController({
    name: "cloneset",
    for: CloneSet,
    watches: [owned(Pod), owned(PersistentVolumeClaim), owned(ControllerRevision)],
    writes: [Pod, PersistentVolumeClaim, ControllerRevision, CloneSet],

    async reconcile(cloneSet, { key, log, signal }) {
      // The server's garbage collector deletes the dependents of a deleted CloneSet.
      if (cloneSet.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: cloneSet.metadata.uid ?? "" };
      const waitMs =
        Math.max(podsSeen.waitMs(owner), claimsSeen.waitMs(owner), history.waitMs(owner), statusSeen.waitMs(owner)) ||
        pace.leftMs(idOfKey(key));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const selector = selectorOf(cloneSet);
      const all = ownedBy(pods, key.cluster, owner.uid);
      pace.looked(idOfKey(key), all.length);
      const active = all.filter(isActive);
      const { kept, remove, handOver } = planClaims(
        cloneSet,
        ownedClaims(owner),
        active,
        all.filter((pod) => !isActive(pod)),
      );
      if (remove.length + handOver.length > 0) {
        await writer.clearClaims({ cloneSet, owner, signal }, remove, handOver);
        return done; // Changes of the claims trigger the next reconcile.
      }
      const unknownClusters = active.filter((pod) => !matchesLabels(selector, pod.metadata.labels));
      if (unknownClusters.length > 0) {
        await writer.release({ owner, signal }, unknownClusters);
        return done;
      }

      const known = history.of(owner);
      const { currentRevision, collisionCount } = cloneSet.status ?? {};
      const revisions = planRevisions(cloneSetRevisions, cloneSet, { known, currentRevision, collisionCount });
      const view: View = { cloneSet, key, owner, pods: all, active, claims: kept, known, revisions, signal };
      if (revisions.write) {
        await writeRevision(view);
        return done; // The revision or the status triggers the next reconcile.
      }
      const pass = await runPass(view);
      if (pass.changed) log.debug("pods changed", { revision: revisions.update.metadata.name });
      // Changes of the pods trigger the next reconcile.
      if (pass.changed && pass.failures.length === 0) return pass.delayMs > 0 ? { requeueAfterMs: pass.delayMs } : done;
      return settle(view, pass);
    },
    forget(key) {
      statusDelay.settled(idOfKey(key));
      pace.forget(idOfKey(key));
    },
  });

  function ownedClaims({ cluster, uid }: Owner): Scene["claims"] {
    return ownedBy(claims, cluster, uid).filter(({ metadata }) => !metadata.deletionTimestamp);
  }

  async function writeRevision({ cloneSet, owner, revisions, signal }: View): Promise<void> {
    const outcome = await history.write(owner, revisions, signal);
    // The next attempt uses another hash.
    if (outcome === "collision")
      await writeStatus(
        cloneSet,
        owner,
        { ...(cloneSet.status ?? EMPTY_STATUS), collisionCount: revisions.collisionCount + 1 },
        signal,
      );
  }

  async function writeStatus(
    cloneSet: ReadonlyCloneSet,
    owner: Owner,
    status: CloneSetStatus,
    signal: AbortSignal,
  ): Promise<void> {
    const written = await unlessChanged(
      client.updateStatus(CloneSet, owner.cluster, { ...cloneSet, status }, { signal }),
    );
    if (written) statusSeen.wrote(owner, written);
  }

  /** Scales, or else updates. */
  async function runPass(view: View): Promise<PassResult> {
    const { cloneSet, owner, active, revisions } = view;
    const input = {
      cloneSet,
      pods: active,
      currentRevision: revisions.current.metadata.name,
      updateRevision: revisions.update.metadata.name,
      gates,
      nowMs: clock.now(),
    };
    const scale = planScale({ ...input, nodeOf: (name: string) => nodes.get({ cluster: owner.cluster, name }) });
    if (scale.limit !== undefined)
      record(owner, cloneSet, {
        type: "Warning",
        reason: "ScaleUpLimited",
        message: `scaleUp is limited because of scaleStrategy.maxUnavailable, limit: ${scale.limit}`,
      });
    const scaled = await attempt("FailedScale", writer.scale(view, scale));
    if (!changesNothing(scale)) return { failures: scaled.failures, changed: true, delayMs: 0 };
    const { failures, result } = await attempt("FailedUpdate", runUpdate(view, input));
    return {
      changed: false,
      delayMs: 0,
      ...result,
      failures: [...scaled.failures, ...failures, ...(result?.failures ?? [])],
    };
  }

  async function runUpdate(view: View, input: DiffInput): Promise<PassResult> {
    const planned = planUpdate({ ...input, revisions: view.known });
    // A pod without a node does not need the readiness gate yet, and placement is about to write it: two writes at once
    // would conflict.
    const update = {
      ...planned,
      refresh: planned.refresh.filter(({ pod, after }) => pod.spec.nodeName || after.metadata !== pod.metadata),
    };
    const failures: PassResult["failures"] =
      update.failure !== undefined ? [{ type: "FailedUpdate", message: update.failure }] : [];
    if ((await writer.update(view, update)) === "held") return { failures, changed: false, delayMs: HELD_RETRY_MS };
    return { failures, changed: changesPods(update), delayMs: update.delayMs };
  }

  /** Writes the status, then finishes `podsToDelete` and the history. */
  async function settle(view: View, { failures, delayMs }: PassResult): Promise<Result> {
    const { cloneSet, key, active, revisions, signal } = view;
    const leftMs = statusDelay.leftMs(idOfKey(key));
    if (leftMs > 0 && failures.length === 0)
      return { requeueAfterMs: delayMs > 0 ? Math.min(leftMs, delayMs) : leftMs };
    const nowMs = clock.now();
    const names = {
      currentRevision: revisions.current.metadata.name,
      updateRevision: revisions.update.metadata.name,
      collisionCount: revisions.collisionCount,
    };
    const status = planStatus({
      cloneSet,
      pods: active,
      revisions: names,
      labelSelector: formatLabelSelector(selectorOf(cloneSet)),
      failures,
      nowMs,
    });
    if (!equalJson(status, cloneSet.status)) {
      const waitMs = statusDelay.waitMs(idOfKey(key));
      if (waitMs > 0 && failures.length === 0) return { requeueAfterMs: waitMs };
      await writeStatus(cloneSet, view.owner, status, signal);
      statusDelay.settled(idOfKey(key));
    } else {
      statusDelay.settled(idOfKey(key));
      await dropFinished(view);
      await pruneHistory(view);
    }
    // Thrown after the status is written, so that the reconcile is retried with backoff.
    const failed = failures.find(({ cause }) => cause !== undefined);
    if (failed) throw failed.cause;
    const waits = [
      nextAvailableInMs(active, cloneSet.spec.minReadySeconds ?? 0, nowMs),
      deadlineInMs(cloneSet, status, nowMs),
      delayMs || undefined,
    ].filter((wait) => wait !== undefined);
    return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : done;
  }

  /** Removes names of deleted pods from `podsToDelete`, because a later pod of that name would be deleted too. */
  async function dropFinished({ cloneSet, active, key, signal }: View): Promise<void> {
    const { podsToDelete: named = [], ...scaleStrategy } = cloneSet.spec.scaleStrategy ?? {};
    if (named.length === 0) return;
    const left = named.filter((name) => active.some(({ metadata }) => metadata.name === name));
    if (left.length === named.length) return;
    const spec = {
      ...cloneSet.spec,
      scaleStrategy: left.length > 0 ? { ...scaleStrategy, podsToDelete: left } : scaleStrategy,
    };
    await unlessChanged(client.update(CloneSet, key.cluster, { ...cloneSet, spec }, { signal }));
  }

  async function pruneHistory({ cloneSet, active, known, revisions, owner, signal }: View): Promise<void> {
    const limit = cloneSet.spec.revisionHistoryLimit;
    const used = new Set(
      [
        revisions.current.metadata.name,
        revisions.update.metadata.name,
        ...active.map(({ metadata }) => metadata.labels?.[REVISION_LABEL] ?? ""),
      ].map(shortHash),
    );
    const unused = planHistory(known, limit, ({ metadata }) => used.has(shortHash(metadata.name)));
    if (unused.length > 0) await history.remove(owner, unused, signal);
  }
}

/** A failure is written to the status first and thrown afterwards, so it is a value until then. */
async function attempt<T>(
  type: "FailedScale" | "FailedUpdate",
  writes: Promise<T>,
): Promise<{ failures: StatusInput["failures"]; result?: T }> {
  try {
    return { failures: [], result: await writes };
  } catch (error) {
    const message = messageOf(error instanceof WriteAllError ? error.cause : error);
    return { failures: [{ type, message, cause: error }] };
  }
}
