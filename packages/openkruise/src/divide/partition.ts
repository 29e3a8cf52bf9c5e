/**
 * Divides a CloneSet: replicas, partition and budgets. They are changed together in one copy: changing any of them
 * alone would temporarily update more pods than requested.
 *
 * Every copy records its release. From the first release that a partition holds back until the next one, the previous
 * template is kept beside the copies; with it the number of updated pods is exact, and raising the partition rolls pods
 * back (`plan-member-updates.ts`). Without it, which is the case for a new CloneSet, the partition is split and there is
 * nothing to roll back to.
 */
import { equalJson, type DeepReadonly, type Json, defined } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { withSpecField } from "@flotilla/kubernetes";
import { splitBudgets, splitScaleStrategy } from "./budgets.ts";
import { borrowedTemplate } from "./kept-layers.ts";
import {
  layersOf,
  partitionOfStage,
  withKeptTemplate,
  withMemberStage,
  withReleaseTemplate,
  type KeptTemplate,
  type MemberStage,
} from "./member-stage.ts";
import { choosing, partitionOf, withPartition, type Partitioned, type UpdateStrategy } from "./partitioned.ts";
import { planMemberUpdates } from "./plan-member-updates.ts";
import { digestOf, isPartitionRaised, stagedPartition, withStage } from "./release.ts";
import { rolloutMembers, type MemberView } from "./rollout-members.ts";
import { rolloutOrderOf } from "./rollout-order.ts";
import { countsPerCluster, isDuplicated, stayingOf } from "./counted-pods.ts";
import { keptPods, letThrough, partitionFor, sumOf, type IntOrPercent } from "./split-partition.ts";
import { splitStage } from "./split-stage.ts";

type Copy = DeepReadonly<Partitioned>;

/** The changes that a release makes to one member's copy. */
interface Part {
  /** Unset keeps the template's partition. */
  readonly partition?: IntOrPercent;
  readonly stage?: MemberStage;
  /** The pod template of a backward copy. */
  readonly template?: Json;
  readonly kept?: KeptTemplate;
  /** The revision whose pods are rolled back, where others must not change. */
  readonly revision?: string;
}

export function dividePartition(object: Copy, given: readonly Share[]): ReadonlyMap<string, Copy> {
  const shares = stayingOf(given);
  if (countsPerCluster(object) || isDuplicated(shares, object.spec?.replicas ?? 1)) {
    return new Map(shares.map(({ cluster, replicas }) => [cluster, withSpecField(object, "replicas", replicas)]));
  }
  const { updateStrategy, scaleStrategy } = object.spec ?? {};
  const sizes = shares.map(({ replicas }) => replicas);
  // A single cluster gets the whole budget and resolves it itself.
  const isAlone = shares.length < 2;
  const strategies = isAlone || !updateStrategy ? undefined : splitStrategy(updateStrategy, sizes);
  const scaling = isAlone ? undefined : splitScaleStrategy(scaleStrategy, sizes);
  const digest = digestOf(object.spec?.template);
  const parts = partsOf(object, given, shares, digest);
  return new Map(
    shares.map(({ cluster, replicas, copy: before }, index) => {
      const { partition, stage, template, kept, revision } = parts?.[index] ?? {};
      const divided = strategies?.[index] ?? updateStrategy;
      const strategy = revision === undefined ? divided : choosing(divided, revision, object.apiVersion);
      const spec = {
        ...object.spec,
        replicas,
        ...defined({
          scaleStrategy: scaleStrategy && scaling ? (scaling[index] as typeof scaleStrategy) : undefined,
          updateStrategy: partition === undefined ? strategy : withPartition(strategy, partition, object.apiVersion),
          template: template === undefined ? undefined : (template as NonNullable<Copy["spec"]>["template"]),
        }),
      } as NonNullable<Copy["spec"]>;
      const copy = { ...object, spec };
      return [
        cluster,
        stage ? withKeptTemplate(withMemberStage(copy, stage), kept) : withoutReturn(copy, object, before, digest),
      ];
    }),
  );
}

/** Without a template to return to, raising the partition does not roll pods back. */
function withoutReturn(copy: Copy, object: Copy, before: Share["copy"], digest: string): Copy {
  const partition = partitionOf(object) ?? 0;
  const total = object.spec?.replicas ?? 1;
  return withStage(copy, digest, partition, {
    isRaised: isPartitionRaised(before, { digest, partition, total, isRelease: false }),
  });
}

function partsOf(object: Copy, given: readonly Share[], shares: readonly Share[], digest: string): Part[] | undefined {
  const order = rolloutOrderOf(object, shares);
  const partition = partitionOf(object);
  const all = rolloutMembers(given, digest, partition);
  if (!all) return partition && shares.length > 1 ? beginning(shares, partition, order, digest) : undefined;

  const members = all.filter((_member, index) => !given[index]?.leaving);
  const leaving = all.filter((_member, index) => given[index]?.leaving);
  const total = sumOf(shares.map(({ replicas }) => replicas));
  const demanded = total - keptPods(partition, total);
  const borrowed = borrowedTemplate(
    given,
    all.map(({ kept }) => kept),
  );
  return planMemberUpdates(members, leaving, demanded, order).map((plan, index): Part => {
    const { updated, isBackward, step, peak } = plan;
    const member = members[index] as MemberView;
    const stage = keepIfUnchanged(
      { digest, partition: partition ?? 0, updated, replicas: member.size, peak, isBackward, step },
      member.was,
    );
    const kept = keptBy(member, stage) ?? (isBackward && borrowed ? { ...borrowed, isLent: true } : undefined);
    const isWhole = !isBackward && (partition === undefined || (members.length === 1 && updated === demanded));
    return {
      stage,
      partition: isWhole ? undefined : partitionOfStage(stage),
      template: isBackward ? layersOf(kept)[step?.layer ?? 0]?.template : undefined,
      kept,
      revision: step && member.revision,
    };
  });
}

/**
 * The template of the release is kept while a copy does not have it. Only the report of a forward copy names the
 * release's revision and shows whether it was completed.
 */
function keptBy(member: MemberView, { step, isBackward }: MemberStage): KeptTemplate | undefined {
  const { kept, revision, isThrough, was, released } = member;
  if (!kept || (isBackward && was?.isBackward)) return kept;
  const { release: _release, ...others } = kept;
  if (!isBackward) return kept.release === undefined ? kept : others;
  const next = withReleaseTemplate(others, released);
  return step ? { ...next, revision, isThrough: isThrough || undefined } : next;
}

/** An otherwise unchanged copy is not rewritten: an acknowledged peak alone does not justify a write. */
function keepIfUnchanged(stage: MemberStage, was: MemberStage | undefined): MemberStage {
  const isSame =
    was?.digest === stage.digest &&
    was.partition === stage.partition &&
    was.updated === stage.updated &&
    was.replicas === stage.replicas &&
    was.isBackward === stage.isBackward &&
    equalJson(was.step, stage.step);
  return isSame && was.peak !== undefined ? { ...stage, peak: was.peak } : stage;
}

/** A CloneSet created with a partition: all its pods run the only existing template. */
function beginning(
  shares: readonly Share[],
  partition: IntOrPercent,
  order: ReturnType<typeof rolloutOrderOf>,
  digest: string,
): Part[] {
  const sizes = shares.map(({ replicas }) => replicas);
  const updated = splitStage(shares, {
    sizes,
    partition,
    order,
    partitionBefore: (copy) => stagedPartition(copy, digest),
    updatedBy: updatedIn,
  });
  return sizes.map((size, index) => ({ partition: partitionFor(size, updated[index] ?? 0) }));
}

/** The number of pods that a copy lets its member update. */
function updatedIn(copy: Copy): number {
  return letThrough(partitionOf(copy), copy.spec?.replicas ?? 1);
}

function splitStrategy(strategy: UpdateStrategy, sizes: readonly number[]): UpdateStrategy[] {
  const { rollingUpdate } = strategy;
  const outer = splitBudgets(strategy, sizes);
  if (!rollingUpdate) return outer;
  const inner = splitBudgets(rollingUpdate, sizes);
  return outer.map((each, index) => ({ ...each, rollingUpdate: inner[index] ?? rollingUpdate }));
}
