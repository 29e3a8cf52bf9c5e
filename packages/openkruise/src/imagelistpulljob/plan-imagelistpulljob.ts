/** Decides which ImagePullJobs an ImageListPullJob needs, and what its status reports. */
import { hash } from "node:crypto";
import { controllerReference } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ImagePullJob } from "../imagepulljob/imagepulljob-kind.ts";
import type { ImageListPullJob } from "./imagelistpulljob-kind.ts";

export type ReadonlyImageListPullJob = DeepReadonly<ImageListPullJob>;
type ReadonlyImagePullJob = DeepReadonly<ImagePullJob>;
type Status = NonNullable<ImageListPullJob["status"]>;

const HASH_LABEL = "controller-revision-hash";

export interface ImageListPlan {
  status: Status;
  create: readonly ReadonlyImagePullJob[];
  remove: readonly ReadonlyImagePullJob[];
  /** The label with the hash of the template, unless the job has it. */
  label?: Readonly<Record<string, string>>;
}

/** `children` are the ImagePullJobs of the job that are not being deleted. */
export function planImageListPullJob(
  job: ReadonlyImageListPullJob,
  children: readonly ReadonlyImagePullJob[],
  nowMs: number,
): ImageListPlan {
  const { images, ...template } = job.spec;
  const hashed = hash("sha256", JSON.stringify(template)).slice(0, 10);
  const isCurrent = ({ metadata, spec }: ReadonlyImagePullJob): boolean =>
    metadata.labels?.[HASH_LABEL] === hashed && images.includes(spec.image);
  const current = children.filter(isCurrent);
  const kept = new Map(current.map((child) => [child.spec.image, child]));
  return {
    status: statusOf(job, children, nowMs),
    create: images.filter((image) => !kept.has(image)).map((image) => childOf(job, image, template, hashed)),
    remove: children.filter((child) => kept.get(child.spec.image) !== child),
    label: job.metadata.labels?.[HASH_LABEL] === hashed ? undefined : { [HASH_LABEL]: hashed },
  };
}

function childOf(
  job: ReadonlyImageListPullJob,
  image: string,
  template: Omit<ReadonlyImageListPullJob["spec"], "images">,
  hashed: string,
): ReadonlyImagePullJob {
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "ImagePullJob",
    metadata: {
      name: "",
      generateName: `${job.metadata.name}-`,
      namespace: job.metadata.namespace,
      labels: { [HASH_LABEL]: hashed },
      ownerReferences: [controllerReference(job)],
    },
    spec: { ...template, image },
  };
}

function statusOf(
  { spec, status }: ReadonlyImageListPullJob,
  children: readonly ReadonlyImagePullJob[],
  nowMs: number,
): Status {
  const started = children.filter((child) => child.status?.startTime !== undefined);
  const countOf = (test: (counts: { desired: number; failed: number; succeeded: number }) => boolean): number =>
    started.filter((child) => test({ failed: 0, succeeded: 0, ...child.status, desired: child.status?.desired ?? 0 }))
      .length;
  const desired = spec.images.length;
  const completed = countOf((counts) => counts.desired === counts.failed + counts.succeeded);
  const failed = started
    .filter((child) => (child.status?.failed ?? 0) > 0)
    .toSorted((a, b) => (a.spec.image < b.spec.image ? -1 : 1));
  return {
    startTime: status?.startTime ?? formatTime(nowMs),
    completionTime: spec.completionPolicy.type !== "Never" && desired === completed ? formatTime(nowMs) : undefined,
    desired,
    active: started.filter((child) => (child.status?.active ?? 0) > 0).length,
    completed,
    succeeded: countOf((counts) => counts.desired === counts.succeeded),
    failedImageStatuses:
      failed.length > 0
        ? failed.map(({ metadata, spec: { image } }) => ({
            imagePullJob: metadata.name,
            name: image,
            message: `Please check for details which nodes failed by 'kubectl get ImagePullJob ${metadata.name}'.`,
          }))
        : undefined,
  };
}
