/** Brings what a release knows of its members up to what they report now. Pure. */
import { noticeGrowth } from "./keep-moved.ts";
import type { FleetRolloutStatus } from "../kinds/fleet-rollout.ts";
import type { ObservedMember } from "./release-state.ts";
import type { Entry, Release } from "./release.ts";

export function observe(release: Release): void {
  const { input, self, previous, status, entries } = release;
  const known = new Map((status.clusters ?? []).map((entry) => [entry.name, entry]));
  const inherited = new Map((input.inherited ?? []).map((entry) => [entry.name, entry]));
  const isFirst = status.clusters === undefined;
  const when = isOver(status.phase) ? "after" : "during";
  for (const member of input.members) {
    const before = known.get(member.name);
    const start = isFirst ? inherited.get(member.name) : undefined;
    // A member that joins during a release is created with the previous template, so that no pod of it is ahead.
    const joins = status.phase === "Succeeded" || previous === undefined ? self : previous;
    const given = start?.revision ?? (isFirst ? (previous ?? self) : joins);
    const hasAll = start?.target === undefined && start?.paused === undefined && input.same?.has(given) === true;
    const entry: Entry = before ?? {
      name: member.name,
      revision: isFirst && hasAll ? self : given,
      target: start?.target,
      filled: start?.filled,
      kept: start?.kept,
      maxUnavailable: start?.maxUnavailable,
      // An unfinished release that was paused does not continue there.
      paused: start?.paused,
      step: start?.step,
      replicas: member.size,
      updated: 0,
      ready: 0,
      state: "Waiting",
    };
    if (!before && !isFirst)
      release.events.push({
        type: "Normal",
        reason: "MemberJoined",
        message: `${member.name} joined ${when} the release and starts with ${entry.revision}`,
        clusters: [member.name],
      });
    entries.push(observed(release, entry, member));
  }
  for (const entry of known.values())
    if (!release.members.has(entry.name))
      release.events.push({
        type: "Normal",
        reason: "MemberLeft",
        message: `${entry.name} left ${when} the release`,
        clusters: [entry.name],
      });
  status.clusters = entries;
}

const isOver = (phase: FleetRolloutStatus["phase"]): boolean =>
  phase === "Succeeded" || phase === "RolledBack" || phase === "Failed" || phase === "Superseded";

function observed({ self, now }: Release, before: Entry, member: ObservedMember): Entry {
  const entry: Entry = { ...before };
  const isOwn = entry.revision === self;
  if (isOwn) noticeGrowth(entry, member.size);
  entry.replicas = member.size;
  if (!member.isReachable) {
    entry.unreachableSince ??= now;
    entry.state = entry.state === "Skipped" ? "Skipped" : "Unreachable";
    entry.message = "cannot be reached";
    return entry;
  }
  delete entry.unreachableSince;
  delete entry.message;
  if (member.problem !== undefined) entry.message = member.problem.slice(0, 512);
  else if (member.trouble) entry.message = member.trouble.message.slice(0, 512);
  const updated = !member.isAcknowledged ? entry.updated : isOwn ? member.updated : 0;
  const ready = !member.isAcknowledged ? Math.min(entry.ready, updated) : isOwn ? member.ready : 0;
  // A member that was lost while it returned still returns.
  const isBack = !isOwn && before.returned !== undefined;
  if (updated !== before.updated || ready > before.ready) entry.progressTime = now;
  entry.updated = updated;
  entry.ready = ready;
  if (isBack) {
    const returned = member.isAcknowledged ? Math.min(member.updated, member.ready) : (before.returned ?? 0);
    if (returned > (before.returned ?? 0)) entry.progressTime = now;
    entry.returned = returned;
    const isDone = member.isAcknowledged && member.updated >= member.size && member.ready >= member.size;
    entry.state = isDone ? "RolledBack" : "RollingBack";
    if (isDone) delete entry.progressTime;
    else entry.progressTime ??= now;
  } else if (!isOwn) {
    entry.state = "Waiting";
    if (member.isAcknowledged && member.updated >= member.size && member.ready >= member.size) delete entry.booked;
    // The deadline of a member that is behind starts when it falls behind, however long its wave has been open.
    if (member.isAcknowledged) delete entry.progressTime;
    else if (before.state !== "Waiting" || before.progressTime === undefined) entry.progressTime = now;
  } else {
    const goal = entry.target ?? member.size;
    const wasDone = before.state === "Updated" || before.state === "Unhealthy";
    const isComplete = member.isAcknowledged && updated >= goal;
    if (isComplete && ready >= goal) {
      entry.state = "Updated";
      delete entry.unhealthySince;
    } else if (wasDone && isComplete) {
      entry.state = "Unhealthy";
      entry.unhealthySince ??= now;
    } else {
      // A member that gets something new, such as more replicas, has its whole deadline again.
      if (wasDone) entry.progressTime = now;
      entry.state = "Updating";
      delete entry.unhealthySince;
    }
  }
  return entry;
}
