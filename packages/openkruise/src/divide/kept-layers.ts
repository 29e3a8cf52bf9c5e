/**
 * Decides which templates are kept beside a member's copy when a release begins: those that its pods have before it.
 * After a complete release this is one template. After one that is not complete the member has pods of several, and
 * raising the partition must return each of them to what it ran (`plan-return.ts`).
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { countOf } from "@flotilla/kubernetes";
import {
  isBackward,
  isComplete,
  isLetThrough,
  keptTemplateOf,
  layersOf,
  linkLayers,
  parseStage,
  releaseOf,
  startingLayer,
  stageTextOf,
  templateIn,
  type KeptTemplate,
} from "./member-stage.ts";

type Copy = DeepReadonly<KubernetesObject>;

/** The templates that each member rolls back to in the release with this digest. */
export function keptByMember(
  shares: readonly Share[],
  digest: string,
  isStaged: boolean,
): (KeptTemplate | undefined)[] {
  return shares.map((share) => keptFor(share, digest, isStaged, shares));
}

/**
 * The template for creating a new member, from a member without overrides: that of a complete release if one of them has
 * it. A release may have reached all pods of one member, and was abandoned before it reached the others.
 */
export function borrowedTemplate(
  shares: readonly Share[],
  kept: readonly (KeptTemplate | undefined)[],
): KeptTemplate | undefined {
  const own = kept.flatMap((each, index) => (each && !shares[index]?.isOverridden ? [layersOf(each)] : []));
  const starts = own.map((layers) => startingLayer(layers) ?? layers.at(-1));
  const last = starts.find((each) => each && isComplete(each)) ?? starts[0];
  return last && { digest: last.digest, template: last.template, isWithdrawn: last.isWithdrawn };
}

function keptFor(share: Share, digest: string, isStaged: boolean, shares: readonly Share[]): KeptTemplate | undefined {
  const { copy, isOverridden } = share;
  if (!copy) return undefined;
  const release = releaseOf(copy);
  const kept = share.isGone ? withoutPodsOf(keptTemplateOf(copy)) : keptTemplateOf(copy);
  if (release === digest) return kept;
  if (!isStaged) return undefined;
  if (kept && !isLetThrough(copy)) return afterUnfinished(share, copy, kept, digest, shares);
  if (release === undefined && isOverridden) return undefined;
  const before = isBackward(copy) ? kept : templateIn(copy, release);
  if (before?.digest === digest) return undefined;
  // It was asked to complete the release, and has not done so: there are pods of an earlier template that is not kept.
  return before && !hasOnlyUpdated(share) ? { ...before, isMixed: true } : before;
}

/** Where the object is gone, no pod has any of the templates. */
function withoutPodsOf(kept: KeptTemplate | undefined): KeptTemplate | undefined {
  const start = startingLayer(layersOf(kept));
  return start ? { digest: start.digest, template: start.template } : kept;
}

/** The release before was begun and not fully let through. */
function afterUnfinished(
  share: Share,
  copy: Copy,
  kept: KeptTemplate,
  digest: string,
  shares: readonly Share[],
): KeptTemplate | undefined {
  if (share.isGone && !kept.isWithdrawn) return kept.digest === digest ? undefined : kept;
  const layers = layersOf(kept);
  const position = layers.findIndex((layer) => layer.digest === digest);
  const release = releaseOf(copy);
  const isBack = isBackward(copy);
  if (position === 0 && layers.length === 1 && !kept.isMixed)
    return isBack ? undefined : invertedTemplate(kept, templateIn(copy, release));

  const pods = podsOfRelease(share, copy);
  const begun = isBack ? templateOfRelease(kept, shares, release) : templateIn(copy, release);
  if (begun && position < 0 && pods.isAll) return { ...begun, pods: pods.most };
  // A release that is written again continues; one that is not reached by writing an earlier template is withdrawn.
  const isResumed = position < 0 || layers[position]?.isWithdrawn === true;
  const isWithdrawn = isResumed ? undefined : (true as const);
  const next = [
    ...(begun && !pods.isNone ? [{ ...begun, pods: pods.most, isWithdrawn }] : []),
    ...withoutPods(layers, pods.most).flatMap((layer, index) =>
      index === position
        ? []
        : [index < position ? { ...layer, isWithdrawn: isWithdrawn ?? layer.isWithdrawn } : layer],
    ),
  ].map(({ digest: of, template, pods: had, isWithdrawn: isGone }): KeptTemplate => ({
    digest: of,
    template,
    pods: had,
    isWithdrawn: isGone,
  }));
  const isMixed = kept.isMixed ?? (pods.isNone && position < 0 ? undefined : true);
  const linked = linkLayers(next);
  return linked && { ...linked, isMixed };
}

/** The previous template was applied again: a release was withdrawn halfway, or a withdrawn release is resumed. */
function invertedTemplate({ isWithdrawn }: KeptTemplate, release: KeptTemplate | undefined): KeptTemplate | undefined {
  return release && !isWithdrawn ? { ...release, isWithdrawn: true } : release;
}

/** The pods of the copy's release: the most that may run, and whether the member is known to have none, or no others. */
function podsOfRelease(share: Share, copy: Copy): { most: number; isNone: boolean; isAll: boolean } {
  const text = stageTextOf(copy);
  const stage = parseStage(text);
  const status: JsonObject = isObject(share.observed) ? share.observed : {};
  const isAnswered =
    !share.held && !share.isRejected && status["rolloutStage"] === text && isObserved(status) && text !== undefined;
  const asked = Math.max(stage?.updated ?? 0, stage?.peak ?? 0);
  if (!isAnswered) return { most: asked, isNone: false, isAll: false };
  const [seen, all] = [countOf(status["updatedReplicas"]), countOf(status["replicas"])];
  const most = Math.max(seen, stage?.updated ?? 0);
  return { most, isNone: most === 0, isAll: all > 0 && seen >= all && all >= (stage?.replicas ?? 0) };
}

/** A backward copy does not have the release's template: it is kept beside it, or another member's copy has it. */
function templateOfRelease(
  kept: KeptTemplate,
  shares: readonly Share[],
  release: string | undefined,
): KeptTemplate | undefined {
  if (kept.release !== undefined && release !== undefined) return { digest: release, template: kept.release };
  const owner = shares.find(
    ({ copy, isOverridden }) => copy && !isOverridden && !isBackward(copy) && releaseOf(copy) === release,
  );
  return owner?.copy && release !== undefined ? templateIn(owner.copy, release) : undefined;
}

/** A release reaches the pods that became ready last first, which are those of the newest template. */
function withoutPods(layers: readonly KeptTemplate[], taken: number): KeptTemplate[] {
  let rest = taken;
  return layers.map((layer) => {
    const less = Math.min(rest, layer.pods ?? 0);
    rest -= less;
    return layer.pods === undefined ? layer : { ...layer, pods: layer.pods - less };
  });
}

/** A member that does not report updated pods is assumed to have done what it was asked. */
function hasOnlyUpdated({ observed }: Share): boolean {
  if (!isObject(observed) || typeof observed["updatedReplicas"] !== "number") return true;
  return isObserved(observed) && observed["updatedReplicas"] >= countOf(observed["replicas"]);
}

const isObserved = (status: JsonObject): boolean =>
  countOf(status["observedGeneration"]) >= countOf(status["generation"]);
