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
import { HOLD, partitionFor, type IntOrPercent } from "./split-partition.ts";

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
  /** Where pods of more than two templates run, a step before `updated` (`plan-return.ts`). */
  readonly step?: ReturnStep;
}

/** A backward copy for a member that has pods of more than two templates. */
export interface ReturnStep {
  /** The earlier template, as a position among the kept ones. */
  readonly layer: number;
  /** Pods of the release that the copy keeps. */
  readonly keeps: number;
  /** Pods that have neither of the two templates; undefined for a copy that keeps every pod, to count them. */
  readonly others?: number;
}

/** A pod template from before the release, with its digest as a release. */
export interface KeptTemplate {
  readonly digest: string;
  readonly template: Json;
  /** Taken from another member: this member's overrides are still to be applied. */
  readonly isLent?: true;
  /** A release that was withdrawn before it completed. Its pods are counted, but no member rolls back to it. */
  readonly isWithdrawn?: true;
  /** The pods of this template when the release began, if the member may have had pods of others. */
  readonly pods?: number;
  /**
   * The release before was not complete, so the pods that the release has not reached may have different templates: this
   * one, those in `before`, or others that are not kept.
   */
  readonly isMixed?: true;
  readonly before?: KeptTemplate;
  /** Set while the copy is backward: the release's own template, which the next release may have to return pods to. */
  readonly release?: Json;
  /** Set while pods are rolled back from a mixed member: its revision of the release. */
  readonly revision?: string;
  /** Set with `revision`: the member had completed the release, so that it replaces lost pods by pods of the release. */
  readonly isThrough?: true;
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

/**
 * Earlier templates of one member. A release that begins during the fourth unfinished one in a row drops the oldest of
 * the unfinished ones.
 */
const MAX_LAYERS = 4;

const STAGE =
  /^([0-9a-f]{16})\/([^@]*)@(\d{1,10})\/(\d{1,10})(?:\^(\d{1,10}))?(?:(-)(?:(\d)(?:\+(\d{1,10}))?=(\d{1,10}))?)?$/;

/**
 * `9f86d081884c7d65/50%@2/3`: two of three pods. A following `^3` is a peak, a trailing `-` means backward. `-1+2=3`
 * is a step backward to the template before the previous one, which keeps two pods of others and three of the release;
 * `-1=3` counts the pods of that template.
 */
export function formatStage(stage: MemberStage): string {
  const { digest, partition, updated, replicas, peak, isBackward, step } = stage;
  const back = step ? `-${step.layer}${step.others === undefined ? "" : `+${step.others}`}=${step.keeps}` : "-";
  return `${digest}/${partition}@${updated}/${replicas}${peak !== undefined && peak > updated ? `^${peak}` : ""}${isBackward ? back : ""}`;
}

/** Returns undefined for any other text: a copy can be edited by hand. */
export function parseStage(text: unknown): MemberStage | undefined {
  const [, digest, partition = "", updated, replicas, peak, back, layer, others, keeps] =
    typeof text === "string" ? (STAGE.exec(text) ?? []) : [];
  if (digest === undefined) return undefined;
  return {
    digest,
    partition: /^\d+$/.test(partition) ? Number(partition) : partition,
    updated: Number(updated),
    replicas: Number(replicas),
    peak: peak !== undefined ? Number(peak) : undefined,
    isBackward: back !== undefined,
    step:
      layer !== undefined
        ? { layer: Number(layer), keeps: Number(keeps), others: others !== undefined ? Number(others) : undefined }
        : undefined,
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
export function partitionOfStage(stage: MemberStage): IntOrPercent {
  const { updated, replicas, isBackward, step } = stage;
  if (step) return step.others === undefined ? HOLD : step.keeps + step.others;
  return isBackward ? updated : partitionFor(replicas, updated);
}

/** The same pods as a stage of the previous template, which is the release again. */
export function invertStage(stage: MemberStage, digest: string): MemberStage {
  const { step: _step, ...rest } = stage;
  return {
    ...rest,
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

/**
 * The pods that this copy wants to have its template, if more would start where the object does not exist: OpenKruise
 * creates all pods of a new CloneSet from its template, whatever its partition. A backward copy may have the template of
 * an unfinished release. `kept` is the text of KEPT_TEMPLATE: without a template to start with, nothing else is possible.
 */
export function exceededByCreation(
  copy: Annotated,
  kept: string | undefined,
): { asked: number; all: number } | undefined {
  const stage = parseStage(stageTextOf(copy));
  if (!stage || kept === undefined) return undefined;
  const layers = layersOf(parseKept(kept));
  const start = startingLayer(layers);
  const written = stage.isBackward ? layers[stage.step?.layer ?? 0] : undefined;
  const asked = stage.isBackward ? (written?.pods ?? 0) : stage.updated;
  if (!start || written === start || (!stage.isBackward && asked >= stage.replicas)) return undefined;
  return { asked, all: stage.replicas };
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

const parseKept = (text: string): KeptTemplate | undefined => keptIn(parseJson(text), MAX_LAYERS);

function keptIn(kept: unknown, depth: number): KeptTemplate | undefined {
  if (depth === 0 || !isObject(kept) || typeof kept["digest"] !== "string" || !isObject(kept["template"]))
    return undefined;
  const { pods, revision } = kept;
  return {
    digest: kept["digest"],
    template: kept["template"] as Json,
    isLent: kept["isLent"] === true || undefined,
    isWithdrawn: kept["isWithdrawn"] === true || undefined,
    pods: typeof pods === "number" ? pods : undefined,
    isMixed: kept["isMixed"] === true || undefined,
    before: keptIn(kept["before"], depth - 1),
    release: isObject(kept["release"]) ? kept["release"] : undefined,
    revision: typeof revision === "string" ? revision : undefined,
    isThrough: kept["isThrough"] === true || undefined,
  };
}

/** The kept templates of a member, newest first; a layer of a stage is a position in it. */
export function layersOf(kept: KeptTemplate | undefined): KeptTemplate[] {
  const layers: KeptTemplate[] = [];
  for (let each = kept; each && layers.length < MAX_LAYERS; each = each.before) layers.push(each);
  return layers;
}

/**
 * The template that a member without pods starts with: that of the newest release that completed, which records no number
 * of pods; otherwise the oldest that has pods. Undefined if every kept release was withdrawn.
 */
export function startingLayer(layers: readonly KeptTemplate[]): KeptTemplate | undefined {
  const open = layers.filter(({ isWithdrawn }) => !isWithdrawn);
  return open.find(isComplete) ?? open.findLast(({ pods = 0 }) => pods > 0) ?? open.at(-1);
}

export const isComplete = ({ pods, isWithdrawn }: KeptTemplate): boolean => pods === undefined && !isWithdrawn;

/** With the release's template, if an annotation can hold it too. */
export function withReleaseTemplate(kept: KeptTemplate, release: Json | undefined): KeptTemplate {
  if (release === undefined) return kept;
  const size = layersOf(kept).reduce((sum, { template }) => sum + JSON.stringify(template).length, 0);
  return size + JSON.stringify(release).length > MAX_KEPT ? kept : { ...kept, release };
}

/**
 * Links templates, newest first, as far as an annotation can hold them. The one that members without pods start with is
 * kept in any case: pods of templates that are not kept return to it.
 */
export function linkLayers(layers: readonly KeptTemplate[]): KeptTemplate | undefined {
  const start = startingLayer(layers);
  const sizeOf = ({ template }: KeptTemplate): number => JSON.stringify(template).length;
  let room = MAX_KEPT - (start ? sizeOf(start) : 0);
  let places = MAX_LAYERS - (start ? 1 : 0);
  const fitting: KeptTemplate[] = [];
  for (const each of layers) {
    const { before: _before, ...layer } = each;
    if (each !== start) {
      room -= sizeOf(layer);
      places -= 1;
      if (room < 0 || places < 0) continue;
    }
    fitting.push(layer);
  }
  return fitting.reduceRight<KeptTemplate | undefined>((before, layer) => ({ ...layer, before }), undefined);
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
  const stage = parseStage(stageTextOf(copy));
  const kept = stage?.isBackward ? layersOf(keptTemplateOf(copy))[stage.step?.layer ?? 0] : undefined;
  if (!kept) return { object, kept: text };
  const { spec } = object as { spec?: { template?: unknown } };
  if (kept.isLent) return { object, kept: JSON.stringify({ digest: kept.digest, template: spec?.template }) };
  return { object: { ...object, spec: { ...spec, template: kept.template } }, kept: text };
}
