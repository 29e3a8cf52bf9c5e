/** When agents last renewed their Leases. Pure. */
import { KARMADA_CLUSTER_NAMESPACE } from "@flotilla/karmada";
import type { Lease } from "@flotilla/kubernetes";
import { CLUSTER_LEASE } from "@flotilla/ocm";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";

export interface Renewal {
  /** RFC 3339 */
  at: string;
  /** By the hub's clock, if the hub recorded it: the agent's may be wrong. */
  atMs: number;
  /** How far the agent's clock is ahead of the hub's; negative when it is behind, unset if unknown. */
  clockAheadMs?: number | undefined;
  /** How long it counts. */
  holdsMs: number;
}

/** Leases last a few tens of seconds, and certificates are checked to the second. */
export const WRONG_CLOCK_MS = 30_000;
/** The hub records whole seconds. */
const RESOLUTION_MS = 1_000;
/** As Karmada's agents use. */
const HOLDS_MS = 40_000;

/** The latest renewal of each member's agents, Karmada's and Open Cluster Management's; other Leases are ignored. */
export function renewalsOf(leases: readonly DeepReadonly<Lease>[]): Map<string, Renewal> {
  const renewals = new Map<string, Renewal>();
  for (const { metadata, spec } of leases) {
    const { namespace = "", name } = metadata;
    const member = namespace === KARMADA_CLUSTER_NAMESPACE ? name : name === CLUSTER_LEASE ? namespace : undefined;
    const { renewTime = "" } = spec ?? {};
    const saidMs = Date.parse(renewTime);
    const recorded = renewalEntry(metadata)?.time ?? "";
    const recordedMs = Date.parse(recorded);
    const isRecorded = Number.isFinite(recordedMs);
    const atMs = isRecorded ? recordedMs : saidMs;
    if (member === undefined || !Number.isFinite(saidMs) || (renewals.get(member)?.atMs ?? 0) > atMs) continue;
    // An Open Cluster Management lease is valid for five times its duration.
    const holdsMs =
      namespace === KARMADA_CLUSTER_NAMESPACE
        ? HOLDS_MS
        : Math.max(HOLDS_MS, (spec?.leaseDurationSeconds ?? 60) * 5_000);
    const clockAheadMs = isRecorded ? saidMs - recordedMs : undefined;
    renewals.set(member, { at: isRecorded ? recorded : renewTime, atMs, holdsMs, clockAheadMs });
  }
  return renewals;
}

/** The hub's record of the write that set the time of the renewal. */
function renewalEntry({ managedFields = [] }: DeepReadonly<Lease>["metadata"]): { readonly time?: string } | undefined {
  return managedFields.find(({ fieldsV1 }) => {
    const spec = isObject(fieldsV1) ? fieldsV1["f:spec"] : undefined;
    return isObject(spec) && spec["f:renewTime"] !== undefined;
  });
}

export const isClockWrong = ({ clockAheadMs = 0 }: Pick<Renewal, "clockAheadMs">): boolean =>
  Math.abs(clockAheadMs) - RESOLUTION_MS >= WRONG_CLOCK_MS;

export const wrongClockText = (aheadMs: number): string =>
  `its clock is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? "ahead of" : "behind"} the hub's, so ` +
  "certificates may count as expired or not yet valid there";
