/**
 * Divides a CloneSet: replicas, partition and budgets. They are changed together in one copy: changing any of them
 * alone would temporarily update more pods than requested.
 *
 * Every copy records its release. From the first release that a partition holds back until the next one, the previous
 * template is kept beside the copies; with it the number of updated pods is exact, and raising the partition rolls pods
 * back (`plan-rollout.ts`). Without it, which is the case for a new CloneSet, the partition is split and there is
 * nothing to roll back to.
 */
import type { DeepReadonly, Json } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { withSpecField } from "@flotilla/kubernetes";
import { splitBudgets, splitScaleStrategy } from "./budgets.ts";
import {
  partitionOfStage,
  withKeptTemplate,
  withMemberStage,
  type KeptTemplate,
  type MemberStage,
} from "./member-stage.ts";
import { partitionOf, withPartition, type Partitioned, type UpdateStrategy } from "./partitioned.ts";
import { planRollout } from "./plan-rollout.ts";
import { digestOf, stagedPartition, withStage } from "./release.ts";
import { lentTemplate, rolloutMembers, type MemberView } from "./rollout-members.ts";
import { rolloutOrderOf } from "./rollout-order.ts";
import { countsPerCluster, isDuplicated, stayingOf } from "./scope.ts";
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
    shares.map(({ cluster, replicas }, index) => {
      const { partition, stage, template, kept } = parts?.[index] ?? {};
      const strategy = strategies?.[index] ?? updateStrategy;
      const spec = {
        ...object.spec,
        replicas,
        ...(scaleStrategy && scaling && { scaleStrategy: scaling[index] as typeof scaleStrategy }),
        ...(partition !== undefined
          ? { updateStrategy: withPartition(strategy, partition, object.apiVersion) }
          : strategy && { updateStrategy: strategy }),
        ...(template !== undefined && { template: template as NonNullable<Copy["spec"]>["template"] }),
      } as NonNullable<Copy["spec"]>;
      const copy = { ...object, spec };
      return [
        cluster,
        stage
          ? withKeptTemplate(withMemberStage(copy, stage), kept)
          : withStage(copy, digest, partitionOf(object) ?? 0),
      ];
    }),
  );
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
  const lent = lentTemplate(
    given,
    all.map(({ kept }) => kept),
  );
  return planRollout(members, leaving, demanded, order).map(({ updated, isBackward, peak }, index): Part => {
    const member = members[index] as MemberView;
    const stage = keepIfUnchanged(
      { digest, partition: partition ?? 0, updated, replicas: member.size, peak, isBackward },
      member.was,
    );
    const kept = member.kept ?? (isBackward && lent ? { ...lent, isLent: true } : undefined);
    const isWhole = !isBackward && (partition === undefined || (members.length === 1 && updated === demanded));
    return {
      stage,
      partition: !isWhole ? partitionOfStage(stage) : undefined,
      template: isBackward && kept ? kept.template : undefined,
      kept,
    };
  });
}

/** An otherwise unchanged copy is not rewritten: an acknowledged peak alone does not justify a write. */
function keepIfUnchanged(stage: MemberStage, was: MemberStage | undefined): MemberStage {
  const isSame =
    was?.digest === stage.digest &&
    was.partition === stage.partition &&
    was.updated === stage.updated &&
    was.replicas === stage.replicas &&
    was.isBackward === stage.isBackward;
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
