/**
 * Job: pods that run until enough of them have succeeded, or too many have failed.
 *
 * Reads: Job, its pods.
 * Writes: Pod (create, delete, the tracking finalizer), Job status. A reconcile creates and deletes pods, records
 * finished ones in the status, removes their finalizers, and counts them. `plan-job.ts` and `job-tracking.ts` decide.
 * After: `job-orphans-controller.ts` removes the finalizers of pods whose Job was deleted,
 * `finished-jobs-controller.ts` deletes expired Jobs.
 */
import { Job } from "./job-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, owned } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { STATUS_DELAY_MS } from "../workloads/dependencies.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import { orphansOf, ownedBy } from "../workloads/ownership.ts";
import { selectorOf } from "../workloads/selector.ts";
import { createStatusDelay } from "../workloads/status-delay.ts";
import { writeAll } from "../workloads/write-all.ts";
import { isReady } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { createPodWriter } from "../pod/pod-writer.ts";
import type { PodOwner } from "../pod/pod-writer.ts";
import { NO_BACKOFF } from "./backoff.ts";
import type { Backoff } from "./backoff.ts";
import { planJobEvents } from "./job-events.ts";
import { jobPod } from "./new-job-pod.ts";
import { isFinished, planJob } from "./plan-job.ts";
import type { JobPlan } from "./plan-job.ts";
import { TRACKING_FINALIZER, isTerminating, isTracked, uidOf } from "./job-pods.ts";
import type { ReadonlyJob } from "./job-pods.ts";
import { planStart } from "./job-start.ts";
import { planCounted, planTracking } from "./job-tracking.ts";
import type { JobStatus, Now } from "./job-tracking.ts";
import { viewJob } from "./job-view.ts";
import type { JobView } from "./job-view.ts";

const JOB_CONTROLLER = "kubernetes.io/job-controller";

/** Jobs with another `managedBy` controller are skipped. */
export const isManagedElsewhere = ({ spec }: ReadonlyJob): boolean =>
  spec?.managedBy !== undefined && spec.managedBy !== JOB_CONTROLLER;

/** The Job whose pods and status are written. */
interface Target {
  key: ObjectKey;
  owner: Owner;
  podOwner: PodOwner;
  signal: AbortSignal;
}

export function createJobController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock, random } = deps;
  const pods = informers.of(Pod);
  const podsSeen = createExpectations(pods, clock);
  // A stale status would count the same pods again.
  const statusSeen = createExpectations(informers.of(Job), clock);
  const delay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const events = deps.events?.("job-controller");
  const writer = createPodWriter({ client, expectations: podsSeen, events });
  const backoffs = new Map<string, Backoff>();

  return defineController({
    name: "job",
    for: Job,
    watches: [owned(Pod)],
    writes: [Pod, Job],

    async reconcile(job, { key, signal }) {
      if (isManagedElsewhere(job)) return done;
      if (isFinished(job)) {
        backoffs.delete(idOfKey(key));
        return done;
      }
      const owner = { cluster: key.cluster, uid: job.metadata.uid ?? "" };
      const waitMs = Math.max(podsSeen.waitMs(owner), statusSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const podOwner = { cluster: key.cluster, object: job };
      const orphans = job.metadata.deletionTimestamp
        ? []
        : orphansOf(pods, key.cluster, key.namespace, selectorOf(job));
      if (orphans.length > 0) {
        await writer.adopt(podOwner, orphans.map(withFinalizer), signal);
        return done;
      }
      const view = viewJob(job, ownedBy(pods, key.cluster, owner.uid), backoffs.get(idOfKey(key)) ?? NO_BACKOFF);
      const plan = planJob(view, clock.now());
      if (isSettled(view, plan, clock.now())) {
        delay.settled(idOfKey(key));
        return againAfter(plan);
      }
      // Pods end together, so their changes are batched, as in upstream. A new Job does not wait.
      const leftMs = job.status?.startTime === undefined ? 0 : delay.waitMs(idOfKey(key));
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      delay.settled(idOfKey(key));
      return runPass(view, plan, { key, owner, podOwner, signal });
    },
    forget(key) {
      backoffs.delete(idOfKey(key));
      delay.settled(idOfKey(key));
    },
  });

  async function runPass(view: JobView, plan: JobPlan, target: Target): Promise<Result> {
    const { job } = view;
    const { key, podOwner, signal } = target;
    let failure: unknown;
    const now = countNow(view);
    try {
      await removePods(plan, target);
      now.active -= plan.remove.length;
      now.terminating += plan.remove.length;
      now.ready -= plan.remove.filter(isReady).length;
      await writer.create(
        podOwner,
        plan.create.map(({ index }) =>
          jobPod(job, random, index, index === undefined ? undefined : view.waiting.get(index)),
        ),
        signal,
      );
      now.active += plan.create.length;
    } catch (error) {
      // Thrown after the status is written, which must not report an end while pods may be left.
      failure = error;
    }
    const { status, end } =
      failure === undefined
        ? planStart(view, plan, now.active, clock.now())
        : { status: planStart(view, plan, 1, clock.now()).status, end: undefined };
    const tracking = planTracking(view, end, status, now, clock.now());
    const stillTracked = trackedUids(view);
    let current = job;
    if (tracking.finalize.length > 0) {
      current = await writeStatus(current, tracking.status, target);
      backoffs.set(idOfKey(key), view.backoff);
      await writeAll("finalizer removals", tracking.finalize, async (pod) => {
        if (await writer.update(podOwner, withoutFinalizer(pod), signal)) stillTracked.delete(uidOf(pod));
      });
    }
    const counted = planCounted(tracking.status, tracking, stillTracked, clock.now());
    await writeStatus(current, counted, target);
    for (const event of planJobEvents(job, counted)) events?.record(key.cluster, job, event);
    if (failure !== undefined) throw failure;
    return againAfter(plan);
  }

  async function removePods(plan: JobPlan, { podOwner, signal }: Target): Promise<void> {
    // Pods that the Job did not need are not counted when they end.
    const uncounted = plan.removeCounts ? [] : plan.remove.filter(isTracked);
    await writeAll(
      "finalizer removals",
      uncounted,
      async (pod) => void (await writer.update(podOwner, withoutFinalizer(pod), signal)),
    );
    await writer.remove(podOwner, plan.remove, signal);
  }

  async function writeStatus(job: ReadonlyJob, status: JobStatus, { owner, signal }: Target): Promise<ReadonlyJob> {
    if (equalJson(status, job.status)) return job;
    const written = await client.updateStatus(Job, owner.cluster, { ...job, status }, { signal });
    statusSeen.wrote(owner, written);
    return written;
  }
}

const againAfter = ({ againInMs }: JobPlan): Result =>
  againInMs === undefined ? done : { requeueAfterMs: Math.max(1, againInMs) };
const countNow = ({ active, pods }: JobView): Now => ({
  active: active.length,
  ready: active.filter(isReady).length,
  terminating: pods.filter(isTerminating).length,
});
const trackedUids = ({ pods }: JobView): Set<string> => new Set(pods.filter(isTracked).map(uidOf));

/** A reconcile would write nothing. */
function isSettled(view: JobView, plan: JobPlan, nowMs: number): boolean {
  if (plan.create.length + plan.remove.length > 0) return false;
  const now = countNow(view);
  const { status, end } = planStart(view, plan, now.active, nowMs);
  const tracking = planTracking(view, end, status, now, nowMs);
  return (
    tracking.finalize.length === 0 &&
    equalJson(planCounted(tracking.status, tracking, trackedUids(view), nowMs), view.job.status)
  );
}

function withFinalizer(pod: ReadonlyPod): ReadonlyPod {
  return isTracked(pod)
    ? pod
    : { ...pod, metadata: { ...pod.metadata, finalizers: [...(pod.metadata.finalizers ?? []), TRACKING_FINALIZER] } };
}

export function withoutFinalizer(pod: ReadonlyPod): ReadonlyPod {
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      finalizers: pod.metadata.finalizers?.filter((finalizer) => finalizer !== TRACKING_FINALIZER) ?? [],
    },
  };
}
