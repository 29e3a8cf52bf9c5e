/** Decides what a NodeImage should list: no tags of jobs that are gone or that ended long ago. */
import type { ImageSpec, ImageTagSpec, ImageTagStatus } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { equalJson, formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { NodeImage } from "./nodeimage-kind.ts";

type Read<T> = DeepReadonly<T>;
type ReadonlyNodeImage = Read<NodeImage>;
type OwnerReference = NonNullable<Read<ImageTagSpec>["ownerReferences"]>[number];

/** A node that reports nothing for so long does not pull. */
const RESPONSE_TIMEOUT_MS = 10 * 60_000;

export interface NodeImagePlan {
  /** Unset leaves the object as it is. */
  nodeImage?: ReadonlyNodeImage;
  requeueAfterMs?: number;
}

interface Observed {
  labels: Readonly<Record<string, string>> | undefined;
  exists(owner: OwnerReference): boolean;
  nowMs: number;
}

export function tagStatusOf(
  { status }: ReadonlyNodeImage,
  name: string,
  tag: string,
): Read<ImageTagStatus> | undefined {
  return status?.imageStatuses?.[name]?.tags.find((one) => one.tag === tag);
}

export function planNodeImage(nodeImage: ReadonlyNodeImage, { labels, exists, nowMs }: Observed): NodeImagePlan {
  const waits: number[] = [];
  const keptTag = (name: string, tag: Read<ImageTagSpec>): Read<ImageTagSpec>[] => {
    if (tag.createdAt === undefined) return [];
    const owners = tag.ownerReferences?.filter(exists);
    if (owners?.length === 0 && tag.ownerReferences?.length) return [];
    const endsInMs = removedInMs(nodeImage, name, tag, nowMs);
    if (endsInMs !== undefined && endsInMs <= 0) return [];
    if (endsInMs !== undefined) waits.push(endsInMs);
    return [owners?.length === tag.ownerReferences?.length ? tag : { ...tag, ownerReferences: owners }];
  };
  const images = Object.fromEntries(
    Object.entries(nodeImage.spec?.images ?? {})
      .map(([name, image]): [string, Read<ImageSpec>] => [
        name,
        { ...image, tags: image.tags.flatMap((tag) => keptTag(name, tag)) },
      ])
      .filter(([, { tags }]) => tags.length > 0),
  );
  const requeueAfterMs = waits.length > 0 ? Math.min(...waits) : undefined;
  const { metadata, spec } = nodeImage;
  if (equalJson(images, spec?.images ?? {}) && equalJson(labels ?? {}, metadata.labels ?? {}))
    return { requeueAfterMs };
  return { nodeImage: { ...nodeImage, metadata: { ...metadata, labels }, spec: { ...spec, images } }, requeueAfterMs };
}

function removedInMs(
  nodeImage: ReadonlyNodeImage,
  name: string,
  { tag, version = 0, pullPolicy }: Read<ImageTagSpec>,
  nowMs: number,
): number | undefined {
  const ttl = pullPolicy?.ttlSecondsAfterFinished;
  const status = tagStatusOf(nodeImage, name, tag);
  if (ttl === undefined || status?.completionTime === undefined || (status.version ?? 0) !== version) return undefined;
  return Date.parse(status.completionTime) + ttl * 1000 - nowMs;
}

export interface SilentTags {
  /** Tags that the node has not answered in time, or not finished by their deadline. */
  failed: readonly { name: string; spec: Read<ImageTagSpec>; message: string }[];
  requeueAfterMs?: number;
}

export function findSilentTags(nodeImage: ReadonlyNodeImage, nowMs: number): SilentTags {
  const waits: number[] = [];
  const failed = Object.entries(nodeImage.spec?.images ?? {}).flatMap(([name, { tags }]) =>
    tags.flatMap((spec) => {
      const message = silenceOf(nodeImage, name, spec, nowMs, waits);
      return message === undefined ? [] : [{ name, spec, message }];
    }),
  );
  return { failed, requeueAfterMs: waits.length > 0 ? Math.min(...waits) : undefined };
}

function silenceOf(
  nodeImage: ReadonlyNodeImage,
  name: string,
  { tag, version = 0, createdAt, pullPolicy }: Read<ImageTagSpec>,
  nowMs: number,
  waits: number[],
): string | undefined {
  if (createdAt === undefined) return undefined;
  const status = tagStatusOf(nodeImage, name, tag);
  const answered = status !== undefined && (status.version ?? 0) === version;
  const deadline = pullPolicy?.activeDeadlineSeconds;
  if (answered && (status.completionTime !== undefined || deadline === undefined)) return undefined;
  const leftMs = Date.parse(createdAt) + RESPONSE_TIMEOUT_MS + (answered ? (deadline ?? 0) * 1000 : 0) - nowMs;
  if (leftMs > 0) {
    waits.push(leftMs);
    return undefined;
  }
  return answered ? "pulling exceeds the activeDeadlineSeconds" : "node has not responded for a long time";
}

/** The status with the reports of some tags replaced, without reports of tags that are no longer listed. */
export function withReports(
  { spec, status }: ReadonlyNodeImage,
  reports: readonly { name: string; report: Read<ImageTagStatus> }[],
): Read<NonNullable<NodeImage["status"]>> {
  const entries = Object.entries(spec?.images ?? {}).map(([name, { tags }]) => {
    const own = reports.filter((one) => one.name === name).map(({ report }) => report);
    const reported = tags.flatMap(({ tag }) => {
      const known = status?.imageStatuses?.[name]?.tags.find((one) => one.tag === tag);
      return own.find((one) => one.tag === tag) ?? known ?? [];
    });
    return [name, { tags: reported.toSorted((a, b) => (a.tag < b.tag ? -1 : 1)) }] as const;
  });
  const phases = entries.flatMap(([, { tags }]) => tags.map(({ phase }) => phase));
  const countOf = (phase: string): number => phases.filter((one) => one === phase).length;
  return {
    ...status,
    desired: Object.values(spec?.images ?? {}).reduce((sum, { tags }) => sum + tags.length, 0),
    succeeded: countOf("Succeeded"),
    failed: countOf("Failed"),
    pulling: countOf("Pulling"),
    waiting: countOf("Waiting"),
    imageStatuses: Object.fromEntries(entries.filter(([, { tags }]) => tags.length > 0)),
  };
}

export const failedReport = (
  { tag, version = 0 }: Read<ImageTagSpec>,
  message: string,
  nowMs: number,
  started?: Read<ImageTagStatus>,
): ImageTagStatus => ({
  tag,
  phase: "Failed",
  startTime: started?.startTime,
  completionTime: formatTime(nowMs),
  version,
  message,
});
