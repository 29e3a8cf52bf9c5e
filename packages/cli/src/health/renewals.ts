/** When agents last renewed their Leases. Pure. */
import { KARMADA_CLUSTER_NAMESPACE } from "@flotilla/karmada";
import type { Lease } from "@flotilla/kubernetes";
import { CLUSTER_LEASE } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";

export interface Renewal {
  /** RFC 3339 */
  at: string;
  atMs: number;
  /** How long it counts. */
  holdsMs: number;
}

/** As Karmada's agents use. */
const HOLDS_MS = 40_000;

/** The latest renewal of each member's agents, Karmada's and Open Cluster Management's; other Leases are ignored. */
export function renewalsOf(leases: readonly DeepReadonly<Lease>[]): Map<string, Renewal> {
  const renewals = new Map<string, Renewal>();
  for (const {
    metadata: { namespace = "", name },
    spec,
  } of leases) {
    const member = namespace === KARMADA_CLUSTER_NAMESPACE ? name : name === CLUSTER_LEASE ? namespace : undefined;
    const at = spec?.renewTime ?? "";
    const atMs = Date.parse(at);
    if (member === undefined || !Number.isFinite(atMs) || (renewals.get(member)?.atMs ?? 0) > atMs) continue;
    // An Open Cluster Management lease is valid for five times its duration.
    const holdsMs =
      namespace === KARMADA_CLUSTER_NAMESPACE
        ? HOLDS_MS
        : Math.max(HOLDS_MS, (spec?.leaseDurationSeconds ?? 60) * 5_000);
    renewals.set(member, { at, atMs, holdsMs });
  }
  return renewals;
}
