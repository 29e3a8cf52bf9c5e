/**
 * CronJob: creates Jobs on a schedule and keeps the last few.
 *
 * Reads: CronJob, its Jobs.
 * Writes: Job (create, delete), CronJob status.
 * After: the Job controller runs the created Jobs.
 */
import { CronJob } from "./cronjob-kind.ts";
import { Job } from "../job/job-kind.ts";
import { controllerOf, isAlreadyExists, isNamespaceTerminating } from "@flotilla/apimachinery";
import { equalJson, messageOf } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import { ownedBy } from "../workloads/ownership.ts";
import type { ReadonlyJob } from "../job/job-pods.ts";
import type { ReadonlyCronJob } from "./missed.ts";
import { planCronJob, planJobHistory, startedStatus } from "./plan-cronjob.ts";
import type { CronJobPlan, CronJobStatus } from "./plan-cronjob.ts";

export function createCronJobController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const jobs = informers.of(Job);
  const jobsSeen = createExpectations(jobs, clock);
  const statusSeen = createExpectations(informers.of(CronJob), clock);
  const events = deps.events?.("cronjob-controller");

  return defineController({
    name: "cronjob",
    for: CronJob,
    watches: [owned(Job)],
    writes: [Job, CronJob],

    async reconcile(cronJob, { key, signal }) {
      const owner = { cluster: key.cluster, uid: cronJob.metadata.uid ?? "" };
      const waitMs = Math.max(jobsSeen.waitMs(owner), statusSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const all = ownedBy(jobs, key.cluster, owner.uid);
      const old = planJobHistory(cronJob, all);
      for (const job of old) await remove(cronJob, owner, job.metadata.name, job.metadata.uid ?? "", signal);
      const plan = planCronJob(
        cronJob,
        all.filter((job) => !old.includes(job)),
        clock.now(),
      );
      for (const event of plan.events) events?.record(key.cluster, cronJob, event);
      let { status } = plan;
      let failure: unknown;
      try {
        status = await start(cronJob, owner, plan, signal);
      } catch (error) {
        // The status of the other Jobs is still written.
        failure = error;
      }
      if (!equalJson(status, cronJob.status ?? {})) {
        const written = await unlessChanged(
          client.updateStatus(CronJob, key.cluster, { ...cronJob, status }, { signal }),
        );
        if (written) statusSeen.wrote(owner, written);
      }
      if (failure !== undefined) throw failure;
      return plan.againInMs === undefined ? done : { requeueAfterMs: plan.againInMs };
    },
  });

  async function start(
    cronJob: ReadonlyCronJob,
    owner: Owner,
    { status, start: job, startMs = 0, replace }: CronJobPlan,
    signal: AbortSignal,
  ): Promise<CronJobStatus> {
    if (!job) return status;
    for (const { name = "", uid = "" } of replace) await remove(cronJob, owner, name, uid, signal);
    const started = await create(cronJob, owner, job, signal);
    return started ? startedStatus(status, started, startMs, replace) : status;
  }

  /**
   * The Job of this run, created now or in an earlier reconcile whose status was lost; undefined if another owner has a
   * Job of that name.
   */
  async function create(
    cronJob: ReadonlyCronJob,
    owner: Owner,
    job: ReadonlyJob,
    signal: AbortSignal,
  ): Promise<ReadonlyJob | undefined> {
    const { cluster, uid } = owner;
    const { name, namespace } = job.metadata;
    try {
      const created = await client.create(Job, cluster, job, { signal });
      jobsSeen.wrote(owner, created);
      events?.record(cluster, cronJob, { type: "Normal", reason: "SuccessfulCreate", message: `Created job ${name}` });
      return created;
    } catch (error) {
      if (isNamespaceTerminating(error)) throw error;
      if (!isAlreadyExists(error)) {
        events?.record(cluster, cronJob, {
          type: "Warning",
          reason: "FailedCreate",
          message: `Error creating job: ${messageOf(error)}`,
        });
        throw error;
      }
      const there = await client.get(Job, { cluster, name, namespace: namespace || undefined }, { signal });
      return controllerOf(there)?.uid === uid ? there : undefined;
    }
  }

  async function remove(
    cronJob: ReadonlyCronJob,
    owner: Owner,
    name: string,
    uid: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster } = owner;
    const { namespace } = cronJob.metadata;
    try {
      await unlessChanged(
        client.delete(
          Job,
          { cluster, name, namespace: namespace || undefined },
          { propagationPolicy: "Background", preconditions: { uid }, signal },
        ),
      );
    } catch (error) {
      events?.record(cluster, cronJob, {
        type: "Warning",
        reason: "FailedDelete",
        message: `Deleted job: ${messageOf(error)}`,
      });
      throw error;
    }
    jobsSeen.deleted(owner, {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name, uid, namespace: namespace || undefined },
    });
    events?.record(cluster, cronJob, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted job ${name}` });
  }
}
