/**
 * The stage on a CloneSet copy, which describes its member's part in a rollout: how many pods run the release, how many
 * pods it has, and in which direction the copy is written.
 *
 * A split of pods between the release and the previous template can be written in two directions. *Forward* is the
 * release's template with a partition that keeps the other pods back. *Backward* is the previous template with a
 * partition that keeps the release's pods: the same pods, but in this direction OpenKruise rolls pods back and starts
 * new ones from the old template, which it does not do forward (its gate CloneSetPartitionRollback is off by default).
 */
import { isObject, type DeepReadonly, type Json } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { digestOf, ROLLOUT_STAGE, stagedPartition, withAnnotation } from "./release.ts";
import { partitionFor, type IntOrPercent } from "./split-partition.ts";

type Annotated = DeepReadonly<KubernetesObject>;

export interface MemberStage {
  /** Digest of the release. */
  readonly digest: string;
  /** The template's partition, for the whole fleet. */
  readonly partition: IntOrPercent;
  /** Pods of this member that run the release. */
  readonly updated: number;
  readonly replicas: number;
  /**
   * The number requested by an earlier copy that the member has not acknowledged: until it has, it may run that many.
   */
  readonly peak?: number;
  readonly isBackward: boolean;
}

/** The pod template before the release, with its digest as a release. */
export interface KeptTemplate {
  readonly digest: string;
  readonly template: Json;
  /** Taken from another member: this member's overrides are still to be applied. */
  readonly isLent?: true;
  /** A release that was withdrawn before it completed. Its pods are counted, but no member rolls back to it. */
  readonly isTakenBack?: true;
}

/**
 * Set beside a copy: the member's pod template before the release. Dispatch stores it on the Work, so that it needs no
 * extra write and members do not see it.
 */
export const KEPT_TEMPLATE = "flotilla.dev/kept-template";

/**
 * An object has 256 KiB for all its annotations. A larger template is not kept, and its release can only move forward.
 */
const MAX_KEPT = 128 * 1024;

const STAGE = /^([0-9a-f]{16})\/([^@]*)@(\d{1,10})\/(\d{1,10})(?:\^(\d{1,10}))?(-)?$/;

/** `9f86d081884c7d65/50%@2/3`: two of three pods. A following `^3` is a peak, a trailing `-` means backward. */
export function formatStage({ digest, partition, updated, replicas, peak, isBackward }: MemberStage): string {
  return `${digest}/${partition}@${updated}/${replicas}${peak !== undefined && peak > updated ? `^${peak}` : ""}${isBackward ? "-" : ""}`;
}

/** Returns undefined for any other text: a copy can be edited by hand. */
export function parseStage(text: unknown): MemberStage | undefined {
  const [, digest, partition = "", updated, replicas, peak, back] =
    typeof text === "string" ? (STAGE.exec(text) ?? []) : [];
  if (digest === undefined) return undefined;
  return {
    digest,
    partition: /^\d+$/.test(partition) ? Number(partition) : partition,
    updated: Number(updated),
    replicas: Number(replicas),
    peak: peak !== undefined ? Number(peak) : undefined,
    isBackward: back !== undefined,
  };
}

export const stageTextOf = ({ metadata }: Annotated): string | undefined => metadata.annotations?.[ROLLOUT_STAGE];

export function isBackward(object: Annotated): boolean {
  return parseStage(stageTextOf(object))?.isBackward ?? false;
}

export function withMemberStage<T extends Annotated>(copy: T, stage: MemberStage): T {
  return withAnnotation(copy, ROLLOUT_STAGE, formatStage(stage));
}

/** The partition of a stage. Forward, a member that updates nothing is held, regardless of later scaling. */
export function partitionOfStage({ updated, replicas, isBackward }: MemberStage): IntOrPercent {
  return isBackward ? updated : partitionFor(replicas, updated);
}

/** The same pods as a stage of the previous template, which is the release again. */
export function invertStage(stage: MemberStage, digest: string): MemberStage {
  return {
    ...stage,
    digest,
    updated: Math.max(0, stage.replicas - stage.updated),
    peak: stage.replicas,
    isBackward: !stage.isBackward,
  };
}

/** The release of a copy, regardless of overrides; undefined if the copy does not specify one. */
export function releaseOf(copy: Annotated): string | undefined {
  const [digest = ""] = stageTextOf(copy)?.split("/") ?? [];
  return /^[0-9a-f]{16}$/.test(digest) ? digest : undefined;
}

/** Whether a copy belongs to a release that was fully let through. */
export function isLetThrough(copy: Annotated): boolean {
  const digest = releaseOf(copy);
  const partition = digest === undefined ? undefined : stagedPartition(copy, digest);
  return partition === 0 || partition === "0%";
}

/** The Works of a rollout usually keep the same template and are read one after another: it is parsed once. */
let last: { text: string; kept: KeptTemplate | undefined } | undefined;

export function keptTemplateOf({ metadata }: Annotated): KeptTemplate | undefined {
  const text = metadata.annotations?.[KEPT_TEMPLATE];
  if (text === undefined) return undefined;
  if (last?.text !== text) last = { text, kept: parseKept(text) };
  return last.kept;
}

function parseKept(text: string): KeptTemplate | undefined {
  const kept = parseJson(text);
  return isObject(kept) && typeof kept["digest"] === "string" && isObject(kept["template"])
    ? {
        digest: kept["digest"],
        template: kept["template"] as Json,
        isLent: kept["isLent"] === true || undefined,
        isTakenBack: kept["isTakenBack"] === true || undefined,
      }
    : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The Work was edited; there is no template to roll back to.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function withKeptTemplate<T extends Annotated>(copy: T, kept: KeptTemplate | undefined): T {
  return withAnnotation(copy, KEPT_TEMPLATE, kept && (last?.kept === kept ? last.text : JSON.stringify(kept)));
}

/** The pod template of a copy, as a template to roll back to. */
export function templateIn(copy: Annotated, digest: string | undefined): KeptTemplate | undefined {
  const { spec } = copy as { spec?: { template?: unknown } };
  if (!isObject(spec?.template) || JSON.stringify(spec.template).length > MAX_KEPT) return undefined;
  return { digest: digest ?? digestOf(spec.template), template: spec.template as Json };
}

/**
 * A rendered copy as stored in its Work: the kept template is separate, and a backward copy has the member's own
 * previous template with the overrides of that time.
 */
export function takeKeptTemplate<T extends Annotated>(copy: T): { object: T; kept?: string } {
  const text = copy.metadata.annotations?.[KEPT_TEMPLATE];
  if (text === undefined) return { object: copy };
  const object = withAnnotation(copy, KEPT_TEMPLATE, undefined);
  const kept = isBackward(copy) ? keptTemplateOf(copy) : undefined;
  if (!kept) return { object, kept: text };
  const { spec } = object as { spec?: { template?: unknown } };
  if (kept.isLent) return { object, kept: JSON.stringify({ digest: kept.digest, template: spec?.template }) };
  return { object: { ...object, spec: { ...spec, template: kept.template } }, kept: text };
}
