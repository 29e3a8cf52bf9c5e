/**
 * Divides an Advanced StatefulSet so that every ordinal exists once in the fleet. A member takes the lowest ordinals
 * that are not reserved; reserving all ordinals of other members leaves it exactly its own, without a feature gate. A
 * partition keeps the lowest ordinals of the fleet at the old revision, whichever member runs them.
 */
import { defined, omitEmpty } from "@flotilla/base";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { DivideError } from "../divide/divide-error.ts";
import type { Share } from "@flotilla/kubernetes";
import { withSpecField } from "@flotilla/kubernetes";
import { splitBudgets, splitScaleStrategy } from "../divide/budgets.ts";
import { formatSpans, gapsIn, joinSpans, parseSpans } from "./ordinal-spans.ts";
import { LEAVING_ORDINALS, planOrdinals, type OrdinalSet, type Ownership } from "./plan-fleet-ordinals.ts";
import { digestOf, isPartitionRaised, withAnnotation, withStage } from "../divide/release.ts";
import { doing, rejectRolloutOrder } from "../divide/rollout-order.ts";
import { countsPerCluster, isDuplicated, stayingOf } from "../divide/counted-pods.ts";

type Copy = DeepReadonly<OrdinalSet>;

const NOTHING: Ownership = { own: [], leaving: undefined };

/** v1alpha1 lists its reserved ordinals one by one; longer lists are rejected. */
const MAX_LISTED = 100_000;

export function divideOrdinals(object: Copy, shares: readonly Share[]): ReadonlyMap<string, Copy> {
  if (countsPerCluster(object) || isDuplicated(shares, object.spec?.replicas ?? 1)) {
    return new Map(
      stayingOf(shares).map(({ cluster, replicas }) => [cluster, withSpecField(object, "replicas", replicas)]),
    );
  }
  rejectRolloutOrder(object);
  const { byCluster, all } = planOrdinals(object, shares);
  const partition = object.spec?.updateStrategy?.rollingUpdate?.partition;
  const firstUpdated = partition === undefined ? undefined : (all[Math.max(0, partition)] ?? Number.POSITIVE_INFINITY);
  const staying = stayingOf(shares);
  const owned = staying.map(({ cluster }) => byCluster.get(cluster) ?? NOTHING);
  const budgets = splitStrategies(
    object,
    owned.map(({ own }) => own.length),
  );
  return new Map([
    ...staying.map(
      ({ cluster, copy }, index) =>
        [
          cluster,
          staged(
            copyFor(object, owned[index] ?? NOTHING, firstUpdated, budgets[index] ?? {}),
            object,
            copy,
            all.length,
          ),
        ] as const,
    ),
    ...shares.flatMap((share) => (share.leaving ? emptied(share, byCluster.get(share.cluster)?.leaving) : [])),
  ]);
}

/**
 * A leaving member is first scaled to zero and removed when its ordinals are released: deleting the set at once would
 * free them while their pods are still terminating. Nothing else in its copy changes.
 */
function emptied({ cluster, copy }: Share, leaving: string | undefined): [string, Copy][] {
  return copy && leaving !== undefined
    ? [[cluster, withAnnotation(withSpecField(copy as Copy, "replicas", 0), LEAVING_ORDINALS, leaving)]]
    : [];
}

type Strategies = Pick<NonNullable<Copy["spec"]>, "updateStrategy" | "scaleStrategy">;

/** By member: the strategies with its part of the budgets. */
function splitStrategies({ spec }: Copy, sizes: readonly number[]): Strategies[] {
  const { updateStrategy, scaleStrategy } = spec ?? {};
  if (sizes.length < 2) return [{}];
  const rolling = updateStrategy?.rollingUpdate && splitBudgets(updateStrategy.rollingUpdate, sizes);
  const scaling = scaleStrategy && (splitScaleStrategy(scaleStrategy, sizes) as (typeof scaleStrategy)[]);
  return sizes.map((_size, index) => ({
    updateStrategy: rolling?.[index] ? { ...updateStrategy, rollingUpdate: rolling[index] } : undefined,
    scaleStrategy: scaling?.[index] ? scaling[index] : undefined,
  }));
}

function copyFor(
  object: Copy,
  { own, leaving }: Ownership,
  firstUpdated: number | undefined,
  strategies: Strategies,
): Copy {
  const reserved = reservedFor(object, own);
  const strategy = strategies.updateStrategy ?? object.spec?.updateStrategy;
  const spec = {
    ...object.spec,
    ...defined(strategies),
    replicas: own.length,
    ...omitEmpty({
      reserveOrdinals: reserved,
      updateStrategy:
        firstUpdated === undefined
          ? undefined
          : {
              ...strategy,
              rollingUpdate: {
                ...strategy?.rollingUpdate,
                partition: own.filter((ordinal) => ordinal < firstUpdated).length,
              },
            },
    }),
  };
  return withAnnotation({ ...object, spec }, LEAVING_ORDINALS, leaving);
}

/** By the name of the release it is known which counters of the member still count when the partition is lowered. */
function staged(copy: Copy, object: Copy, before: Copy | undefined, total: number): Copy {
  const partition = object.spec?.updateStrategy?.rollingUpdate?.partition;
  if (!partition) return copy;
  const digest = digestOf(object.spec?.template);
  const isRelease = digestOf(before?.spec?.template) === digest;
  return withStage(copy, digest, partition, {
    isRaised: isPartitionRaised(before, { digest, partition, total, isRelease }),
  });
}

/**
 * Everything up to the member's last ordinal that it does not own, and the ordinals that the user reserves, for when
 * the set grows.
 */
function reservedFor(object: Copy, own: readonly number[]): (number | string)[] {
  const spans = joinSpans([
    ...gapsIn(own, object.spec?.ordinals?.start ?? 0),
    ...parseSpans(object.spec?.reserveOrdinals ?? []),
  ]);
  // v1alpha1 supports single ordinals only.
  if (parseApiVersion(object.apiVersion).version !== "v1alpha1") return formatSpans(spans);
  const count = spans.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  if (count > MAX_LISTED)
    throw new DivideError(
      `${doing(object)}: v1alpha1 would have to list ${count} reserved ordinals, more than ${MAX_LISTED}; write it as v1beta1`,
    );
  return spans.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_each, index) => first + index));
}
