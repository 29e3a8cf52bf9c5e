/**
 * Reads a cluster's lease: until when its agent counts as alive, and whether its clock agrees with the hub's. Pure.
 *
 * An agent writes its own time into the lease. If that differs much from the hub's, the lease looks expired or never
 * expires, and the condition reports why. A cluster known to be out of sync can be exempted by an annotation; its lease
 * then counts from when the hub observed its renewal, because otherwise the exempt cluster would still be unreachable.
 *
 * A hub that was down finds leases that no agent could renew. They count from its start: otherwise every cluster would
 * look dead, and Placements would deselect them all.
 */
import { SKIP_CLOCK_CHECK_ANNOTATION } from "@flotilla/ocm";
import type { Lease } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Read } from "../cluster-conditions.ts";

/**
 * The last renewal that the hub observed, and when. `isObserved` if it was a change rather than the value found at the
 * start.
 */
export interface Renewal {
  readonly renewTime: string;
  readonly seenMs: number;
  readonly isObserved: boolean;
}

const DEFAULT_DURATION_SECONDS = 60;
/** The number of missed renewals after which an agent counts as unreachable. */
const MISSED_RENEWALS = 5;

/** How long a lease lasts, and how far the clocks may differ. Zero means the default. */
export function graceMs({ spec }: Read): number {
  return MISSED_RENEWALS * (spec.leaseDurationSeconds || DEFAULT_DURATION_SECONDS) * 1_000;
}

export function nextRenewal(before: Renewal | undefined, lease: DeepReadonly<Lease>, nowMs: number): Renewal {
  // A lease that was never renewed counts from its creation.
  const renewTime = lease.spec?.renewTime ?? lease.metadata.creationTimestamp ?? "";
  return before?.renewTime === renewTime ? before : { renewTime, seenMs: nowMs, isObserved: before !== undefined };
}

export function expiresAtMs(cluster: Read, { renewTime, seenMs, isObserved }: Renewal): number {
  const renewedMs = Date.parse(renewTime) || 0;
  return (isExempt(cluster) ? seenMs : isObserved ? renewedMs : Math.max(renewedMs, seenMs)) + graceMs(cluster);
}

/** Undefined while unknown: a renewal from before the hub's start may be old for good reasons. */
export function isClockSynced(cluster: Read, { renewTime, seenMs, isObserved }: Renewal): boolean | undefined {
  if (!isObserved) return undefined;
  return isExempt(cluster) || Math.abs(seenMs - (Date.parse(renewTime) || 0)) < graceMs(cluster);
}

const isExempt = ({ metadata }: Read): boolean => metadata.annotations?.[SKIP_CLOCK_CHECK_ANNOTATION] === "true";
