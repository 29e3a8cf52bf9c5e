/**
 * Reads the shares of a CloneSet as members of its rollout: their copies and reports, as parts of the release that is
 * divided. Reports come from `reflectStatus`: they name their stage and count the release's pods.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { countOf, TEMPLATE_GENERATION, textOf } from "@flotilla/kubernetes";
import { failedRollback } from "./failed-rollback.ts";
import {
  isBackward,
  isLetThrough,
  keptTemplateOf,
  parseStage,
  partitionOfStage,
  releaseOf,
  invertStage,
  stageTextOf,
  templateIn,
  type KeptTemplate,
  type MemberStage,
} from "./member-stage.ts";
import { partitionOf, type Partitioned } from "./partitioned.ts";
import type { RolloutMember } from "./plan-rollout.ts";
import { letThrough, type IntOrPercent } from "./split-partition.ts";

type Copy = DeepReadonly<Partitioned>;

export interface MemberView extends RolloutMember {
  /** The member's own previous template. */
  readonly kept?: KeptTemplate;
}

/** Undefined while no member has a template to roll back to: there is no release to count yet. */
export function rolloutMembers(
  shares: readonly Share[],
  digest: string,
  partition: IntOrPercent | undefined,
): MemberView[] | undefined {
  const kept = shares.map((share) => keptFor(share, digest, Boolean(partition)));
  if (!kept.some((each) => each !== undefined)) return undefined;
  const lent = lentTemplate(shares, kept);
  return shares.map((share, index) => viewOf(share, { digest, partition: partition ?? 0, kept: kept[index], lent }));
}

/** The template for creating a new member: that of a member without overrides. */
export function lentTemplate(
  shares: readonly Share[],
  kept: readonly (KeptTemplate | undefined)[],
): KeptTemplate | undefined {
  return kept.find((each, index) => each !== undefined && !shares[index]?.isOverridden);
}

/**
 * The template that a member rolls back to. A release that was begun but not fully let through keeps the template from
 * before it.
 */
function keptFor({ copy, isOverridden }: Share, digest: string, isStaged: boolean): KeptTemplate | undefined {
  if (!copy) return undefined;
  const kept = keptTemplateOf(copy);
  const release = releaseOf(copy);
  if (release === digest) return kept;
  if (!isStaged) return undefined;
  if (kept && !isLetThrough(copy)) {
    if (kept.digest !== digest) return kept;
    return isBackward(copy) ? undefined : invertedTemplate(kept, templateIn(copy, release));
  }
  if (release === undefined && isOverridden) return undefined;
  const before = isBackward(copy) ? kept : templateIn(copy, release);
  return before?.digest === digest ? undefined : before;
}

/** The previous template was applied again: a release was withdrawn halfway, or a withdrawn release is resumed. */
function invertedTemplate({ isTakenBack }: KeptTemplate, release: KeptTemplate | undefined): KeptTemplate | undefined {
  return release && !isTakenBack ? { ...release, isTakenBack: true } : release;
}

interface Context {
  readonly digest: string;
  /** The template's. */
  readonly partition: IntOrPercent;
  readonly kept: KeptTemplate | undefined;
  readonly lent: KeptTemplate | undefined;
}

function viewOf(share: Share, { digest, partition, kept, lent }: Context): MemberView {
  const copy: Copy | undefined = share.copy;
  const status: JsonObject = isObject(share.observed) ? share.observed : {};
  const isObserved = countOf(status["observedGeneration"]) >= countOf(status["generation"]);
  const reported = answered(stageIn(parseStage(status["rolloutStage"]), copy, digest), isObserved);
  const own = copy && stageOf(copy, digest);
  const isPinned = own !== undefined && copy !== undefined && isOverruled(copy, own);
  const was = isPinned
    ? { ...own, updated: letThrough(partitionOf(copy), copy.spec?.replicas ?? 1) }
    : share.held || share.isRejected
      ? lastKnown(share.held ?? "behind", own, reported, reportsStages(status, copy))
      : own;
  const isTrusted = share.observed !== undefined && !reportsStages(status, copy);
  const before = kept ?? lent;
  const hasTemplateBefore = before !== undefined && !before.isTakenBack;
  return {
    size: share.replicas,
    was,
    // Until its controller has observed the copy, the counters refer to an earlier copy, maybe of another release.
    seen: isTrusted ? (was?.updated ?? 0) : isObserved ? seenIn(status, reported) : 0,
    pods: countOf(status["replicas"]),
    isAcknowledged:
      isTrusted ||
      (isObserved &&
        copy !== undefined &&
        status["rolloutStage"] !== undefined &&
        status["rolloutStage"] === stageTextOf(copy)),
    isThrough:
      (isObserved && isThrough(status, reported)) ||
      (own !== undefined && !own.isBackward && own.updated >= own.replicas),
    isHeld: share.held !== undefined,
    isPinned,
    // Until a member has reported, its first pods may not exist yet, and they are created from the template it gets.
    isJoining: hasTemplateBefore && share.observed === undefined && (was === undefined || was.isBackward),
    canGoBack: hasTemplateBefore && !share.memberDecides,
    hasFailedBack:
      own?.partition === partition && own.replicas === share.replicas && failedRollback(share) !== undefined,
    kept,
  };
}

/**
 * User-defined rules do not report stages; the requested number is then assumed. A report of the built-in rule without a
 * stage is about an earlier copy, which had none.
 */
export function reportsStages(status: JsonObject, copy: DeepReadonly<KubernetesObject> | undefined): boolean {
  const generation = status["resourceTemplateGeneration"];
  if (status["rolloutStage"] !== undefined || generation === undefined) return status["rolloutStage"] !== undefined;
  const isCurrent = countOf(generation) >= Number(copy?.metadata.annotations?.[TEMPLATE_GENERATION] ?? Number.NaN);
  return !(isCurrent && copy && stageTextOf(copy) !== undefined);
}

/**
 * A member that reports a stage observed by its controller has finished everything requested before. Its report
 * includes all pods it still runs.
 */
function answered(reported: MemberStage | undefined, isObserved: boolean): MemberStage | undefined {
  if (!reported || !isObserved) return reported;
  const { peak: _answered, ...stage } = reported;
  return stage;
}

/** A stage of the release, or of the release that went back to this template. */
function stageIn(stage: MemberStage | undefined, copy: Copy | undefined, digest: string): MemberStage | undefined {
  if (!stage || stage.digest === digest) return stage;
  return copy && keptTemplateOf(copy)?.digest === digest ? invertStage(stage, digest) : undefined;
}

function stageOf(copy: Copy, digest: string): MemberStage | undefined {
  const stage = stageIn(parseStage(stageTextOf(copy)), copy, digest);
  if (stage || releaseOf(copy) !== digest) return stage;
  const replicas = copy.spec?.replicas ?? 1;
  return { digest, partition: 0, updated: letThrough(partitionOf(copy), replicas), replicas, isBackward: false };
}

/** Whether an override set a different partition than the division did; a single member keeps the template's own. */
function isOverruled(copy: Copy, stage: MemberStage): boolean {
  const written = parseStage(stageTextOf(copy));
  if (!written) return false;
  const partition = partitionOf(copy) ?? 0;
  return partition !== partitionOfStage(written) && partition !== stage.partition;
}

/** The member's last request, as far as it is known to have received it. */
function lastKnown(
  held: NonNullable<Share["held"]>,
  own: MemberStage | undefined,
  reported: MemberStage | undefined,
  isReported: boolean,
): MemberStage | undefined {
  if (!isReported) return own;
  if (held === "behind" || !own) return reported;
  if (!reported) return own;
  const most = Math.max(own.updated, reported.updated, own.peak ?? 0, reported.peak ?? 0);
  return { ...own, peak: most };
}

function seenIn(status: JsonObject, reported: MemberStage | undefined): number {
  if (!reported) return 0;
  const updated = countOf(status["updatedReplicas"]);
  return parseStage(status["rolloutStage"])?.digest === reported.digest
    ? updated
    : Math.max(0, countOf(status["replicas"]) - updated);
}

function isThrough(status: JsonObject, reported: MemberStage | undefined): boolean {
  const current = textOf(status["currentRevision"]);
  return (
    reported !== undefined && !reported.isBackward && current !== "" && current === textOf(status["updateRevision"])
  );
}
