/**
 * Writes the Jobs of a CronJob, emits its events, and waits until a write is visible in the informers.
 *
 * Writes: Job (create, delete).
 */
import { controllerOf, isAlreadyExists, isNamespaceTerminating } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import { unlessChanged } from "@flotilla/controller-runtime";
import { Job } from "../job/job-kind.ts";
import type { ReadonlyJob } from "../job/job-pods.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import type { ReadonlyCronJob } from "./missed-runs.ts";

export interface CronJobTarget {
  cronJob: ReadonlyCronJob;
  owner: Owner;
  signal: AbortSignal;
}

export interface CronJobWriter {
  /** How long the writes of this owner need at most to become visible; 0 if they are. */
  waitMs(owner: Owner): number;
  /**
   * The Job of this run, created now or in an earlier reconcile whose status was lost; undefined if another owner has a
   * Job of that name.
   */
  create(target: CronJobTarget, job: ReadonlyJob): Promise<ReadonlyJob | undefined>;
  remove(target: CronJobTarget, job: { name: string; uid: string | undefined }): Promise<void>;
}

export function createCronJobWriter(deps: WorkloadDependencies): CronJobWriter {
  const { client, informers, clock } = deps;
  const jobsSeen = createExpectations(informers.of(Job), clock);
  const events = deps.events?.("cronjob-controller");

  return {
    waitMs: (owner) => jobsSeen.waitMs(owner),

    async create({ cronJob, owner, signal }, job) {
      const { cluster, uid } = owner;
      const { name, namespace } = job.metadata;
      try {
        const created = await client.create(Job, cluster, job, { signal });
        jobsSeen.wrote(owner, created);
        events?.record(cluster, cronJob, {
          type: "Normal",
          reason: "SuccessfulCreate",
          message: `Created job ${name}`,
        });
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
    },

    async remove({ cronJob, owner, signal }, { name, uid = "" }) {
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
    },
  };
}
