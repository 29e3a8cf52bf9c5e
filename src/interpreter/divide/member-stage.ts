/**
 * What a copy of a CloneSet says of its member's part in a rollout: how many of its pods run the release, how many it
 * has, and which way round it is written.
 *
 * A split of pods between the release and the template before it can be written in two ways. *Forward* is the release's
 * template with a partition that keeps the others back. *Backward* is the template before it with a partition that
 * keeps the release's pods: the same pods, but from here OpenKruise takes pods back and starts new ones from the old
 * template, which forward it does not (its gate CloneSetPartitionRollback is off unless somebody turns it on).
 */
import { isObject, type DeepReadonly, type Json } from "../../base/index.ts";
import type { KubernetesObject } from "../../api/index.ts";
import { digestOf, ROLLOUT_STAGE, stagedPartition, withAnnotation } from "./release.ts";
import { partitionFor, type IntOrPercent } from "./split-partition.ts";

type Annotated = DeepReadonly<KubernetesObject>;

export interface MemberStage {
  /** Of the release. */
  readonly digest: string;
  /** The template's, for the whole fleet. */
  readonly partition: IntOrPercent;
  /** Pods of this member that run the release. */
  readonly updated: number;
  readonly replicas: number;
  /** What an earlier copy asked for that the member had not answered to: until it has, it may run that many. */
  readonly peak?: number;
  readonly isBackward: boolean;
}

/** The pod template before the release, with the digest that it had as a release of its own. */
export interface KeptTemplate {
  readonly digest: string;
  readonly template: Json;
  /** It is another member's: with the overrides of this one it becomes its own. */
  readonly isLent?: true;
  /** It is a release that was taken back before it was through. Its pods are counted, and nothing goes back to it. */
  readonly isTakenBack?: true;
}

/**
 * Beside a copy: the member's pod template before the release. Dispatch keeps it on the Work, so that it costs no write
 * of its own and members do not see it.
 */
export const KEPT_TEMPLATE = "flotilla.dev/kept-template";

/** An object has 256 KiB for all its annotations. A larger template is not kept, and its release goes forward alone. */
const MAX_KEPT = 128 * 1024;

const STAGE = /^([0-9a-f]{16})\/([^@]*)@(\d{1,10})\/(\d{1,10})(?:\^(\d{1,10}))?(-)?$/;

/** `9f86d081884c7d65/50%@2/3`: two of three pods; `^3` after that is a peak, `-` at the end means backward. */
export function formatStage({ digest, partition, updated, replicas, peak, isBackward }: MemberStage): string {
  return `${digest}/${partition}@${updated}/${replicas}${peak !== undefined && peak > updated ? `^${peak}` : ""}${isBackward ? "-" : ""}`;
}

/** Undefined for whatever else is there: a copy can be edited by hand. */
export function parseStage(text: unknown): MemberStage | undefined {
  const [, digest, partition = "", updated, replicas, peak, back] =
    typeof text === "string" ? (STAGE.exec(text) ?? []) : [];
  if (digest === undefined) return undefined;
  return {
    digest,
    partition: /^\d+$/.test(partition) ? Number(partition) : partition,
    updated: Number(updated),
    replicas: Number(replicas),
    ...(peak !== undefined && { peak: Number(peak) }),
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

/** The partition that goes with a stage. Forward, a member that updates nothing is held, whatever it is scaled to. */
export function partitionOfStage({ updated, replicas, isBackward }: MemberStage): IntOrPercent {
  return isBackward ? updated : partitionFor(replicas, updated);
}

/** The same pods as a stage of the template before it, which is the release again. */
export function reversed(stage: MemberStage, digest: string): MemberStage {
  return {
    ...stage,
    digest,
    updated: Math.max(0, stage.replicas - stage.updated),
    peak: stage.replicas,
    isBackward: !stage.isBackward,
  };
}

/** Which release a copy is of, whatever overrides made of it; undefined when it does not say. */
export function releaseOf(copy: Annotated): string | undefined {
  const [digest = ""] = stageTextOf(copy)?.split("/") ?? [];
  return /^[0-9a-f]{16}$/.test(digest) ? digest : undefined;
}

/** Whether a copy is of a release that was let through as a whole. */
export function isLetThrough(copy: Annotated): boolean {
  const digest = releaseOf(copy);
  const partition = digest === undefined ? undefined : stagedPartition(copy, digest);
  return partition === 0 || partition === "0%";
}

/**
 * The Works of a rollout mostly keep the same template, and all of them are read one after another: it is parsed once.
 */
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
        ...(kept["isLent"] === true && { isLent: true }),
        ...(kept["isTakenBack"] === true && { isTakenBack: true }),
      }
    : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Somebody edited the Work; then there is nothing to go back to.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function withKeptTemplate<T extends Annotated>(copy: T, kept: KeptTemplate | undefined): T {
  return withAnnotation(copy, KEPT_TEMPLATE, kept && (last?.kept === kept ? last.text : JSON.stringify(kept)));
}

/** What a copy's pods were made from, as a template to go back to. */
export function templateIn(copy: Annotated, digest: string | undefined): KeptTemplate | undefined {
  const { spec } = copy as { spec?: { template?: unknown } };
  if (!isObject(spec?.template) || JSON.stringify(spec.template).length > MAX_KEPT) return undefined;
  return { digest: digest ?? digestOf(spec.template), template: spec.template as Json };
}

/**
 * A rendered copy as its Work carries it: the kept template stands beside it, and a copy that goes backward has the
 * member's own template of before, with the overrides that it was made with.
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
