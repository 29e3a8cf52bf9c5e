/**
 * UnitedDeployment: one workload per subset of a cluster's nodes, with the replicas divided among them.
 *
 * Reads: UnitedDeployment, the workloads of its subsets, their pods, ReplicaSet (to find the pods of Deployments),
 * ControllerRevision.
 * Writes: CloneSet, StatefulSet of both groups, Deployment, ControllerRevision, Pod (the reserved label; deletes
 * StatefulSet pods that block an update), UnitedDeployment (status).
 * After: the workloads' controllers create the pods; their status changes trigger the next reconcile.
 */
import { equalJson, messageOf, TerminalError } from "@flotilla/base";
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
  slowStart,
  STATUS_DELAY_MS,
  writeAll,
  WriteAllError,
} from "@flotilla/kubernetes";
import type { Owner, RevisionPlan, WorkloadDependencies } from "@flotilla/kubernetes";
import { allocatePartitions, allocateReplicas } from "./allocate.ts";
import type { Numbers } from "./allocate.ts";
import { isAdaptive, reserves, schedulingTimeoutMs } from "./names.ts";
import type { ReadonlyUnitedDeployment } from "./names.ts";
import { createSubsetWorkloads } from "./subset-workloads.ts";
import { UnitedDeployment } from "./uniteddeployment-kind.ts";
import { planProvision, planUpdates } from "./provision.ts";
import type { ExistingSubset } from "./provision.ts";
import { expiredRevisions, unitedDeploymentRevisions } from "./revisions.ts";
import { afterAllocation, findReserved, findSchedulability } from "./schedulable.ts";
import type { Finding, SubsetStatus } from "./schedulable.ts";
import { EMPTY_STATUS, initialSubsetStatuses, planStatus, withUpdated } from "./uniteddeployment-status.ts";
import type { UnitedDeploymentStatus } from "./uniteddeployment-status.ts";
import { SCHEDULABLE } from "./subset.ts";
import { SUBSET_KINDS, templateOf } from "./subset-kinds.ts";
import type { ReadonlyWorkload, SubsetKind, SubsetTemplate } from "./subset-kinds.ts";
import { makeSubsetWorkload } from "./workload.ts";

/** Requeues just after a deadline: at the exact time it has not passed yet. */
const JUST_AFTER_MS = 1;
/** A minimum for the requeue interval: with a timeout of 0 it would requeue without pause while a pod is not ready. */
const SOONEST_MS = 1_000;

/** The input of one reconcile. */
interface View {
  /** With the current conditions. */
  deployment: ReadonlyUnitedDeployment;
  stored: UnitedDeploymentStatus | undefined;
  template: SubsetTemplate;
  key: ObjectKey;
  owner: Owner;
  revisions: RevisionPlan;
  subsets: ReadonlyMap<string, ExistingSubset>;
  findings: ReadonlyMap<string, Finding>;
  subsetStatuses: ReadonlyMap<string, SubsetStatus>;
  replicas: Numbers;
  partitions: Numbers;
  signal: AbortSignal;
}

export function createUnitedDeploymentController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const history = createRevisionHistory(deps);
  const statusSeen = createExpectations(informers.of(UnitedDeployment), clock);
  const workloads = createSubsetWorkloads(deps);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const recorder = deps.events?.("uniteddeployment-controller");
  const recordEvent = (
    { deployment, key }: Pick<View, "deployment" | "key">,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
  ): void => recorder?.record(key.cluster, deployment, { type, reason, message });

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
      if (revisions.write) {
        const outcome = await history.write(owner, revisions, signal);
        if (outcome === "collision")
          await writeStatus(
            deployment,
            owner,
            { ...(deployment.status ?? EMPTY_STATUS), collisionCount: revisions.collisionCount + 1 },
            signal,
          );
        return done; // The revision or the status triggers the next reconcile.
      }
      const view = await observe({ deployment, template, key, owner, revisions, signal });
      return view ? applyDesired(view) : done;
    },
    forget: (key) => statusDelay.settled(idOfKey(key)),
  });

  /**
   * The observed and the desired state; undefined if obsolete objects were deleted first, whose removal triggers the
   * next reconcile.
   */
  async function observe(
    base: Pick<View, "deployment" | "template" | "key" | "owner" | "revisions" | "signal">,
  ): Promise<View | undefined> {
    const { deployment, template, owner, revisions, signal, key } = base;
    const nowMs = clock.now();
    const updatedRevision = revisions.update.metadata.name;
    const { subsets, duplicates } = workloads.classify(template.kind, owner, updatedRevision);
    if (duplicates.length > 0) {
      await deleteWorkloads(base, template.kind, duplicates, "FailedDeleteDuplicatedSubsets");
      return undefined;
    }
    const conditions = withUpdated(
      deployment.status?.conditions ?? [],
      revisions.current.metadata.name === updatedRevision,
      updatedRevision,
      nowMs,
    );
    const dated = { ...deployment, status: { ...(deployment.status ?? EMPTY_STATUS), conditions } };
    const subsetStatuses = initialSubsetStatuses(deployment, nowMs);
    const findings = new Map<string, Finding>();
    if (isAdaptive(deployment)) {
      for (const [name, subset] of subsets) {
        const before = subsetStatuses.get(name);
        if (before)
          findings.set(name, (reserves(deployment) ? findReserved : findSchedulability)(dated, subset, before, nowMs));
      }
    }
    await workloads.relabel(
      owner,
      [...findings.values()].flatMap((finding) => finding.relabel),
      signal,
    );

    const sized = new Map(
      [...subsets].map(([name, subset]) => [
        name,
        { ...subset, schedulability: findings.get(name)?.schedulability ?? SCHEDULABLE },
      ]),
    );
    const allocation = allocateReplicas(deployment, sized);
    if ("problem" in allocation) {
      recordEvent(
        base,
        "Warning",
        "Failed SpecifySubsetReplicas",
        `Specified subset replicas is ineffective: ${allocation.problem}`,
      );
      throw new TerminalError(
        `failed to allocate the replicas of UnitedDeployment ${key.namespace ?? ""}/${key.name}: ${allocation.problem}`,
      );
    }
    for (const [name, finding] of findings) {
      const subset = subsets.get(name);
      if (subset)
        subsetStatuses.set(
          name,
          reserves(deployment)
            ? afterAllocation(finding, subset, allocation.replicas.get(name) ?? 0, nowMs)
            : finding.status,
        );
    }
    return {
      ...base,
      deployment: dated,
      stored: deployment.status,
      subsets: sized,
      findings,
      subsetStatuses,
      replicas: allocation.replicas,
      partitions: allocatePartitions(deployment, allocation.replicas),
    };
  }

  /** Updates the workloads to the desired state, and the status to the observed one. */
  async function applyDesired(view: View): Promise<Result> {
    const { stored } = view;
    const plan = planProvision(view.deployment, [...view.subsets.keys()]);
    const others = SUBSET_KINDS.filter((kind) => kind !== view.template.kind).flatMap((kind) =>
      workloads.of(kind, view.owner).map((workload) => ({ kind, workload })),
    );
    const updates = planUpdates({ ...view, revision: view.revisions.update.metadata.name });
    const isSettled =
      plan.create.length + plan.remove.length + others.length + updates.filter(({ changed }) => changed).length === 0;
    const status = statusOf(view, isSettled);
    // Findings about subsets would be lost as soon as their pods are moved, so they are stored first.
    const isUrgent = isAdaptive(view.deployment) && !equalJson(schedulingPart(status), schedulingPart(stored));
    if (isUrgent) {
      await writeStatus(view.deployment, view.owner, status, view.signal);
      return done;
    }
    try {
      await provision(view, plan);
      for (const { kind, workload } of others) await workloads.delete(view.owner, kind, workload, view.signal);
      await update(view, updates);
    } catch (error) {
      recordEvent(
        view,
        "Warning",
        "FailedUpdateSubset",
        `fail to manage Subset provision: ${messageOf(error instanceof WriteAllError ? error.cause : error)}`,
      );
      throw error;
    }
    if (!isSettled) return again(view, plan.create.length > 0); // Changes of the workloads trigger the next reconcile.
    if (!equalJson(status, stored)) {
      const waitMs = statusDelay.waitMs(idOfKey(view.key));
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      await writeStatus(view.deployment, view.owner, status, view.signal);
      statusDelay.settled(idOfKey(view.key));
    } else {
      statusDelay.settled(idOfKey(view.key));
      const inUse = new Set([
        view.revisions.current.metadata.name,
        view.revisions.update.metadata.name,
        status.currentRevision,
      ]);
      await history.remove(
        view.owner,
        expiredRevisions(history.of(view.owner), view.deployment.spec.revisionHistoryLimit ?? 10, inUse),
        view.signal,
      );
    }
    return again(view, false);
  }

  /** Pending pods change no workload, so an adaptive deployment needs a timed requeue. */
  function again({ deployment, findings, subsets }: View, isNew: boolean): Result {
    if (!isAdaptive(deployment)) return done;
    const isWaiting =
      isNew ||
      subsets
        .values()
        .some(({ specReplicas, replicas, readyReplicas }) => readyReplicas < Math.max(specReplicas, replicas));
    const waits = [...findings.values()]
      .flatMap(({ againInMs, relabel: changed }) => [
        againInMs,
        changed.length > 0 ? schedulingTimeoutMs(deployment) : undefined,
      ])
      .filter((wait) => wait !== undefined);
    if (isWaiting) waits.push(schedulingTimeoutMs(deployment));
    return waits.length > 0 ? { requeueAfterMs: Math.max(SOONEST_MS, Math.min(...waits)) + JUST_AFTER_MS } : done;
  }

  function statusOf(view: View, isSettled: boolean): UnitedDeploymentStatus {
    const { deployment, subsets, subsetStatuses, replicas, partitions, revisions } = view;
    const names = {
      current: revisions.current.metadata.name,
      updated: revisions.update.metadata.name,
      collisionCount: revisions.collisionCount,
    };
    const sized = new Map(
      [...subsets].map(([name, subset]) => [name, { ...subset, schedulability: subset.schedulability ?? SCHEDULABLE }]),
    );
    const status = planStatus({
      deployment,
      subsets: sized,
      subsetStatuses,
      conditions: deployment.status?.conditions ?? [],
      replicas,
      partitions,
      revisions: names,
      isSettled,
      nowMs: clock.now(),
    });
    // Once all subsets have a revision it becomes the current one, and the condition is updated with it.
    const conditions = withUpdated(
      status.conditions ?? [],
      status.currentRevision === names.updated,
      names.updated,
      clock.now(),
    );
    return { ...status, conditions };
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

  async function provision(view: View, { create, remove }: ReturnType<typeof planProvision>): Promise<void> {
    const { deployment, template, owner, revisions, replicas, partitions, signal } = view;
    const { kind } = template;
    const revision = revisions.update.metadata.name;
    await slowStart("subset creations", create, async (name) => {
      const workload = makeSubsetWorkload(deployment, template, {
        name,
        revision,
        replicas: replicas.get(name) ?? 0,
        partition: partitions.get(name) ?? 0,
      });
      await workloads.create(owner, kind, workload, signal);
    });
    if (create.length > 0)
      recordEvent(view, "Normal", "SuccessfulUpdateSubset", `Create ${create.length} Subset (${kind.type})`);
    await writeAll("subset deletions", remove, async (name) => {
      const subset = view.subsets.get(name);
      if (subset) await workloads.delete(owner, kind, subset.workload, signal);
    });
    if (remove.length > 0)
      recordEvent(view, "Normal", "SuccessfulUpdateSubset", `Delete ${remove.length} Subset (${kind.type})`);
  }

  async function update(view: View, updates: ReturnType<typeof planUpdates>): Promise<void> {
    const { template, owner, signal } = view;
    await slowStart("subset updates", updates, async ({ changed, stuck }) => {
      if (changed) await workloads.update(owner, template.kind, changed, signal);
      for (const pod of stuck) await workloads.deletePod(owner, pod, signal);
    });
  }

  async function deleteWorkloads(
    base: Pick<View, "deployment" | "key" | "owner" | "signal">,
    kind: SubsetKind,
    surplus: readonly ReadonlyWorkload[],
    reason: string,
  ): Promise<void> {
    try {
      await writeAll("subset deletions", surplus, (workload) =>
        workloads.delete(base.owner, kind, workload, base.signal),
      );
    } catch (error) {
      recordEvent(base, "Warning", reason, messageOf(error));
      throw error;
    }
  }
}

/** The conditions that determine where pods are placed, with their times. */
function schedulingPart(status: UnitedDeploymentStatus | undefined): unknown {
  return {
    subsets: status?.subsetStatuses?.map(({ name, conditions }) => ({ name, conditions })) ?? [],
    updated: status?.conditions?.find(({ type }) => type === "UnitedDeploymentUpdated"),
  };
}
