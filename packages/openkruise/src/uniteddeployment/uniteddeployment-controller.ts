/**
 * UnitedDeployment: one workload per subset of a cluster's nodes, with the replicas divided among them.
 *
 * Reads: UnitedDeployment, the workloads of its subsets, their pods, ReplicaSet (to find the pods of Deployments),
 * ControllerRevision.
 * Writes: CloneSet, StatefulSet of both groups, Deployment, ControllerRevision, Pod (the reserved label; deletes
 * StatefulSet pods that block an update), UnitedDeployment (status).
 * After: the workloads' controllers create the pods; their status changes trigger the next reconcile.
 */
import { equalJson, TerminalError } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import {
  ControllerRevision,
  createExpectations,
  createRevisionHistory,
  createStatusDelay,
  planRevisions,
  Pod,
  STATUS_DELAY_MS,
} from "@flotilla/kubernetes";
import type { Owner, RevisionPlan, WorkloadDependencies } from "@flotilla/kubernetes";
import { isAdaptive } from "./uniteddeployment-names.ts";
import type { ReadonlyUnitedDeployment } from "./uniteddeployment-names.ts";
import { findSubsets, planRequeueMs, planSubsets } from "./plan-subsets.ts";
import type { SubsetPlan } from "./plan-subsets.ts";
import { isSettled, planChanges } from "./provision.ts";
import { expiredRevisions, unitedDeploymentRevisions } from "./uniteddeployment-revisions.ts";
import { SUBSET_KINDS, templateOf } from "./subset-kinds.ts";
import { createSubsetWorkloads } from "./subset-workloads.ts";
import { createSubsetWriter } from "./subset-writer.ts";
import type { SubsetTarget } from "./subset-writer.ts";
import { UnitedDeployment } from "./uniteddeployment-kind.ts";
import { changesPlacement, EMPTY_STATUS, planStatus } from "./uniteddeployment-status.ts";
import type { UnitedDeploymentStatus } from "./uniteddeployment-status.ts";

/** One UnitedDeployment in one reconcile. */
interface Target extends SubsetTarget {
  key: ObjectKey;
  revisions: RevisionPlan;
}

export function createUnitedDeploymentController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const history = createRevisionHistory(deps);
  const statusSeen = createExpectations(informers.of(UnitedDeployment), clock);
  const workloads = createSubsetWorkloads(deps);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const recorder = deps.events?.("uniteddeployment-controller");
  const writer = createSubsetWriter(workloads, recorder);

  return defineController({
    name: "uniteddeployment",
    for: UnitedDeployment,
    watches: [...SUBSET_KINDS.map(({ kind }) => owned(kind)), owned(ControllerRevision)],
    writes: [...SUBSET_KINDS.map(({ kind }) => kind), Pod, ControllerRevision, UnitedDeployment],

    async reconcile(deployment, { key, signal }) {
      // The server's garbage collector deletes the workloads of a deleted UnitedDeployment.
      if (deployment.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: deployment.metadata.uid ?? "" };
      const waitMs = Math.max(history.waitMs(owner), statusSeen.waitMs(owner), workloads.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const template = templateOf(deployment);
      if (!template)
        throw new TerminalError(
          `UnitedDeployment ${key.namespace ?? ""}/${key.name} has no template; set the template of a CloneSet, a StatefulSet or a Deployment`,
        );
      const revisions = planRevisions(unitedDeploymentRevisions, deployment, {
        known: history.of(owner),
        currentRevision: deployment.status?.currentRevision,
        collisionCount: deployment.status?.collisionCount,
      });
      const revision = revisions.update.metadata.name;
      return reconcileSubsets({ deployment, template, key, owner, revision, revisions, signal });
    },
    forget: (key) => statusDelay.settled(idOfKey(key)),
  });

  async function reconcileSubsets(target: Target): Promise<Result> {
    const { deployment, template, owner, revision, revisions, signal } = target;
    if (revisions.write) {
      await writeRevision(target);
      return done; // The revision or the status triggers the next reconcile.
    }
    const { subsets, duplicates } = workloads.classify(template.kind, owner, revision);
    if (duplicates.length > 0) {
      await writer.deleteDuplicates(target, duplicates);
      return done; // Their removal triggers the next reconcile.
    }
    const nowMs = clock.now();
    const names = { current: revisions.current.metadata.name, updated: revision };
    const found = findSubsets(deployment, subsets, names, nowMs);
    const relabel = [...found.findings.values()].flatMap((finding) => finding.relabel);
    await workloads.relabel(owner, relabel, signal);

    const plan = planSubsets(found, nowMs);
    if ("problem" in plan) throw notAllocated(target, plan.problem);
    return applyPlan({ ...target, deployment: plan.deployment }, plan, deployment.status);
  }

  /** Updates the workloads to the desired state, and the status to the observed one. */
  async function applyPlan(
    target: Target,
    plan: SubsetPlan,
    stored: UnitedDeploymentStatus | undefined,
  ): Promise<Result> {
    const { deployment, template, owner, revision, revisions, signal } = target;
    const changes = planChanges({ ...plan, template, revision }, workloads.ofOtherKinds(template.kind, owner));
    const names = { current: revisions.current.metadata.name, updated: revision };
    const status = planStatus({
      ...plan,
      revisions: { ...names, collisionCount: revisions.collisionCount },
      isSettled: isSettled(changes),
      nowMs: clock.now(),
    });
    // Findings about subsets would be lost as soon as their pods are moved, so they are stored first.
    if (isAdaptive(deployment) && changesPlacement(status, stored)) {
      await writeStatus(deployment, owner, status, signal);
      return done;
    }
    await writer.write(target, changes, plan);
    // Changes of the workloads trigger the next reconcile.
    if (isSettled(changes)) {
      const waitMs = await settle(target, status, stored);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
    }
    const requeueAfterMs = planRequeueMs(plan, { createsSubsets: changes.create.length > 0 });
    return requeueAfterMs === undefined ? done : { requeueAfterMs };
  }

  /** Writes the status of a settled deployment, or deletes old revisions; returns how long the status has to wait. */
  async function settle(
    target: Target,
    status: UnitedDeploymentStatus,
    stored: UnitedDeploymentStatus | undefined,
  ): Promise<number> {
    const { deployment, key, owner, revision, revisions, signal } = target;
    if (equalJson(status, stored)) {
      statusDelay.settled(idOfKey(key));
      const inUse = new Set([revisions.current.metadata.name, revision, status.currentRevision]);
      const limit = deployment.spec.revisionHistoryLimit ?? 10;
      await history.remove(owner, expiredRevisions(history.of(owner), limit, inUse), signal);
      return 0;
    }
    const waitMs = statusDelay.waitMs(idOfKey(key));
    if (waitMs > 0) return waitMs;
    await writeStatus(deployment, owner, status, signal);
    statusDelay.settled(idOfKey(key));
    return 0;
  }

  async function writeRevision({ deployment, owner, revisions, signal }: Target): Promise<void> {
    const outcome = await history.write(owner, revisions, signal);
    if (outcome !== "collision") return;
    const collisionCount = revisions.collisionCount + 1;
    await writeStatus(deployment, owner, { ...(deployment.status ?? EMPTY_STATUS), collisionCount }, signal);
  }

  async function writeStatus(
    deployment: ReadonlyUnitedDeployment,
    owner: Owner,
    status: UnitedDeploymentStatus,
    signal: AbortSignal,
  ): Promise<void> {
    const written = await unlessChanged(
      client.updateStatus(UnitedDeployment, owner.cluster, { ...deployment, status }, { signal }),
    );
    if (written) statusSeen.wrote(owner, written);
  }

  function notAllocated({ deployment, key }: Target, problem: string): TerminalError {
    recorder?.record(key.cluster, deployment, {
      type: "Warning",
      reason: "Failed SpecifySubsetReplicas",
      message: `Specified subset replicas is ineffective: ${problem}`,
    });
    return new TerminalError(
      `failed to allocate the replicas of UnitedDeployment ${key.namespace ?? ""}/${key.name}: ${problem}`,
    );
  }
}
