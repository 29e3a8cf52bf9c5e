/**
 * Reads the shares of a CloneSet as members of its rollout: their copies and reports, as parts of the release that is
 * divided. Reports come from `reflectStatus`: they name their stage and count the release's pods.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json, type JsonObject, textOf } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { countOf, TEMPLATE_GENERATION } from "@flotilla/kubernetes";
import { failedRollback } from "./failed-rollback.ts";
import { keptByMember, borrowedTemplate } from "./kept-layers.ts";
import {
  keptTemplateOf,
  layersOf,
  parseStage,
  partitionOfStage,
  releaseOf,
  invertStage,
  stageTextOf,
  type KeptTemplate,
  type MemberStage,
} from "./member-stage.ts";
import { partitionOf, type Partitioned } from "./partitioned.ts";
import type { ReturnLayer } from "./plan-return.ts";
import type { RolloutMember } from "./plan-member-updates.ts";
import { letThrough, type IntOrPercent } from "./split-partition.ts";

type Copy = DeepReadonly<Partitioned>;

export interface MemberView extends RolloutMember {
  /** The member's own previous templates. */
  readonly kept?: KeptTemplate;
  /** Its name of the release's revision, if pods of more than two templates may run there. */
  readonly revision?: string;
  /** The release's template in its copy, with its overrides; undefined unless the copy is forward. */
  readonly released?: Json;
}

/** Undefined while no member has a template to roll back to: there is no release to count yet. */
export function rolloutMembers(
  shares: readonly Share[],
  digest: string,
  partition: IntOrPercent | undefined,
): MemberView[] | undefined {
  const kept = keptByMember(shares, digest, Boolean(partition));
  if (!kept.some((each) => each !== undefined)) return undefined;
  const borrowed = borrowedTemplate(shares, kept);
  return shares.map((share, index) =>
    viewOf(share, { digest, partition: partition ?? 0, kept: kept[index], borrowed }),
  );
}

interface Context {
  readonly digest: string;
  /** The template's. */
  readonly partition: IntOrPercent;
  readonly kept: KeptTemplate | undefined;
  readonly borrowed: KeptTemplate | undefined;
}

function viewOf(share: Share, { digest, partition, kept, borrowed }: Context): MemberView {
  const copy: Copy | undefined = share.copy;
  const status: JsonObject = isObject(share.observed) ? share.observed : {};
  const isObserved = countOf(status["observedGeneration"]) >= countOf(status["generation"]);
  const reported = answered(stageIn(parseStage(status["rolloutStage"]), copy, digest), isObserved);
  const own = copy && stageOf(copy, digest);
  const isPinned = own !== undefined && copy !== undefined && isOverruled(copy, own);
  const was = isPinned
    ? { ...own, updated: letThrough(partitionOf(copy), copy.spec?.replicas ?? 1) }
    : share.isGone
      ? own && { ...own, peak: undefined, step: undefined }
      : share.held || share.isRejected
        ? lastKnown(share.held ?? "behind", own, reported, reportsStages(status, copy))
        : own;
  const isTrusted = share.observed !== undefined && !reportsStages(status, copy);
  const layers = returnLayers(kept ?? borrowed);
  const hasTemplateBefore = layers.length > 0;
  const isMixed = kept?.isMixed === true;
  const revision = isMixed ? releaseRevision(kept, was, status, reported) : undefined;
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
      (own !== undefined && !own.isBackward && own.updated >= own.replicas) ||
      (isMixed && was?.isBackward === true && kept.isThrough === true),
    isHeld: share.held !== undefined,
    isPinned,
    // Until a member has reported, its first pods may not exist yet, and they are created from the template it gets.
    isJoining:
      hasTemplateBefore &&
      share.observed === undefined &&
      (was === undefined || was.isBackward || share.isGone === true),
    // Among pods of several templates those of the release are found by their revision.
    canGoBack: hasTemplateBefore && !share.memberDecides && (!isMixed || revision !== undefined),
    // An override is followed forward.
    hasFailedBack:
      !isPinned &&
      own?.partition === partition &&
      own.replicas === share.replicas &&
      failedRollback(share) !== undefined,
    kept,
    revision,
    released: own && !own.isBackward ? (copy?.spec?.template as Json | undefined) : undefined,
    layers: isMixed ? layers : undefined,
    counted: typeof status["layerPods"] === "number" ? status["layerPods"] : undefined,
  };
}

function returnLayers(kept: KeptTemplate | undefined): ReturnLayer[] {
  return layersOf(kept).flatMap(({ isWithdrawn, pods = 0 }, layer) => (isWithdrawn ? [] : [{ layer, pods }]));
}

/** A forward copy reports it; a backward one reports the revision of the earlier template. */
function releaseRevision(
  kept: KeptTemplate,
  was: MemberStage | undefined,
  status: JsonObject,
  reported: MemberStage | undefined,
): string | undefined {
  const isForward = was?.isBackward !== true && reported?.isBackward === false;
  return (isForward && textOf(status["updateRevision"])) || kept.revision;
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

/**
 * A stage of the release, or of the release that went back to this template. Among pods of several templates it is not
 * known how many have this one.
 */
function stageIn(stage: MemberStage | undefined, copy: Copy | undefined, digest: string): MemberStage | undefined {
  if (!stage || stage.digest === digest) return stage;
  const kept = copy && keptTemplateOf(copy);
  return kept?.digest === digest && !kept.isMixed ? invertStage(stage, digest) : undefined;
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
