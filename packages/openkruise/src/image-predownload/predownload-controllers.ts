/**
 * Pulls the images of an update to the nodes of the pods before they are updated in place.
 *
 * Reads: CloneSet, Advanced StatefulSet, Advanced DaemonSet, their ControllerRevisions and ImagePullJobs.
 * Writes: ImagePullJob (create, delete); ControllerRevision, once: a label with the decision.
 * After: the controller of ImagePullJobs pulls the images.
 */
import { controllerOf, isAlreadyExists } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import { ControllerRevision, inRevisionOrder, ownedBy } from "@flotilla/kubernetes";
import type { ReadonlyRevision } from "@flotilla/kubernetes";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import type { FeatureGates } from "../api/feature-gates.ts";
import type { KruiseDependencies } from "../api/kruise-definition.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { AdvancedDaemonSet } from "../daemonset/daemonset-kind.ts";
import { ImagePullJob } from "../imagepulljob/imagepulljob-kind.ts";
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import { planPreDownload } from "./plan-predownload.ts";
import type { ReadonlyPullJob, UpdateView } from "./plan-predownload.ts";
import { viewOfCloneSet, viewOfDaemonSet, viewOfStatefulSet } from "./update-views.ts";

const BY_OWNER = "image-predownload-owner";

export function createPreDownloadControllers(deps: KruiseDependencies): Controller<ObjectKey>[] {
  const gates = deps.gates ?? DEFAULT_GATES;
  const forPods = gates.isOn("PreDownloadImageForInPlaceUpdate");
  const forDaemons = gates.isOn("PreDownloadImageForDaemonSetUpdate");
  if (!forPods && !forDaemons) return [];
  deps.informers.of(ImagePullJob).addIndex(BY_OWNER, (job, cluster) => {
    const owner = controllerOf(job);
    return owner ? [`${cluster}/${owner.uid}`] : [];
  });
  return [
    ...(forPods
      ? [
          createPreDownload(deps, gates, CloneSet, "cloneset", viewOfCloneSet),
          createPreDownload(deps, gates, AdvancedStatefulSet, "statefulset", viewOfStatefulSet),
        ]
      : []),
    ...(forDaemons ? [createPreDownload(deps, gates, AdvancedDaemonSet, "daemonset", viewOfDaemonSet)] : []),
  ];
}

function createPreDownload<T extends KubernetesObject>(
  { client, informers, events: recorders }: KruiseDependencies,
  gates: FeatureGates,
  kind: Kind<T>,
  name: string,
  viewOf: (workload: DeepReadonly<T>, revisions: readonly ReadonlyRevision[], gates: FeatureGates) => UpdateView,
): Controller<ObjectKey> {
  const revisions = informers.of(ControllerRevision);
  const jobs = informers.of(ImagePullJob);
  const events = recorders?.(`${name}-controller`);
  return defineController<T>({
    name: `image-predownload-${name}`,
    for: kind,
    watches: [owned(ControllerRevision)],
    writes: [ImagePullJob, ControllerRevision],

    async reconcile(workload, { key, signal }) {
      const { uid, deletionTimestamp } = workload.metadata;
      if (deletionTimestamp) return done;
      const known = inRevisionOrder(ownedBy(revisions, key.cluster, uid));
      const view = viewOf(workload, known, gates);
      const plan = planPreDownload(view);
      if (plan.removeAll) {
        for (const job of jobs.by(BY_OWNER, `${key.cluster}/${uid ?? ""}`)) await remove(job, key, signal);
        return done;
      }
      for (const job of plan.create) await create(workload, job, key, signal);
      if (plan.label && view.update)
        await unlessChanged(
          client.patch(
            ControllerRevision,
            keyOf(key.cluster, view.update),
            { metadata: { labels: plan.label } },
            { type: "merge", signal },
          ),
        );
      return done;
    },
  });

  async function remove(job: ReadonlyPullJob, { cluster }: ObjectKey, signal: AbortSignal): Promise<void> {
    if (job.metadata.deletionTimestamp) return;
    const preconditions = { uid: job.metadata.uid };
    await unlessChanged(client.delete(ImagePullJob, keyOf(cluster, job), { preconditions, signal }));
  }

  async function create(
    workload: DeepReadonly<T>,
    job: ReadonlyPullJob,
    { cluster }: ObjectKey,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await client.create(ImagePullJob, cluster, job, { signal });
      events?.record(cluster, workload, {
        type: "Normal",
        reason: "CreatedImagePullJob",
        message: `created ImagePullJob ${job.metadata.name} for image: ${job.spec.image}`,
      });
    } catch (error) {
      if (isAlreadyExists(error)) return;
      events?.record(cluster, workload, {
        type: "Normal",
        reason: "FailedCreateImagePullJob",
        message: `failed to create ImagePullJob ${job.metadata.name}: ${messageOf(error)}`,
      });
      throw error;
    }
  }
}
