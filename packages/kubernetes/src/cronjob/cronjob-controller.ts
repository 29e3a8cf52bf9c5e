/**
 * CronJob: creates Jobs on a schedule and keeps the last few.
 *
 * Reads: CronJob, its Jobs.
 * Writes: Job (create, delete), CronJob status.
 * After: the Job controller runs the created Jobs.
 */
import { CronJob } from "./cronjob-kind.ts";
import { Job } from "../job/job-kind.ts";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import { ownedBy } from "../workloads/ownership.ts";
import { createCronJobWriter } from "./cronjob-writer.ts";
import type { CronJobTarget } from "./cronjob-writer.ts";
import { planCronJob, planJobHistory, startedStatus } from "./plan-cronjob.ts";
import type { CronJobPlan, CronJobStatus } from "./plan-cronjob.ts";

export function createCronJobController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const jobs = informers.of(Job);
  const writer = createCronJobWriter(deps);
  const statusSeen = createExpectations(informers.of(CronJob), clock);
  const events = deps.events?.("cronjob-controller");

  return defineController({
    name: "cronjob",
    for: CronJob,
    watches: [owned(Job)],
    writes: [Job, CronJob],

    async reconcile(cronJob, { key, signal }) {
      const owner = { cluster: key.cluster, uid: cronJob.metadata.uid ?? "" };
      const waitMs = Math.max(writer.waitMs(owner), statusSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const target = { cronJob, owner, signal };
      const all = ownedBy(jobs, key.cluster, owner.uid);
      const old = planJobHistory(cronJob, all);
      for (const { metadata } of old) await writer.remove(target, { name: metadata.name, uid: metadata.uid });
      const plan = planCronJob(
        cronJob,
        all.filter((job) => !old.includes(job)),
        clock.now(),
      );
      for (const event of plan.events) events?.record(key.cluster, cronJob, event);
      let { status } = plan;
      let failure: unknown;
      try {
        status = await start(target, plan);
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
    target: CronJobTarget,
    { status, start: job, startMs = 0, replace }: CronJobPlan,
  ): Promise<CronJobStatus> {
    if (!job) return status;
    for (const { name = "", uid } of replace) await writer.remove(target, { name, uid });
    const started = await writer.create(target, job);
    return started ? startedStatus(status, started, startMs, replace) : status;
  }
}
