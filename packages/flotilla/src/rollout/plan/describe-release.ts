/** What the status of a release says about it: what it waits for, its conditions, the names of its assignments. Pure. */
import { failureText } from "./plan-failure.ts";
import { findCondition, withCondition } from "@flotilla/apimachinery";
import { STALE, STEP_KEEPS, STEP_REQUEST } from "../../flotilla-names.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { FleetRolloutStatus } from "../kinds/fleet-rollout.ts";
import { closedGates, renderGate } from "./plan-gates.ts";
import { isReturning } from "./release.ts";
import type { Entry, Release } from "./release.ts";
import { roomOf } from "./share-budget.ts";

/**
 * What an entry assigns to its member, as a text that is on its copy, with what it was assigned for: what people ask of
 * the release, and the wave. Unchanged entries keep theirs: it costs a write.
 */
export function nameStep({ input, status }: Release, entry: Entry): void {
  const before =
    input.rollout.status?.clusters?.find(({ name }) => name === entry.name) ??
    input.inherited?.find(({ name }) => name === entry.name);
  const isSame = before
    ? before.revision === entry.revision &&
      limitOf(before) === limitOf(entry) &&
      before.kept === entry.kept &&
      before.maxUnavailable === entry.maxUnavailable &&
      (before.paused ?? false) === (entry.paused ?? false)
    : entry.state === "Waiting";
  if (isSame) {
    if (before?.step !== undefined) entry.step = before.step;
    return;
  }
  const { revision, maxUnavailable, paused } = entry;
  const budget = maxUnavailable === undefined ? "" : `+${maxUnavailable}`;
  const request = `${input.rollout.metadata.generation ?? 0}.${status.waveIndex ?? 0}`;
  entry.step = `${revision}@${limitOf(entry) ?? "all"}${entry.kept === undefined ? "" : STEP_KEEPS}${budget}${paused ? "!" : ""}${STEP_REQUEST}${request}`;
}

/** The number that limits the copy; undefined if all pods of the member may have the revision. */
const limitOf = ({ target, replicas }: DeepReadonly<Entry>): number | undefined =>
  target === undefined || target >= replicas ? undefined : target;

export function describeWait(release: Release): string | undefined {
  const { status, entries, self, input } = release;
  switch (status.phase) {
    case "Succeeded":
    case "Superseded":
    case "RolledBack":
    case "Failed":
      return undefined;
    case "Paused":
      return status.failure ? `a decision after: ${status.failure.message}` : "resume";
    case "RollingBack": {
      const back = entries.filter(({ state }) => state === "RollingBack").map(({ name }) => name);
      if (input.rollout.spec.paused) return "resume";
      if (back.length > 0) return `${listed(back)} to return`;
      const away = entries.filter(isReturning);
      return away.length > 0 ? `${listed(away.map(({ name }) => name))} to be reachable` : "the disruption budget";
    }
    default: {
      const closed = closedGates(status);
      if (closed.length > 0) return closed.map(renderGate).join(", ");
      // A member that was away when its wave began has nothing of it yet.
      const inWave = new Set(status.plan?.[status.waveIndex ?? 0]?.clusters);
      const away = entries.filter(
        ({ state, wave, name }) => state === "Unreachable" && (wave !== undefined || inWave.has(name)),
      );
      if (away.length > 0) return `${listed(away.map(({ name }) => name))} to be reachable`;
      const updating = entries.filter(({ revision, state }) => revision === self && state !== "Updated");
      if (updating.length > 0) return `pods on ${listed(updating.map(({ name }) => name))}`;
      return roomOf(release) === undefined
        ? "members"
        : `the ${input.allowance ? `budget ${input.allowance.name}` : "budget"}`;
    }
  }
}

/** What a member waits for that would change and gets no part of the budget. */
export function describeBudget({ entries, members, input }: Release): string {
  const away = entries.filter(({ name, replicas }) => replicas > 0 && members.get(name)?.isReachable !== true);
  const pods = away.reduce((sum, { replicas }) => sum + replicas, 0);
  const budget = input.allowance ? `the budget ${input.allowance.name}` : "the budget";
  return pods === 0
    ? `waits for ${budget}`
    : `waits for ${budget}: ${pods} ${pods === 1 ? "pod" : "pods"} of ${listed(away.map(({ name }) => name))}, which cannot be reached, count as unavailable`;
}

const listed = (names: readonly string[]): string =>
  names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;

type Conditions = NonNullable<FleetRolloutStatus["conditions"]>;

/**
 * Whether the numbers have reports of members that cannot be reached. That all others report is not known: one may have
 * no copy yet. A release that was never stale has no such condition.
 */
function withStaleness({ entries, input }: Release, conditions: Conditions, now: string): Conditions {
  const away = entries.filter(({ unreachableSince }) => unreachableSince !== undefined).map(({ name }) => name);
  if (away.length === 0 && !findCondition(conditions, STALE)) return conditions;
  const next = withCondition(
    conditions,
    {
      type: STALE,
      ...(away.length > 0
        ? {
            status: "True",
            reason: "MembersNotReporting",
            message: `The numbers have the last reports of ${listed(away)}.`,
          }
        : { status: "False", reason: "NoneStale", message: "No numbers are of a member that cannot be reached." }),
      observedGeneration: input.rollout.metadata.generation,
    },
    now,
  );
  return [...next] as Conditions;
}

export function conditionsOf(release: Release, waiting: string | undefined, now: string): Conditions {
  const { status, input } = release;
  const { failure, phase } = status;
  const observedGeneration = input.rollout.metadata.generation;
  const isActive = phase === "Progressing" || phase === "RollingBack";
  const said = {
    type: "Progressing",
    status: isActive ? "True" : "False",
    reason: phase ?? "Progressing",
    message: waiting === undefined ? `The release is ${phase}.` : `Waits for ${waiting}.`,
  } as const;
  let conditions = withCondition(status.conditions ?? [], { ...said, observedGeneration }, now);
  if (failure || conditions.some(({ type }) => type === "Failed"))
    conditions = withCondition(
      conditions,
      failure
        ? { type: "Failed", status: "True", reason: failure.reason, message: failureText(failure), observedGeneration }
        : {
            type: "Failed",
            status: "False",
            reason: "Retried",
            message: "The release was retried.",
            observedGeneration,
          },
      now,
    );
  return withStaleness(release, [...conditions] as Conditions, now);
}
