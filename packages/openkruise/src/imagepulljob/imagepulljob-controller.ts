/**
 * ImagePullJob: asks nodes to pull an image, a few at a time.
 *
 * Reads: ImagePullJob, NodeImage, Pod (with podSelector), its Secrets.
 * Writes: NodeImage (tags of the job), copies of Secrets, ImagePullJob status and finalizer; deletes the ImagePullJob
 * after its ttlSecondsAfterFinished.
 * Before: the controller of NodeImages creates one for each node. After: the daemons of the nodes pull.
 */
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { createExpectations, Namespace, Pod, Secret } from "@flotilla/kubernetes";
import type { WorkloadDependencies } from "@flotilla/kubernetes";
import { NodeImage } from "../nodeimage/nodeimage-kind.ts";
import { ImagePullJob } from "./imagepulljob-kind.ts";
import { createJobNodes } from "./job-nodes.ts";
import { planImagePullJob } from "./plan-imagepulljob.ts";
import type { ReadonlyImagePullJob } from "./plan-imagepulljob.ts";
import { PROTECTION_FINALIZER } from "./protection.ts";
import { createPullSecrets } from "./pull-secrets.ts";

export function createImagePullJobController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock, random } = deps;
  const nodes = createJobNodes(informers);
  const secrets = createPullSecrets({ client, random });
  const nodeImagesSeen = createExpectations(informers.of(NodeImage), clock);
  const statusSeen = createExpectations(informers.of(ImagePullJob), clock);

  return defineController({
    name: "imagepulljob",
    for: ImagePullJob,
    watches: [watch(NodeImage, nodes.jobsOfNodeImage), watch(Pod, nodes.jobsOfPod), watch(Secret, nodes.jobsOfSecret)],
    writes: [NodeImage, ImagePullJob, Secret, Namespace],

    async reconcile(job, { key, signal }) {
      const { cluster } = key;
      const owner = { cluster, uid: job.metadata.uid ?? "" };
      const waitMs = Math.max(nodeImagesSeen.waitMs(owner), statusSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      if (job.metadata.deletionTimestamp !== undefined || job.status?.completionTime !== undefined)
        return end(job, key, signal);
      if (!isProtected(job)) {
        await setProtected(job, key, true, signal);
        return done; // The change reconciles it again.
      }
      const plan = planImagePullJob(job, {
        nodeImages: nodes.of(job, cluster),
        secrets: await secrets.claim(job, cluster, signal),
        nowMs: clock.now(),
        random,
      });
      for (const nodeImage of plan.update) {
        const written = await unlessChanged(client.update(NodeImage, cluster, nodeImage, { signal }));
        if (written) nodeImagesSeen.wrote(owner, written);
      }
      if (!equalJson(plan.status, job.status)) {
        const written = await unlessChanged(
          client.updateStatus(ImagePullJob, cluster, { ...job, status: plan.status }, { signal }),
        );
        if (written) statusSeen.wrote(owner, written);
      }
      return plan.requeueAfterMs === undefined ? done : { requeueAfterMs: plan.requeueAfterMs };
    },
  });

  async function end(job: ReadonlyImagePullJob, key: ObjectKey, signal: AbortSignal): Promise<Result> {
    if (isProtected(job)) {
      await secrets.release(job, key.cluster, signal);
      await setProtected(job, key, false, signal);
      return done; // The change reconciles it again.
    }
    const { completionTime } = job.status ?? {};
    const ttl = job.spec.completionPolicy.ttlSecondsAfterFinished;
    if (job.metadata.deletionTimestamp !== undefined || completionTime === undefined || ttl === undefined) return done;
    const leftMs = Date.parse(completionTime) + ttl * 1000 - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await unlessChanged(client.delete(ImagePullJob, key, { preconditions: { uid: job.metadata.uid }, signal }));
    return done;
  }

  async function setProtected(
    job: ReadonlyImagePullJob,
    key: ObjectKey,
    wanted: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const others = (job.metadata.finalizers ?? []).filter((one) => one !== PROTECTION_FINALIZER);
    const finalizers = wanted ? [...others, PROTECTION_FINALIZER] : others;
    const written = await unlessChanged(
      client.update(ImagePullJob, key.cluster, { ...job, metadata: { ...job.metadata, finalizers } }, { signal }),
    );
    if (written) statusSeen.wrote({ cluster: key.cluster, uid: job.metadata.uid ?? "" }, written);
  }
}

const isProtected = ({ metadata }: ReadonlyImagePullJob): boolean =>
  metadata.finalizers?.includes(PROTECTION_FINALIZER) ?? false;
