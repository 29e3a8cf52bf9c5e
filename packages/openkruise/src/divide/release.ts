/**
 * Identifies the release of a member's copy. Every copy of a staged rollout has an annotation with a digest of the
 * release (the pod template before overrides) and the template's partition. So the next division can distinguish
 * progress of the same release, which is never rolled back automatically, from a new release and from a partition
 * raised by a user.
 *
 * The annotation is on the workload, not in its pod template, where it would create a new revision.
 */
import { createHash } from "node:crypto";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly } from "@flotilla/base";
import { keptPods, percentOf, type IntOrPercent } from "./split-partition.ts";

/**
 * `<digest>/<partition>`, for example `9f86d081884c7d65/50%`. If only the member knows its pod count, `@` and the
 * number of pods that the copy lets through follow. A trailing `~` means that the partition was raised during the
 * release, where that does not roll pods back.
 */
export const ROLLOUT_STAGE = "flotilla.dev/rollout-stage";

/** Long enough to avoid collisions between two releases of one workload. */
const DIGEST_LENGTH = 16;

type Annotated = DeepReadonly<KubernetesObject>;

export function withStage<T extends Annotated>(
  copy: T,
  digest: string,
  partition: IntOrPercent,
  { updated, isRaised }: { updated?: number; isRaised?: boolean } = {},
): T {
  const progress = updated === undefined ? "" : `@${updated}`;
  return withAnnotation(copy, ROLLOUT_STAGE, `${digest}/${partition}${progress}${isRaised ? RAISED : ""}`);
}

const RAISED = "~";

/** Whether the stage of a copy says so. */
export const isStageRaised = ({ metadata }: Annotated): boolean =>
  metadata.annotations?.[ROLLOUT_STAGE]?.endsWith(RAISED) ?? false;

/**
 * Whether a partition keeps back more of `total` pods than before in the same release. `before` is the last copy, and
 * `isRelease` whether it belongs to the release although it has no stage, because it kept nothing back.
 */
export function isPartitionRaised(
  before: Annotated | undefined,
  {
    digest,
    partition,
    total,
    isRelease,
  }: { digest: string; partition: IntOrPercent; total: number; isRelease: boolean },
): boolean {
  if (!before) return false;
  const last = stagedPartition(before, digest) ?? (isRelease ? 0 : undefined);
  if (last === undefined) return false;
  const [kept, keptBefore] = [keptPods(partition, total), keptPods(last, total)];
  return kept > keptBefore || (isStageRaised(before) && kept === keptBefore);
}

/** Undefined removes the annotation, also one that comes from the template. */
export function withAnnotation<T extends Annotated>(object: T, name: string, value: string | undefined): T {
  const { annotations } = object.metadata;
  if (annotations?.[name] === value) return object;
  const { [name]: _before, ...others } = annotations ?? {};
  return {
    ...object,
    metadata: { ...object.metadata, annotations: value === undefined ? others : { ...others, [name]: value } },
  };
}

const AFTER_PARTITION = /[@~]/;

/**
 * The template's partition for which a copy was made; undefined when the copy belongs to another release or to no
 * staged one.
 */
export function stagedPartition(copy: Annotated, digest: string): IntOrPercent | undefined {
  const [text] = stageIn(copy, digest)?.split(AFTER_PARTITION) ?? [];
  if (text === undefined) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  // Any other text is ignored: a copy can be edited by hand.
  return percentOf(text) === undefined ? undefined : text;
}

/** The number of pods that a copy of this release lets through, if it is recorded on the copy. */
export function stagedUpdated(copy: Annotated, digest: string): number {
  const [, updated = ""] = stageIn(copy, digest)?.split(AFTER_PARTITION) ?? [];
  return /^\d{1,10}$/.test(updated) ? Number(updated) : 0;
}

/**
 * The part of a copy's stage after the digest; undefined when the copy belongs to another release or to no staged one.
 */
export function stageIn({ metadata }: Annotated, digest: string): string | undefined {
  const stamp = metadata.annotations?.[ROLLOUT_STAGE] ?? "";
  return stamp.startsWith(`${digest}/`) ? stamp.slice(digest.length + 1) : undefined;
}

/** Templates are shared and immutable, so the digest of each is computed once. */
const known = new WeakMap<object, string>();

export function digestOf(release: unknown): string {
  const cached = isObject(release) ? known.get(release) : undefined;
  if (cached !== undefined) return cached;
  const text = release === undefined ? "" : textOf(release);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, DIGEST_LENGTH);
  if (isObject(release)) known.set(release, digest);
  return digest;
}

/**
 * JSON in which an object is a list of its fields in order: the order of keys is irrelevant and must not create a release.
 * Stages of running rollouts contain the digest of this text.
 */
const textOf = (value: unknown): string => JSON.stringify(listed(value)) ?? "null";

function listed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(listed);
  if (!isObject(value)) return value;
  return Object.keys(value)
    .sort()
    .map((key) => [key, listed(value[key])]);
}
