/**
 * Plans one step of a StatefulSet: the pods to create, delete or repair, and their claims.
 *
 * OrderedReady does one thing at a time, in the order of ordinals, and waits until a pod is available before it
 * continues; Parallel creates and deletes all at once. Updates start from the highest ordinal and stop at the
 * partition. Reads the set, its pods and claims; writes nothing, `statefulset-controller.ts` executes the plan.
 */
import type { ReadonlyClaim } from "../persistentvolumeclaim/template-claims.ts";
import { scaledValue } from "@flotilla/apimachinery";
import type { ReadonlyRevision } from "../controllerrevision/pod-template-data.ts";
import { isAvailable, isReady } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { isStale, mendedOwners } from "./claim-owners.ts";
import {
  claimsOf,
  isInRange,
  mendedIdentity,
  ordinalOf,
  podName,
  replicasOf,
  revisionOf,
  startOf,
  statefulPod,
} from "./identity.ts";
import type { ReadonlyStatefulSet } from "./identity.ts";

export interface StatefulInput {
  set: ReadonlyStatefulSet;
  /** The pods of this set, named after it. */
  pods: readonly ReadonlyPod[];
  current: ReadonlyRevision;
  update: ReadonlyRevision;
  claimNamed(name: string): ReadonlyClaim | undefined;
  nowMs: number;
}

export interface StatefulPlan {
  create: ReadonlyPod[];
  remove: ReadonlyPod[];
  /** Pods whose identity labels are restored. */
  mend: ReadonlyPod[];
  createClaims: { claim: ReadonlyClaim; pod: string }[];
  mendClaims: ReadonlyClaim[];
  /** Waits for a terminating claim; no event would trigger the next reconcile. */
  isBlocked: boolean;
}

type Slot = { ordinal: number; pod?: ReadonlyPod };

export function planStatefulSet(input: StatefulInput): StatefulPlan {
  const { set, pods } = input;
  const plan: StatefulPlan = { create: [], remove: [], mend: [], createClaims: [], mendClaims: [], isBlocked: false };
  const byOrdinal = new Map<number, ReadonlyPod>();
  for (const pod of pods) byOrdinal.set(ordinalOf(set, pod) ?? -1, pod);
  const slots: Slot[] = Array.from({ length: replicasOf(set) }, (_, place) => {
    const pod = byOrdinal.get(startOf(set) + place);
    return { ordinal: startOf(set) + place, pod };
  });
  const condemned = [...byOrdinal]
    .filter(([ordinal]) => ordinal >= 0 && !isInRange(set, ordinal))
    .toSorted(([a], [b]) => b - a)
    .map(([ordinal, pod]) => ({ ordinal, pod }));

  const isOrdered = set.spec.podManagementPolicy !== "Parallel";
  for (const slot of slots) if (!keep(input, plan, slot, isOrdered) && isOrdered) return plan;
  for (const { ordinal, pod } of condemned) mendClaims(input, plan, pod, ordinal, true);
  const firstUnavailable = [...slots, ...condemned.toReversed()].find(
    ({ pod }) => pod === undefined || isUnavailable(input, pod),
  )?.pod;
  for (const { pod } of condemned)
    if (!condemn(input, plan, pod, firstUnavailable, isOrdered) && isOrdered) return plan;
  if (set.spec.updateStrategy?.type !== "OnDelete") updateSlots(input, plan, slots);
  return plan;
}

const isUnavailable = ({ set, nowMs }: Pick<StatefulInput, "set" | "nowMs">, pod: ReadonlyPod): boolean =>
  pod.metadata.deletionTimestamp !== undefined || !isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);

/** True if the slot is in its desired state, so that the next one may be processed. */
function keep(input: StatefulInput, plan: StatefulPlan, { ordinal, pod }: Slot, isOrdered: boolean): boolean {
  const { set } = input;
  if (!pod) {
    makePod(input, plan, ordinal);
    return false;
  }
  const { phase } = pod.status ?? {};
  // Also for Succeeded: a StatefulSet must keep running, and a stopping node may report success.
  if (phase === "Failed" || phase === "Succeeded") {
    if (!pod.metadata.deletionTimestamp) plan.remove.push(pod);
    return false;
  }
  if (phase === "Pending") plan.createClaims.push(...missingClaims(input, ordinal));
  if (isOrdered && (phase !== "Running" || !isReady(pod) || isUnavailable(input, pod))) return false;
  const mended = mendedIdentity(pod, ordinal);
  if (mended) plan.mend.push(mended);
  mendClaims(input, plan, pod, ordinal, !isInRange(set, ordinal));
  return true;
}

function makePod(input: StatefulInput, plan: StatefulPlan, ordinal: number): void {
  const { set, current, update } = input;
  const pod = statefulPod(set, isOfCurrent(set, ordinal) ? current : update, ordinal);
  const claims = [...claimsOf(set, ordinal).values()]
    .map(({ metadata }) => input.claimNamed(metadata.name))
    .filter((claim) => claim !== undefined);
  if (
    claims.some((claim) => claim.metadata.deletionTimestamp !== undefined || isStale(set, claim, pod.metadata.name))
  ) {
    plan.isBlocked = true;
    return;
  }
  plan.createClaims.push(...missingClaims(input, ordinal));
  plan.create.push(pod);
}

/** Below the partition a recreated pod has the current revision. */
function isOfCurrent(set: ReadonlyStatefulSet, ordinal: number): boolean {
  const { type = "RollingUpdate", rollingUpdate } = set.spec.updateStrategy ?? {};
  if (rollingUpdate) return ordinal < startOf(set) + (rollingUpdate.partition ?? 0);
  return type === "RollingUpdate" && ordinal < startOf(set) + (set.status?.currentReplicas ?? 0);
}

function missingClaims({ set, claimNamed }: StatefulInput, ordinal: number): StatefulPlan["createClaims"] {
  const missing = [...claimsOf(set, ordinal).values()].filter(
    ({ metadata }) => claimNamed(metadata.name) === undefined,
  );
  return missing.map((claim) => ({ claim, pod: podName(set, ordinal) }));
}

function mendClaims(
  { set, claimNamed }: StatefulInput,
  plan: StatefulPlan,
  pod: ReadonlyPod,
  ordinal: number,
  isCondemned: boolean,
): void {
  for (const { metadata } of claimsOf(set, ordinal).values()) {
    const claim = claimNamed(metadata.name);
    const mended = claim && mendedOwners(set, claim, pod, isCondemned);
    if (mended) plan.mendClaims.push(mended);
  }
}

/** True if the next one may be processed. */
function condemn(
  input: StatefulInput,
  plan: StatefulPlan,
  pod: ReadonlyPod,
  firstUnavailable: ReadonlyPod | undefined,
  isOrdered: boolean,
): boolean {
  if (pod.metadata.deletionTimestamp) return !isOrdered;
  const isHealthy = pod.status?.phase === "Running" && !isUnavailable(input, pod);
  // In order only one pod at a time may be unavailable, so an unhealthy pod of a lower ordinal comes first.
  if (isOrdered && !isHealthy && pod !== firstUnavailable) return false;
  plan.remove.push(pod);
  return false;
}

function updateSlots(input: StatefulInput, plan: StatefulPlan, slots: readonly Slot[]): void {
  const { set, update } = input;
  const { partition = 0, maxUnavailable } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const isOutdated = (pod: ReadonlyPod): boolean =>
    revisionOf(pod) !== update.metadata.name && !pod.metadata.deletionTimestamp && !plan.remove.includes(pod);
  const isDown = ({ pod }: Slot): boolean =>
    pod === undefined || isUnavailable(input, pod) || plan.remove.includes(pod);
  if (maxUnavailable === undefined) {
    const targets = slots.slice(partition).toReversed();
    const outdated = targets.filter(({ pod }) => pod !== undefined && isOutdated(pod));
    // Only Parallel gets here with an unavailable pod, when a rollout is overtaken by the next. Upstream would continue
    // from the top and have two pods unavailable: here the unavailable one comes first, and a starting one is waited
    // for.
    const isInHand =
      targets.some(isDown) ||
      slots.some(({ pod }) => pod === undefined || pod.metadata.deletionTimestamp !== undefined);
    const next = outdated.find(isDown) ?? (isInHand ? undefined : outdated[0]);
    if (next?.pod) plan.remove.push(next.pod);
    return;
  }
  const allowed = Math.max(1, scaledValue(maxUnavailable, replicasOf(set), { roundUp: false }));
  let room = allowed - slots.filter(isDown).length;
  for (const { pod } of slots.slice(partition).toReversed()) {
    if (room <= 0) return;
    if (!pod || !isOutdated(pod)) continue;
    plan.remove.push(pod);
    room--;
  }
}
