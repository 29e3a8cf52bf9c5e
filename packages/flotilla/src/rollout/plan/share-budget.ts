/**
 * Divides the budget of a release over its members. Pure.
 *
 * What a member may be making unavailable is booked from the moment it is allowed to until it reports that it is done.
 * What cannot be observed counts as unavailable.
 */
import { scaledValue } from "@flotilla/apimachinery";
import { totalOf } from "./release.ts";
import type { Entry, Release } from "./release.ts";

/** Divides the free part of the budget over members that want to change, in their order. */
export function share(
  release: Release,
  wanting: readonly Entry[],
  needOf: (entry: Entry) => number,
  give: (entry: Entry, token: number | undefined) => void,
): void {
  const { updates } = release.input;
  const room = roomOf(release);
  if (room === undefined || updates.takesDown === "none") {
    for (const entry of wanting) give(entry, undefined);
    return;
  }
  let free = room;
  for (const [index, entry] of wanting.entries()) {
    const need = Math.max(1, needOf(entry));
    const down = unavailableOn(release, entry);
    // Pods that are unavailable anyway cost nothing more. Those of a member that cannot be observed may be available: they
    // are booked, and it gets no more than what the others leave.
    const isKnown = release.members.get(entry.name)?.isReachable === true;
    const most = isKnown ? Math.max(0, free) + down : Math.max(0, free + down);
    const asks = updates.takesDown === "all" ? entry.replicas : updates.takesDown === "one" ? 1 : undefined;
    const part = isKnown ? Math.ceil(Math.max(0, free) / (wanting.length - index)) + down : most;
    const token = entry.replicas === 0 ? 0 : (asks ?? Math.min(need, Math.max(part, Math.min(most, 1))));
    if (token > most || (token < 1 && entry.replicas > 0)) continue;
    free -= Math.max(0, token - down);
    give(entry, updates.takesDown === "budget" ? Math.max(1, token) : undefined);
    entry.booked = token;
  }
}

/** Free pods of the budget; undefined without one. */
export function roomOf(release: Release): number | undefined {
  const { strategy, entries, input } = release;
  const total = totalOf(entries);
  const own =
    strategy.maxUnavailable === undefined ? undefined : scaledValue(strategy.maxUnavailable, total, { roundUp: true });
  const limit = Math.min(own ?? Number.POSITIVE_INFINITY, input.allowance?.pods ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(limit) ? limit - bookedIn(release) : undefined;
}

export function bookedIn(release: Release): number {
  return release.entries.reduce((sum, entry) => sum + bookedBy(release, entry), 0);
}

/** What a member may be making unavailable: what it was allowed to and has not finished, or what it is known to lack. */
function bookedBy(release: Release, entry: Entry): number {
  return Math.max(isInFlight(entry) ? (entry.booked ?? 0) : 0, unavailableOn(release, entry));
}

/** A member that waits may be returning from a release before (`returnLeftovers`). */
const isInFlight = ({ state }: Entry): boolean =>
  state === "Updating" || state === "RollingBack" || state === "Unreachable" || state === "Waiting";

function unavailableOn({ members, input }: Release, entry: Entry): number {
  if (input.updates.takesDown === "none") return 0;
  const member = members.get(entry.name);
  if (!member?.isReachable) return entry.replicas;
  return Math.max(0, entry.replicas - member.available);
}
