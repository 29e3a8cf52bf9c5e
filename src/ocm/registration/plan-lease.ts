/**
 * What the lease of a cluster says: until when its agent is believed to live, and whether its clock agrees with the
 * hub's. Pure.
 *
 * An agent writes its own time into the lease. Where that is far from the hub's, the lease looks expired or
 * everlasting, and the condition says why. A cluster that is known to be out of step can be exempted by an annotation;
 * its lease then counts from when the hub saw it change, because an exemption that leaves the cluster unreachable would
 * be of no use.
 *
 * A hub that was away finds leases that nobody could renew. They count from when it is back: otherwise it would take
 * every cluster for dead, and Placements would leave them all.
 */
import { SKIP_CLOCK_CHECK_ANNOTATION } from "../../api/index.ts";
import type { Lease } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { Read } from "./conditions.ts";

/**
 * The last renewal that the hub saw, and when it saw it. `isNews` when it was a change rather than what was there at
 * the start.
 */
export interface Renewal {
  readonly renewTime: string;
  readonly seenMs: number;
  readonly isNews: boolean;
}

const DEFAULT_DURATION_SECONDS = 60;
/** An agent that misses this many renewals is not heard any more. */
const MISSED_RENEWALS = 5;

/** How long a lease lasts, and how far two clocks may be apart. Zero means the default. */
export function graceMs({ spec }: Read): number {
  return MISSED_RENEWALS * (spec.leaseDurationSeconds || DEFAULT_DURATION_SECONDS) * 1_000;
}

export function nextRenewal(before: Renewal | undefined, lease: DeepReadonly<Lease>, nowMs: number): Renewal {
  // One that was never renewed counts from its creation.
  const renewTime = lease.spec?.renewTime ?? lease.metadata.creationTimestamp ?? "";
  return before?.renewTime === renewTime ? before : { renewTime, seenMs: nowMs, isNews: before !== undefined };
}

export function expiresAtMs(cluster: Read, { renewTime, seenMs, isNews }: Renewal): number {
  const renewedMs = Date.parse(renewTime) || 0;
  return (isExempt(cluster) ? seenMs : isNews ? renewedMs : Math.max(renewedMs, seenMs)) + graceMs(cluster);
}

/** Undefined while nothing can be told: a renewal from before the hub looked may be old for good reasons. */
export function isClockSynced(cluster: Read, { renewTime, seenMs, isNews }: Renewal): boolean | undefined {
  if (!isNews) return undefined;
  return isExempt(cluster) || Math.abs(seenMs - (Date.parse(renewTime) || 0)) < graceMs(cluster);
}

const isExempt = ({ metadata }: Read): boolean => metadata.annotations?.[SKIP_CLOCK_CHECK_ANNOTATION] === "true";
