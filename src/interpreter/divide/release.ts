/**
 * Which release a member's copy belongs to. Every copy of a staged rollout carries, as an annotation, a digest of what
 * makes the release (the pod template before overrides) and the partition that the template had. So the next division
 * can tell progress of the same release, which is never taken back by itself, from a new release and from a partition
 * that a person raised.
 *
 * The annotation is on the workload and not in its pod template, where it would make a revision of its own.
 */
import { createHash } from "node:crypto";
import type { KubernetesObject } from "../../api/index.ts";
import { isObject, type DeepReadonly } from "../../base/index.ts";
import { percentOf, type IntOrPercent } from "./split-partition.ts";

/**
 * `<digest>/<partition>`, for example `9f86d081884c7d65/50%`. Where only the member knows how many pods it has, `@` and
 * the number of pods that the copy lets through follow.
 */
export const ROLLOUT_STAGE = "flotilla.dev/rollout-stage";

/** Enough that two releases of one workload do not meet. */
const DIGEST_LENGTH = 16;

type Annotated = DeepReadonly<KubernetesObject>;

export function withStage<T extends Annotated>(copy: T, digest: string, partition: IntOrPercent, updated?: number): T {
  return withAnnotation(copy, ROLLOUT_STAGE, `${digest}/${partition}${updated === undefined ? "" : `@${updated}`}`);
}

/** With undefined the annotation is taken off, also where the template brought one along. */
export function withAnnotation<T extends Annotated>(object: T, name: string, value: string | undefined): T {
  const { annotations } = object.metadata;
  if (annotations?.[name] === value) return object;
  const { [name]: _before, ...others } = annotations ?? {};
  return {
    ...object,
    metadata: { ...object.metadata, annotations: value === undefined ? others : { ...others, [name]: value } },
  };
}

/**
 * The partition of the template for which a copy was made; undefined when the copy is of another release or of no
 * staged one.
 */
export function stagedPartition(copy: Annotated, digest: string): IntOrPercent | undefined {
  const [text] = stageIn(copy, digest)?.split("@") ?? [];
  if (text === undefined) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  // Whatever else is there is not ours: a copy can be edited by hand.
  return percentOf(text) === undefined ? undefined : text;
}

/** How many pods a copy of this release lets through, where that is written on it. */
export function stagedUpdated(copy: Annotated, digest: string): number {
  const [, updated = ""] = stageIn(copy, digest)?.split("@") ?? [];
  return /^\d{1,10}$/.test(updated) ? Number(updated) : 0;
}

/** What a copy's stage says behind the digest; undefined when the copy is of another release or of no staged one. */
export function stageIn({ metadata }: Annotated, digest: string): string | undefined {
  const stamp = metadata.annotations?.[ROLLOUT_STAGE] ?? "";
  return stamp.startsWith(`${digest}/`) ? stamp.slice(digest.length + 1) : undefined;
}

/** Templates are shared and never changed, so one that is divided again and again is read once. */
const known = new WeakMap<object, string>();

export function digestOf(release: unknown): string {
  const cached = isObject(release) ? known.get(release) : undefined;
  if (cached !== undefined) return cached;
  const text = JSON.stringify(sorted(release)) ?? "";
  const digest = createHash("sha256").update(text).digest("hex").slice(0, DIGEST_LENGTH);
  if (isObject(release)) known.set(release, digest);
  return digest;
}

/** The order of keys has no meaning and must not make a release. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}
