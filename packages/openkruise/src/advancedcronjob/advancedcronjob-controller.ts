/**
 * AdvancedCronJob: creates Jobs or BroadcastJobs on a schedule, and keeps the last few.
 *
 * Reads: AdvancedCronJob, the Jobs and BroadcastJobs of its runs.
 * Writes: Job, BroadcastJob (create, delete), AdvancedCronJob status.
 * After: the controllers of Job and BroadcastJob run them; their status changes trigger the next reconcile.
 */
import { equalJson, messageOf } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import { createExpectations } from "@flotilla/kubernetes";
import type { Owner, WorkloadDependencies } from "@flotilla/kubernetes";
import { AdvancedCronJob } from "./advancedcronjob-kind.ts";
import { planAdvancedCronJob } from "./plan-advancedcronjob.ts";
import type { AdvancedCronJobPlan, ReadonlyAdvancedCronJob } from "./plan-advancedcronjob.ts";
import { runKindOf, runKinds } from "./run-kinds.ts";
import type { RunKind } from "./run-kinds.ts";
import { createRuns } from "./runs.ts";

export function createAdvancedCronJobController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const runs = createRuns(deps);
  const statusSeen = createExpectations(informers.of(AdvancedCronJob), clock);
  const events = deps.events?.("advancedcronjob-controller");

  return defineController({
    name: "advancedcronjob",
    for: AdvancedCronJob,
    watches: runKinds.map(({ kind }) => owned(kind)),
    writes: [...runKinds.map(({ kind }) => kind), AdvancedCronJob],

    async reconcile(cronJob, { key, signal }) {
      const owner = { cluster: key.cluster, uid: cronJob.metadata.uid ?? "" };
      const waitMs = Math.max(runs.waitMs(owner), statusSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const runKind = runKindOf(cronJob.spec);
      const plan = planAdvancedCronJob(cronJob, runs.of(runKind, owner), clock.now());
      if (!equalJson(plan.status, cronJob.status ?? {})) {
        const written = await unlessChanged(
          client.updateStatus(AdvancedCronJob, key.cluster, { ...cronJob, status: plan.status }, { signal }),
        );
        if (!written) return done; // The object changed in the meantime: the event triggers another reconcile.
        statusSeen.wrote(owner, written);
      }
      if (plan.problem) events?.record(key.cluster, cronJob, plan.problem);
      await carryOut(cronJob, owner, runKind, plan, signal);
      return plan.requeueAfterMs === undefined ? done : { requeueAfterMs: plan.requeueAfterMs };
    },
  });

  async function carryOut(
    cronJob: ReadonlyAdvancedCronJob,
    owner: Owner,
    kind: RunKind,
    { remove, replace, start }: AdvancedCronJobPlan,
    signal: AbortSignal,
  ): Promise<void> {
    for (const run of [...remove, ...replace]) await runs.delete(kind, owner, run, signal);
    if (!start) return;
    try {
      await runs.create(kind, owner, start, signal);
    } catch (error) {
      events?.record(owner.cluster, cronJob, {
        type: "Warning",
        reason: "FailedCreate",
        message: `Error creating ${kind.type} ${start.metadata.name}: ${messageOf(error)}`,
      });
      throw error;
    }
  }
}
