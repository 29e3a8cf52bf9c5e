/**
 * ImageListPullJob: keeps an ImagePullJob for each of its images.
 *
 * Reads: ImageListPullJob, its ImagePullJobs.
 * Writes: ImagePullJob (create, delete), ImageListPullJob status and a label; deletes the ImageListPullJob after its
 * ttlSecondsAfterFinished.
 */
import { controllerOf } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { createExpectations } from "@flotilla/kubernetes";
import type { WorkloadDependencies } from "@flotilla/kubernetes";
import { ImagePullJob } from "../imagepulljob/imagepulljob-kind.ts";
import { ImageListPullJob } from "./imagelistpulljob-kind.ts";
import { planImageListPullJob } from "./plan-imagelistpulljob.ts";
import type { ReadonlyImageListPullJob } from "./plan-imagelistpulljob.ts";

const INDEX = "image-list-pull-job";

export function createImageListPullJobController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const children = informers.of(ImagePullJob);
  children.addIndex(INDEX, (child, cluster) => {
    const owner = controllerOf(child);
    return owner?.kind === ImageListPullJob.kind ? [`${cluster}/${owner.uid}`] : [];
  });
  const childrenSeen = createExpectations(children, clock);
  const statusSeen = createExpectations(informers.of(ImageListPullJob), clock);
  const events = deps.events?.("imagelistpulljob-controller");

  return defineController({
    name: "imagelistpulljob",
    for: ImageListPullJob,
    watches: [owned(ImagePullJob)],
    writes: [ImagePullJob, ImageListPullJob],

    async reconcile(job, { key, signal }) {
      if (job.metadata.deletionTimestamp !== undefined) return done;
      const { cluster } = key;
      const owner = { cluster, uid: job.metadata.uid ?? "" };
      const waitMs = Math.max(childrenSeen.waitMs(owner), statusSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      if (job.status?.completionTime !== undefined) return expire(job, key, job.status.completionTime, signal);
      const own = children
        .by(INDEX, `${cluster}/${owner.uid}`)
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const plan = planImageListPullJob(job, own, clock.now());
      if (plan.label)
        await unlessChanged(
          client.patch(ImageListPullJob, key, { metadata: { labels: plan.label } }, { type: "merge", signal }),
        );
      for (const child of plan.create)
        childrenSeen.wrote(owner, await client.create(ImagePullJob, cluster, child, { signal }));
      for (const child of plan.remove) {
        await unlessChanged(
          client.delete(ImagePullJob, keyOf(cluster, child), { preconditions: { uid: child.metadata.uid }, signal }),
        );
        childrenSeen.deleted(owner, child);
      }
      report(job, cluster, plan.create.length, plan.remove.length);
      if (equalJson(plan.status, job.status)) return done;
      const latest = await client.get(ImageListPullJob, key, { signal });
      const written = await unlessChanged(
        client.updateStatus(ImageListPullJob, cluster, { ...latest, status: plan.status }, { signal }),
      );
      if (written) statusSeen.wrote(owner, written);
      return done;
    },
  });

  function report(job: ReadonlyImageListPullJob, cluster: string, created: number, deleted: number): void {
    const record = (verb: string, count: number): void => {
      if (count > 0)
        events?.record(cluster, job, {
          type: "Normal",
          reason: `Successful ${verb} ImagePullJob`,
          message: `${verb === "create" ? "Create" : "Delete"} ${count} ImagePullJob`,
        });
    };
    record("create", created);
    record("delete", deleted);
  }

  async function expire(
    job: ReadonlyImageListPullJob,
    key: ObjectKey,
    completionTime: string,
    signal: AbortSignal,
  ): Promise<Result> {
    const ttl = job.spec.completionPolicy.ttlSecondsAfterFinished;
    if (ttl === undefined) return done;
    const leftMs = Date.parse(completionTime) + ttl * 1000 - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await unlessChanged(client.delete(ImageListPullJob, key, { preconditions: { uid: job.metadata.uid }, signal }));
    return done;
  }
}
