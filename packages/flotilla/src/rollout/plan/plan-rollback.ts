/**
 * Returns the members that a release has reached to the revision before, those of the last wave first, and then those that
 * an earlier release left unfinished. Pure.
 */
import { durationMs } from "./durations.ts";
import { isReturning, withoutLimit } from "./release.ts";
import type { Entry, Release } from "./release.ts";
import { share } from "./share-budget.ts";

export function rollBack(release: Release): void {
  const { entries, previous, status, strategy, input, now, events } = release;
  if (previous === undefined) return;
  const deadlineMs = durationMs(strategy.failure.progressDeadline);
  const order = new Map((status.plan ?? []).map(({ name }, index) => [name, index]));
  const rank = (entry: Entry): number => order.get(entry.wave ?? "") ?? -1;
  const leftMs = ({ progressTime }: Entry): number => Date.parse(progressTime ?? now) + deadlineMs - input.nowMs;
  const isStuck = (entry: Entry): boolean => leftMs(entry) <= 0;
  const returning = entries.filter(isReturning);
  for (const entry of returning) if (!isStuck(entry)) release.wake(leftMs(entry));
  if (input.rollout.spec.paused) return;
  for (const entry of entries) if (entry.revision === previous) delete entry.paused;
  const left = entries.filter(({ revision }) => revision !== previous);
  // The members of a later wave are back before those of an earlier one begin, unless they cannot get back. Whether their
  // pods are available again is a question of the budget.
  const hasReturned = ({ name, replicas }: Entry): boolean => {
    const member = release.members.get(name);
    return member?.isAcknowledged === true && member.updated >= replicas;
  };
  const holdsBack = (entry: Entry): boolean => entry.state === "RollingBack" && !isStuck(entry) && !hasReturned(entry);
  const barrier = Math.max(...returning.filter(holdsBack).map(rank), -1);
  const last = Math.max(...left.map(rank), -1);
  const next = left.filter((entry) => rank(entry) === last).reverse();
  if (left.length > 0 && last >= barrier)
    share(
      release,
      next,
      (entry) => entry.replicas,
      (entry, token) => {
        entry.revision = previous;
        entry.returned = 0;
        withoutLimit(entry);
        delete entry.paused;
        entry.maxUnavailable = token;
        entry.state = entry.unreachableSince === undefined ? "RollingBack" : "Unreachable";
        entry.progressTime = now;
        delete entry.unhealthySince;
        entry.updated = 0;
        entry.ready = 0;
      },
    );
  if (entries.some(({ revision }) => revision !== previous)) return;
  const open = entries.filter(isReturning);
  if (open.some((entry) => !isStuck(entry))) return;
  status.phase = open.length === 0 ? "RolledBack" : "Failed";
  status.finishedAt = now;
  const stuck = open.map(({ name, message }) => `${name}${message === undefined ? "" : ` (${message})`}`).join(", ");
  events.push(
    open.length === 0
      ? {
          type: "Normal",
          reason: "RolledBack",
          message: `the release is rolled back to ${previous}`,
          clusters: entries.flatMap(({ name, state }) => (state === "RolledBack" ? [name] : [])),
        }
      : {
          type: "Warning",
          reason: "RollbackIncomplete",
          message: `members are not back on ${previous}: ${stuck}; they get it as soon as they take it`,
          clusters: open.map(({ name }) => name),
        },
  );
}
