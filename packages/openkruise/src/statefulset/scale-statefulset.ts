/**
 * The first half of a reconcile: creates a healthy pod for every slot, and deletes surplus pods.
 *
 * OrderedReady does one thing at a time, in the order of ordinals, and ends at the first unavailable pod. Parallel does
 * everything at once; `scaleStrategy.maxUnavailable` then limits the number of slots without an available pod. Modifies
 * the `Pass`; see `planned-actions.ts`.
 */
import { mendedIdentity } from "@flotilla/kubernetes";
import { isStale } from "./claim-owners.ts";
import { change, claimNamed, makeClaims, mendClaimOwners, refresh, remove, wait } from "./planned-actions.ts";
import type { Draft, Pass } from "./planned-actions.ts";
import {
  availabilityOf,
  isHealthy,
  isOrdered,
  isRunningAndReady,
  isTerminating,
  minReadySecondsOf,
  shareOf,
} from "./statefulset-pod-state.ts";

/** Polled, because no event signals that a blocking claim was deleted. */
export const BLOCKED_RETRY_MS = 1_000;

/** After a step: continue with the next one, skip the others but continue the plan, or end the plan (in order). */
type Next = "next" | "leave" | "end";

/** True if the plan may continue with updates. */
export function scale(pass: Pass): boolean {
  const { set } = pass.input;
  const budget = scaleBudget(pass);
  if (budget === "unreadable") {
    pass.ending = {
      because: "failure",
      message: `scaleStrategy.maxUnavailable is neither a number nor a percentage: ${JSON.stringify(set.spec.scaleStrategy?.maxUnavailable)}`,
    };
    return false;
  }
  if (!walk(pass, pass.slots, (draft) => keep(pass, draft, budget))) return false;
  for (const draft of pass.condemned) mendClaimOwners(pass, draft);
  const firstSick = lowestUnhealthy(pass);
  return walk(pass, pass.condemned, (draft) => condemn(pass, draft, firstSick));
}

/** Returns false if the plan ends. In parallel an unhealthy pod does not block others. */
function walk(pass: Pass, drafts: readonly Draft[], step: (draft: Draft) => Next): boolean {
  for (const draft of drafts) {
    const next = step(draft);
    if (pass.ending || (next === "end" && isOrdered(pass.input.set))) return false;
    if (next === "leave") return true;
  }
  return true;
}

/** How many more slots may lack an available pod; undefined means no limit. */
interface Budget {
  left: number;
}

function scaleBudget({ input: { set } }: Pass): Budget | undefined | "unreadable" {
  const value = set.spec.scaleStrategy?.maxUnavailable;
  if (value === undefined) return undefined;
  const left = shareOf(set, value);
  return left === undefined ? "unreadable" : { left };
}

/** True when none is left. */
const spend = (budget: Budget | undefined): boolean => budget !== undefined && --budget.left <= 0;

function keep(pass: Pass, draft: Draft, budget: Budget | undefined): Next {
  const { set, nowMs } = pass.input;
  const { seen } = draft;
  const phase = seen.status?.phase;
  // Also for Succeeded: the set must keep running, and a stopping node may report success.
  if (phase === "Failed" || phase === "Succeeded") {
    if (spend(budget)) return "leave";
    if (!isTerminating(seen)) remove(pass, draft);
    return "end";
  }
  if (draft.is === "missing") return make(pass, draft, budget);

  if (phase === "Pending") {
    const problem = makeClaims(pass, draft);
    if (problem !== undefined) return fail(pass, { message: problem, isBlocked: true });
    mendClaimOwners(pass, draft);
  }
  if (isTerminating(seen)) {
    if (isOrdered(set)) return "end";
    if (spend(budget)) return "leave";
  }
  if (refresh(pass, draft) === "ended") return "end";
  if (isOrdered(set) || budget) {
    const { isAvailable, waitMs } = availabilityOf(seen, minReadySecondsOf(set), nowMs);
    if (!isAvailable && (isOrdered(set) || spend(budget))) {
      wait(pass, waitMs);
      return isOrdered(set) ? "end" : "leave";
    }
  }
  return mend(pass, draft);
}

function make(pass: Pass, draft: Draft, budget: Budget | undefined): Next {
  const { set, gates } = pass.input;
  const { name } = draft.seen.metadata;
  const claims = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) =>
    claimNamed(pass, `${metadata.name}-${name}`),
  );
  if (gates.isOn("StatefulSetAutoDeletePVC") && claims.some((claim) => claim && isStale(set, claim, name))) {
    wait(pass, BLOCKED_RETRY_MS);
    return "end";
  }
  const problem = makeClaims(pass, draft);
  if (problem !== undefined) {
    pass.events.push({
      type: "Warning",
      reason: "FailedCreate",
      message: `create Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${problem}`,
    });
    return fail(pass, { message: problem, isBlocked: true, isCreation: true });
  }
  mendClaimOwners(pass, draft);
  draft.is = "new";
  if (isOrdered(set)) return "end";
  return spend(budget) ? "leave" : "next";
}

function fail(pass: Pass, failure: { message: string; isBlocked?: boolean; isCreation?: boolean }): Next {
  pass.ending = { because: "failure", ...failure };
  return "end";
}

/** Restores labels, claims and their owners. Volumes of a pod are immutable and cannot be restored. */
function mend(pass: Pass, draft: Draft): Next {
  const identity = mendedIdentity(draft.after, draft.ordinal);
  if (identity) {
    if (!change(pass, draft, identity)) return "end";
    draft.isMended = true;
  }
  if (!usesClaims(pass, draft)) {
    const problem = makeClaims(pass, draft);
    if (problem !== undefined) return fail(pass, { message: problem, isBlocked: true });
  }
  if (mendClaimOwners(pass, draft)) draft.isMended = true;
  return "next";
}

/** Whether every claim template has a volume in the pod. */
function usesClaims({ input: { set } }: Pass, { seen }: Draft): boolean {
  return (set.spec.volumeClaimTemplates ?? []).every(({ metadata: { name } }) =>
    seen.spec.volumes?.some(
      (volume) => volume.name === name && volume.persistentVolumeClaim?.claimName === `${name}-${seen.metadata.name}`,
    ),
  );
}

/** The unhealthy pod with the lowest ordinal, among all pods. */
function lowestUnhealthy({ slots, condemned }: Pass): Draft | undefined {
  const sick = [...slots, ...condemned].filter(({ seen }) => !isHealthy(seen));
  return sick.reduce<Draft | undefined>(
    (lowest, draft) => (lowest === undefined || draft.ordinal < lowest.ordinal ? draft : lowest),
    undefined,
  );
}

function condemn(pass: Pass, draft: Draft, firstSick: Draft | undefined): Next {
  const { set, nowMs } = pass.input;
  if (isTerminating(draft.seen)) return "end";
  // In order only one pod at a time may be unavailable, so an unhealthy pod of a lower ordinal comes first.
  const isWorking =
    isRunningAndReady(draft.seen) && availabilityOf(draft.seen, minReadySecondsOf(set), nowMs).isAvailable;
  if (isOrdered(set) && !isWorking && draft !== firstSick) return "end";
  return remove(pass, draft) === "waits" ? "next" : "end";
}
