/**
 * The groups of the hub's controllers that may run in different processes, and the Leases that say where. Members are
 * spread over shards of the group `delivery`, which is the only one whose work grows with the members' objects.
 *
 * Pure.
 */
import { fnv1a32 } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Lease } from "@flotilla/kubernetes";
import { CONTROLLERS_LEASE } from "./flotilla-names.ts";

/**
 * `propagation`: from templates to Works, and their status back; autoscalers of templates. `membership`: Clusters and agents. `ocm`: registration,
 * Placements and ManifestWorkReplicaSets. `delivery`: what Works and ManifestWorks contain, on members that the hub
 * reaches.
 */
export const CONTROLLER_GROUPS = ["propagation", "membership", "ocm", "delivery"] as const;
export type ControllerGroup = (typeof CONTROLLER_GROUPS)[number];

/** One of `count` parts of the members; the index counts from 0. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

export const WHOLE: Shard = { index: 0, count: 1 };

/**
 * The Lease of a group. That of `propagation` has the name of the Lease that `flotilla apiserver` creates without a
 * holder, so that clients know that the controllers are elsewhere.
 */
export function controllersLease(group: ControllerGroup, { index, count }: Shard = WHOLE): string {
  if (group === "propagation") return CONTROLLERS_LEASE;
  const name = `${CONTROLLERS_LEASE}-${group}`;
  return group === "delivery" && count > 1 ? `${name}-${index}-of-${count}` : name;
}

/**
 * The shard of a member, by rendezvous hashing: each shard has a weight for the member, and the largest wins. With one
 * shard more, members move only to the new one.
 */
export function shardOf(member: string, count: number): number {
  let best = 0;
  let most = -1;
  for (let index = 0; index < count; index++) {
    const weight = scrambled(fnv1a32(`${index}/${member}`));
    if (weight > most) [best, most] = [index, weight];
  }
  return best;
}

/** FNV changes few high bits for texts that differ in the end, so its bits are mixed (the finalizer of MurmurHash3). */
function scrambled(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** A group, or a shard of it, that must run, and the Lease of the process that runs it. */
interface ControllerUnit {
  /** `ocm`, or `delivery 1/3`. */
  name: string;
  lease: DeepReadonly<Lease> | undefined;
}

const SHARD_LEASE = new RegExp(`^${CONTROLLERS_LEASE}-delivery(?:-(\\d+)-of-(\\d+))?$`);

/** The shard whose Lease has this name; undefined for other Leases. */
export function shardOfLease(name: string): Shard | undefined {
  const match = SHARD_LEASE.exec(name);
  return match ? { index: Number(match[1] ?? 0), count: Number(match[2] ?? 1) } : undefined;
}

/**
 * Every group and shard that must run, by the Leases of the hub. How many shards there are is known from the Lease that
 * was renewed last: those of another number are left over from before.
 */
export function controllerUnits(leases: readonly DeepReadonly<Lease>[]): ControllerUnit[] {
  const named = (name: string): DeepReadonly<Lease> | undefined =>
    leases.find(({ metadata }) => metadata.name === name);
  const renewedMs = ({ spec }: DeepReadonly<Lease>): number => Date.parse(spec?.renewTime ?? "") || 0;
  const newest = leases
    .filter(({ metadata }) => shardOfLease(metadata.name))
    .toSorted((a, b) => renewedMs(b) - renewedMs(a))[0];
  const { count } = (newest && shardOfLease(newest.metadata.name)) ?? WHOLE;
  return CONTROLLER_GROUPS.flatMap((group) =>
    Array.from({ length: group === "delivery" ? count : 1 }, (_, index) => ({
      name: group === "delivery" && count > 1 ? `${group} ${index}/${count}` : group,
      lease: named(controllersLease(group, { index, count })),
    })),
  );
}
