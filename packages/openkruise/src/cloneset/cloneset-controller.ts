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
  planRevisions,
  Pod,
  selectorOf,
  STATUS_DELAY_MS,
} from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { formatLabelSelector, matchesLabels } from "@flotilla/apimachinery";
import { defineController, done, idOfKey, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import type { KruiseDependencies } from "../api/kruise-definition.ts";
import { createClaimWriter } from "./claim-writer.ts";
import { planClaims } from "./cloneset-claims.ts";
import { runPass } from "./cloneset-pass.ts";
import type { PassDependencies, PassResult } from "./cloneset-pass.ts";
import { createPodWriter } from "./pod-writer.ts";
import { cloneSetRevisions, unusedRevisions } from "./cloneset-revisions.ts";
import { withoutFinished } from "./plan-scale.ts";
import type { Scene } from "./scene.ts";
import { EMPTY_STATUS, deadlineInMs, planStatus } from "./cloneset-status.ts";
import type { CloneSetStatus } from "./cloneset-status.ts";
import { createWriteWithEvent } from "./write-with-event.ts";
import { DEFAULT_GATES } from "../api/feature-gates.ts";

export function createCloneSetController(deps: KruiseDependencies): Controller<ObjectKey> {
  const { client, informers, clock, gates = DEFAULT_GATES } = deps;
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const history = createRevisionHistory(deps);
  // A stale status would name an old current revision, and pods would be created from it.
  const statusSeen = createExpectations(informers.of(CloneSet), clock);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const pace = createPace(clock);
  const recorder = deps.events?.("cloneset-controller");
  const writeWithEvent = createWriteWithEvent(recorder);
  const claims = createClaimWriter(deps, writeWithEvent);
  const writer = createPodWriter({ ...deps, gates, claims, recorder, writeWithEvent });
  const nodeOf: PassDependencies["nodeOf"] = (cluster, name) => nodes.get({ cluster, name });

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
        Math.max(writer.waitMs(owner), claims.waitMs(owner), history.waitMs(owner), statusSeen.waitMs(owner)) ||
        pace.leftMs(idOfKey(key));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const selector = selectorOf(cloneSet);
      const all = ownedBy(pods, key.cluster, owner.uid);
      pace.looked(idOfKey(key), all.length);
      const active = all.filter(isActive);
      const inactive = all.filter((pod) => !isActive(pod));
      const claimPlan = planClaims(cloneSet, claims.of(owner), active, inactive);
      if (claimPlan.remove.length + claimPlan.handOver.length > 0) {
        await claims.clear({ cloneSet, owner, signal }, claimPlan);
        return done; // Changes of the claims trigger the next reconcile.
      }
      const unselected = active.filter((pod) => !matchesLabels(selector, pod.metadata.labels));
      if (unselected.length > 0) {
        await writer.release({ owner, signal }, unselected);
        return done;
      }

      const known = history.of(owner);
      const { currentRevision, collisionCount } = cloneSet.status ?? {};
      const revisions = planRevisions(cloneSetRevisions, cloneSet, { known, currentRevision, collisionCount });
      const scene: Scene = { cloneSet, owner, pods: all, active, claims: claimPlan.kept, known, revisions, signal };
      if (revisions.write) {
        await writeRevision(scene);
        return done; // The revision or the status triggers the next reconcile.
      }
      const pass = await runPass({ writer, gates, clock, recorder, nodeOf }, scene);
      if (pass.changed) log.debug("pods changed", { revision: revisions.update.metadata.name });
      // Changes of the pods trigger the next reconcile.
      if (pass.changed && pass.failures.length === 0) return pass.delayMs > 0 ? { requeueAfterMs: pass.delayMs } : done;
      return settle(scene, pass, idOfKey(key));
    },
    forget(key) {
      statusDelay.settled(idOfKey(key));
      pace.forget(idOfKey(key));
    },
  });

  /** Writes the status, then finishes `podsToDelete` and the history. */
  async function settle(scene: Scene, { failures, delayMs }: PassResult, id: string): Promise<Result> {
    const { cloneSet, active, revisions } = scene;
    const leftMs = statusDelay.leftMs(id);
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
      const waitMs = statusDelay.waitMs(id);
      if (waitMs > 0 && failures.length === 0) return { requeueAfterMs: waitMs };
      await writeStatus(scene, status);
      statusDelay.settled(id);
    } else {
      statusDelay.settled(id);
      await dropFinished(scene);
      await history.remove(scene.owner, unusedRevisions(scene), scene.signal);
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

  async function writeRevision(scene: Scene): Promise<void> {
    const { cloneSet, owner, revisions, signal } = scene;
    const outcome = await history.write(owner, revisions, signal);
    // The next attempt uses another hash.
    if (outcome === "collision")
      await writeStatus(scene, {
        ...(cloneSet.status ?? EMPTY_STATUS),
        collisionCount: revisions.collisionCount + 1,
      });
  }

  async function writeStatus({ cloneSet, owner, signal }: Scene, status: CloneSetStatus): Promise<void> {
    const written = await unlessChanged(
      client.updateStatus(CloneSet, owner.cluster, { ...cloneSet, status }, { signal }),
    );
    if (written) statusSeen.wrote(owner, written);
  }

  async function dropFinished({ cloneSet, active, owner, signal }: Scene): Promise<void> {
    const spec = withoutFinished(cloneSet, active);
    if (spec) await unlessChanged(client.update(CloneSet, owner.cluster, { ...cloneSet, spec }, { signal }));
  }
}
