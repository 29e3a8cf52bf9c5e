/**
 * BroadcastJob: OpenKruise's job that runs once on every node.
 *
 * Reads: BroadcastJob, its pods, Node.
 * Writes: Pod, BroadcastJob status; deletes the BroadcastJob after its ttlSecondsAfterFinished.
 */
import { BroadcastJob } from "./broadcastjob-kind.ts";
import {
  createExpectations,
  createPodWriter,
  createStatusDelay,
  Node,
  ownedBy,
  Pod,
  STATUS_DELAY_MS,
} from "@flotilla/kubernetes";
import type { PodWords, WorkloadDependencies } from "@flotilla/kubernetes";
import { TerminalError, equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, keyOf, owned, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent, Result } from "@flotilla/controller-runtime";
import { broadcastPod } from "./new-pod.ts";
import { deadlineInMs, isFinished, parallelismProblem, planBroadcastJob } from "./plan-broadcastjob.ts";
import type { BroadcastPlan, ReadonlyBroadcastJob } from "./plan-broadcastjob.ts";

const WORDS: PodWords = {
  done: (verb, pod) => `${verb === "create" ? "Created" : "Delete"} pod: ${pod}`,
  failed: (verb, _pod, _owner, why) => `Error ${verb === "create" ? "creating" : "deleting"}: ${why}`,
};

export function createBroadcastJobController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock, random } = deps;
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const jobs = informers.of(BroadcastJob);
  const podsSeen = createExpectations(pods, clock);
  const statusSeen = createExpectations(jobs, clock);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const events = deps.events?.("broadcastjob-controller");
  const writer = createPodWriter({ client, expectations: podsSeen, events, words: WORDS });

  return defineController({
    name: "broadcastjob",
    for: BroadcastJob,
    watches: [owned(Pod), watch(Node, (event) => (changesPlaces(event) ? runningJobs(event.cluster) : []))],
    writes: [Pod, BroadcastJob],

    async reconcile(job, { key, signal }) {
      const { cluster } = key;
      const owner = { cluster, uid: job.metadata.uid ?? "" };
      const waitMs = Math.max(podsSeen.waitMs(owner), statusSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      // A job with a pending status update evaluates all nodes when that update is due.
      const left = job.status?.phase === "running" ? statusDelay.leftMs(idOfKey(key)) : 0;
      if (left > 0) return { requeueAfterMs: left };
      const plan = planBroadcastJob({
        job,
        nodes: nodes.list({ cluster }),
        pods: ownedBy(pods, cluster, owner.uid),
        nowMs: clock.now(),
      });
      if (plan.removeJob) {
        await unlessChanged(client.delete(BroadcastJob, key, { preconditions: { uid: owner.uid }, signal }));
        return done;
      }
      await writer.remove({ cluster, object: job }, plan.remove, signal);
      await writer.create(
        { cluster, object: job },
        plan.create.map((node) => broadcastPod(job, node, random)),
        signal,
      );
      const result = await settle(job, plan, key, signal);
      // Reported after the status is written; only a change of the job helps.
      const problem = isFinished(job) ? undefined : parallelismProblem(job);
      if (problem !== undefined) throw new TerminalError(problem);
      return result;
    },
    forget: (key) => statusDelay.settled(idOfKey(key)),
  });

  async function settle(
    job: ReadonlyBroadcastJob,
    { status, events: reported, requeueAfterMs }: BroadcastPlan,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<Result> {
    const waits = [
      requeueAfterMs || undefined,
      isFinished(job) ? undefined : deadlineInMs({ ...job, status }, clock.now()),
    ].filter((wait) => wait !== undefined);
    const again = waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : done;
    if (equalJson(status, job.status)) {
      statusDelay.settled(idOfKey(key));
      return again;
    }
    // Only counts may be delayed: the start and the end of a job are written at once.
    const isStep = status.phase !== job.status?.phase || status.conditions?.length !== job.status?.conditions?.length;
    const leftMs = isStep ? 0 : statusDelay.waitMs(idOfKey(key));
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const written = await unlessChanged(client.updateStatus(BroadcastJob, key.cluster, { ...job, status }, { signal }));
    if (!written) return done; // The job changed in the meantime: the event triggers another reconcile.
    statusSeen.wrote({ cluster: key.cluster, uid: job.metadata.uid ?? "" }, written);
    statusDelay.settled(idOfKey(key));
    for (const event of reported) events?.record(key.cluster, job, event);
    return again;
  }

  function runningJobs(cluster: string): ObjectKey[] {
    return jobs
      .list({ cluster })
      .filter((job) => !isFinished(job))
      .map((job) => keyOf(cluster, job));
  }
}

/** Node heartbeats do not affect a job. */
function changesPlaces({ object, old, deleted }: ObjectEvent<Node>): boolean {
  if (!old || deleted) return true;
  return (
    !equalJson(old.metadata.labels, object.metadata.labels) ||
    !equalJson(old.spec, object.spec) ||
    !equalJson(old.status?.allocatable, object.status?.allocatable)
  );
}
