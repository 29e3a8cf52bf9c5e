/**
 * The first half of a pass: every slot gets a pod that works, and pods that should not be there go.
 *
 * OrderedReady does one thing at a time, in the order of ordinals, and ends at the first pod that is not available.
 * Parallel does everything at once; `scaleStrategy.maxUnavailable` then says how many slots may be without an available
 * pod before the walk goes no further. Works on the pass; see `pass.ts`.
 */
import { mendedIdentity } from "../../kubernetes/statefulset/identity.ts";
import { isStale } from "./claim-owners.ts";
import { change, claimNamed, makeClaims, mendClaimOwners, refresh, remove, wait } from "./pass.ts";
import type { Draft, Pass } from "./pass.ts";
import {
  availabilityOf,
  isHealthy,
  isOrdered,
  isRunningAndReady,
  isTerminating,
  minReadySecondsOf,
  shareOf,
} from "./pod-state.ts";

/** Nothing tells when a claim that blocks a pod is gone. */
export const BLOCKED_AGAIN_MS = 1_000;

/** After a step: look at the next one, leave the others but go on with the pass, or end the pass (in order). */
type Next = "next" | "leave" | "end";

/** True when the pass may go on to updates. */
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
  const firstSick = lowestSick(pass);
  return walk(pass, pass.condemned, (draft) => condemn(pass, draft, firstSick));
}

/** False when the pass ends. In parallel a pod that is not as it should be holds up no other. */
function walk(pass: Pass, drafts: readonly Draft[], step: (draft: Draft) => Next): boolean {
  for (const draft of drafts) {
    const next = step(draft);
    if (pass.ending || (next === "end" && isOrdered(pass.input.set))) return false;
    if (next === "leave") return true;
  }
  return true;
}

/** How many slots may yet be found without an available pod; nobody counts when it is undefined. */
interface Budget {
  left: number;
}

function scaleBudget({ input: { set } }: Pass): Budget | undefined | "unreadable" {
  const value = set.spec.scaleStrategy?.maxUnavailable;
  if (value === undefined) return undefined;
  const left = shareOf(set, value);
  return left === undefined ? "unreadable" : { left };
}

/** True when there is none left. */
const spend = (budget: Budget | undefined): boolean => budget !== undefined && --budget.left <= 0;

function keep(pass: Pass, draft: Draft, budget: Budget | undefined): Next {
  const { set, nowMs } = pass.input;
  const { seen } = draft;
  const phase = seen.status?.phase;
  // Also one that succeeded: the set wants it to run, and a node that stops may well report success.
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
    wait(pass, BLOCKED_AGAIN_MS);
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

/**
 * Labels that somebody took away come back, and so do claims and their owners. Volumes cannot change, so nothing can
 * mend those.
 */
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

/** Every claim template has a volume in the pod. */
function usesClaims({ input: { set } }: Pass, { seen }: Draft): boolean {
  return (set.spec.volumeClaimTemplates ?? []).every(({ metadata: { name } }) =>
    seen.spec.volumes?.some(
      (volume) => volume.name === name && volume.persistentVolumeClaim?.claimName === `${name}-${seen.metadata.name}`,
    ),
  );
}

/** Of all pods, wanted or not, the one with the lowest ordinal that does not work. */
function lowestSick({ slots, condemned }: Pass): Draft | undefined {
  const sick = [...slots, ...condemned].filter(({ seen }) => !isHealthy(seen));
  return sick.reduce<Draft | undefined>(
    (lowest, draft) => (lowest === undefined || draft.ordinal < lowest.ordinal ? draft : lowest),
    undefined,
  );
}

function condemn(pass: Pass, draft: Draft, firstSick: Draft | undefined): Next {
  const { set, nowMs } = pass.input;
  if (isTerminating(draft.seen)) return "end";
  // In order only one pod at a time may be away, so a sick pod of a lower ordinal goes first.
  const isWorking =
    isRunningAndReady(draft.seen) && availabilityOf(draft.seen, minReadySecondsOf(set), nowMs).isAvailable;
  if (isOrdered(set) && !isWorking && draft !== firstSick) return "end";
  return remove(pass, draft) === "waits" ? "next" : "end";
}
