/** Decides which nodes pull the image of an ImagePullJob next, and what its status reports. */
import type {
  ImageSpec,
  ImageTagPullPolicy,
  ImageTagSpec,
  ReferenceObject,
} from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly, Random } from "@flotilla/base";
import type { NodeImage } from "../nodeimage/nodeimage-kind.ts";
import { tagStatusOf } from "../nodeimage/plan-nodeimage.ts";
import { nameAndTagOf } from "../pod/image-reference.ts";
import { PULL_BACKOFF_LIMIT, PULL_TIMEOUT_SECONDS } from "../pod/pull-limits.ts";
import type { ImagePullJob } from "./imagepulljob-kind.ts";

export type ReadonlyImagePullJob = DeepReadonly<ImagePullJob>;
export type ReadonlyNodeImage = DeepReadonly<NodeImage>;
type Read<T> = DeepReadonly<T>;
type Status = NonNullable<ImagePullJob["status"]>;

export interface PullPlan {
  status: Status;
  /** NodeImages with the image of the job added. */
  update: readonly ReadonlyNodeImage[];
  requeueAfterMs?: number;
}

interface Observed {
  /** The NodeImages of the selected nodes, in the order in which they pull. */
  nodeImages: readonly ReadonlyNodeImage[];
  secrets: readonly ReferenceObject[];
  nowMs: number;
  random: Random;
}

interface Sorted {
  pulling: string[];
  succeeded: string[];
  failed: string[];
  /** Nodes that have not been asked yet. */
  unasked: ReadonlyNodeImage[];
}

export function planImagePullJob(job: ReadonlyImagePullJob, observed: Observed): PullPlan {
  const { nodeImages, nowMs } = observed;
  const { completionPolicy, parallelism = 1 } = job.spec;
  const sorted = sortNodes(job, observed);
  const { pulling, succeeded, failed, unasked } = sorted;
  const startTime = job.status?.startTime ?? formatTime(nowMs);
  const desired = nodeImages.length;
  const isDone = desired === succeeded.length + failed.length;
  const ends = completionPolicy.type !== "Never";
  const leftMs =
    ends && completionPolicy.activeDeadlineSeconds !== undefined
      ? Date.parse(startTime) + completionPolicy.activeDeadlineSeconds * 1000 - nowMs
      : undefined;
  if (!isDone && leftMs !== undefined && leftMs <= 0) {
    const failedNodes = [...failed, ...pulling, ...unasked.map(({ metadata }) => metadata.name).toSorted()];
    return {
      status: {
        startTime,
        completionTime: formatTime(nowMs),
        desired,
        succeeded: succeeded.length,
        failed: failedNodes.length,
        failedNodes,
        message: "job exceeds activeDeadlineSeconds",
      },
      update: [],
    };
  }
  const completionTime = ends && isDone ? formatTime(nowMs) : undefined;
  const room = Math.max(Number(parallelism) - pulling.length, 0);
  return {
    status: {
      startTime,
      completionTime,
      desired,
      active: pulling.length,
      succeeded: succeeded.length,
      failed: failed.length,
      failedNodes: failed.length > 0 ? failed.toSorted() : undefined,
      message: messageOf(completionTime !== undefined, desired, succeeded.length + failed.length),
    },
    update: unasked
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .slice(0, room)
      .map((nodeImage) => withImage(nodeImage, job, observed)),
    requeueAfterMs: leftMs === undefined || completionTime !== undefined ? undefined : Math.max(leftMs, 1000),
  };
}

function messageOf(isCompleted: boolean, desired: number, ended: number): string {
  if (isCompleted) return "job has completed";
  if (desired === 0) return "job is running, no progress";
  return `job is running, progress ${((100 * ended) / desired).toFixed(1)}%`;
}

function sortNodes(job: ReadonlyImagePullJob, { nodeImages, secrets }: Observed): Sorted {
  const { name, tag } = nameAndTagOf(job.spec.image);
  const sorted: Sorted = { pulling: [], succeeded: [], failed: [], unasked: [] };
  for (const nodeImage of nodeImages) {
    const image = nodeImage.spec?.images?.[name];
    const asked = image?.tags.find((one) => one.tag === tag && isOwned(one, job));
    const hasSecrets = secrets.every((secret) => image?.pullSecrets?.some((one) => isSame(one, secret)));
    if (!asked || !hasSecrets) sorted.unasked.push(nodeImage);
    if (!asked) continue;
    const status = tagStatusOf(nodeImage, name, tag);
    const phase = status && (status.version ?? 0) === (asked.version ?? 0) ? status.phase : undefined;
    const at = phase === "Succeeded" ? sorted.succeeded : phase === "Failed" ? sorted.failed : sorted.pulling;
    at.push(nodeImage.metadata.name);
  }
  return sorted;
}

const isOwned = ({ ownerReferences = [] }: Read<ImageTagSpec>, { metadata }: ReadonlyImagePullJob): boolean =>
  ownerReferences.some(({ uid }) => uid === metadata.uid);

const isSame = (a: Read<ReferenceObject>, b: Read<ReferenceObject>): boolean =>
  a.namespace === b.namespace && a.name === b.name;

/** Asks a node for the image. A tag that other jobs have asked for is pulled again. */
function withImage(
  nodeImage: ReadonlyNodeImage,
  job: ReadonlyImagePullJob,
  { secrets, nowMs, random }: Observed,
): ReadonlyNodeImage {
  const { name, tag } = nameAndTagOf(job.spec.image);
  const image: Read<ImageSpec> = nodeImage.spec?.images?.[name] ?? { tags: [] };
  const asked = { createdAt: formatTime(nowMs), imagePullPolicy: job.spec.imagePullPolicy };
  const known = image.tags.find((one) => one.tag === tag);
  const owner = ownerOf(job);
  const reported = tagStatusOf(nodeImage, name, tag)?.version ?? -1;
  const next: Read<ImageTagSpec> = !known
    ? { tag, version: reported + 1, pullPolicy: pullPolicyOf(job, random), ownerReferences: [owner], ...asked }
    : isOwned(known, job)
      ? known
      : {
          ...known,
          version: (known.version ?? 0) + 1,
          ownerReferences: [...(known.ownerReferences ?? []), owner],
          ...asked,
        };
  const added = secrets.filter((secret) => !image.pullSecrets?.some((one) => isSame(one, secret)));
  const pullSecrets = [...(image.pullSecrets ?? []), ...added];
  const tags = [...image.tags.filter((one) => one !== known), next].toSorted((a, b) => (a.tag < b.tag ? -1 : 1));
  return {
    ...nodeImage,
    spec: {
      ...nodeImage.spec,
      images: {
        ...nodeImage.spec?.images,
        [name]: {
          sandboxConfig: job.spec.sandboxConfig,
          pullSecrets: pullSecrets.length > 0 ? pullSecrets : undefined,
          tags,
        },
      },
    },
  };
}

const ownerOf = ({ metadata }: ReadonlyImagePullJob): NonNullable<ImageTagSpec["ownerReferences"]>[number] => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "ImagePullJob",
  name: metadata.name,
  namespace: metadata.namespace,
  uid: metadata.uid,
});

/** After the end of a pull, so that a job that looks late still finds its result. */
const KEPT_SECONDS = { always: 300, never: 24 * 3600 };
const NEVER_DEADLINE_SECONDS = 1800;
/** Nodes do not drop their tags at the same moment. */
const SPREAD_SECONDS = { always: 300, never: 1200 };

function pullPolicyOf({ spec }: ReadonlyImagePullJob, random: Random): ImageTagPullPolicy {
  const { timeoutSeconds = PULL_TIMEOUT_SECONDS, backoffLimit = PULL_BACKOFF_LIMIT } = spec.pullPolicy ?? {};
  const { type, activeDeadlineSeconds, ttlSecondsAfterFinished } = spec.completionPolicy;
  if (type === "Never")
    return {
      timeoutSeconds,
      backoffLimit,
      ttlSecondsAfterFinished:
        KEPT_SECONDS.never + Math.floor(random.next() * SPREAD_SECONDS.never) - SPREAD_SECONDS.never / 2,
      activeDeadlineSeconds: Math.max(timeoutSeconds, NEVER_DEADLINE_SECONDS),
    };
  const base = ttlSecondsAfterFinished ?? activeDeadlineSeconds ?? timeoutSeconds * backoffLimit;
  return {
    timeoutSeconds,
    backoffLimit,
    ttlSecondsAfterFinished: base + KEPT_SECONDS.always + Math.floor(random.next() * SPREAD_SECONDS.always),
    activeDeadlineSeconds,
  };
}
