/**
 * Claims on cluster IPs and node ports, for stores that several API servers share.
 *
 * Which Service holds a number follows from the Services, but two servers can pick one number for two Services that
 * neither of them sees yet. So a server first writes a reservation for its Service and a claim for each number, and
 * stores the Service guarded by the reservation. A claim of a Service that does not hold the number is free: another
 * server removes the reservation of that Service, whose write then fails, and takes the claim over. So claims that a
 * crash left behind keep no number from other Services.
 */
import type { Cache, CachedEntry, CacheEvent } from "../store/cache.ts";
import type { Guard } from "../store/engine.ts";
import { StoreError } from "../store/errors.ts";
import { INTERNAL_PREFIX } from "../store/internal-keys.ts";
import type { Housekeeping } from "../background/housekeeping.ts";
import { RECORDS } from "../clusters/cluster-records.ts";
import { clusterOfKey } from "../resources/resources.ts";
import { heldIn, SERVICES_PREFIX } from "./service-holdings.ts";

const CLAIMS_PREFIX = `${INTERNAL_PREFIX}servicenumbers/`;
const RESERVATIONS_PREFIX = `${INTERNAL_PREFIX}servicereservations/`;

export interface ServiceNumber {
  kind: "addresses" | "ports";
  number: number;
}

const claimKey = (cluster: string, { kind, number }: ServiceNumber): string =>
  `${CLAIMS_PREFIX}${cluster}/${kind}/${number}`;
const reservationKey = (serviceKey: string): string => RESERVATIONS_PREFIX + serviceKey.slice(SERVICES_PREFIX.length);

export interface ClaimedNumbers {
  /** Holds until another server takes one of the numbers. */
  guard: Guard;
  /** Gives the numbers back when the Service is not stored. */
  release(): Promise<void>;
}

/** Claims numbers for the Service with this key. Undefined when another Service holds one, or another server was faster. */
export async function claimNumbers(
  cache: Cache,
  serviceKey: string,
  wanted: readonly ServiceNumber[],
): Promise<ClaimedNumbers | undefined> {
  const cluster = clusterOfKey(serviceKey);
  const record = cache.get(RECORDS + cluster);
  const guards: Guard[] = record ? [{ key: record.key, expect: record.revision }] : [];
  const write = async (key: string, current: CachedEntry | undefined): Promise<Guard | undefined> => {
    const outcome = await cache.write({
      key,
      expect: current?.revision ?? "absent",
      value: encode(serviceKey),
      guards,
    });
    return outcome.ok ? { key, expect: outcome.revision } : undefined;
  };
  const claims = wanted.map((one) => ({ one, key: claimKey(cluster, one), claim: cache.get(claimKey(cluster, one)) }));
  for (const { one, claim } of claims)
    if (claim && !(await dissolve(cache, decode(claim.value), serviceKey, one))) return undefined;
  const reservation = reservationKey(serviceKey);
  const guard = await write(reservation, cache.get(reservation));
  if (!guard) return undefined;
  const taken = await Promise.all(claims.map(({ key, claim }) => write(key, claim)));
  const release = (): Promise<void> => remove(cache, [guard, ...taken.filter((claim) => claim !== undefined)]);
  if (taken.every((claim) => claim !== undefined)) return { guard, release };
  await release();
  return undefined;
}

/** Removes the reservation of a claimant that does not hold the number. False when it holds it, or changes now. */
async function dissolve(
  cache: Cache,
  claimant: string,
  self: string,
  { kind, number }: ServiceNumber,
): Promise<boolean> {
  if (claimant === self) return true;
  const service = cache.get(claimant);
  if (heldIn(service)[kind].includes(number)) return false;
  const reservation = cache.get(reservationKey(claimant));
  if (!reservation) return true;
  const { ok } = await cache.write({
    key: reservation.key,
    expect: reservation.revision,
    value: null,
    guards: [{ key: claimant, expect: service?.revision ?? "absent" }],
  });
  return ok;
}

async function remove(cache: Cache, written: readonly Guard[]): Promise<void> {
  try {
    // One that was taken over in the meantime stays.
    await Promise.all(written.map(({ key, expect }) => cache.write({ key, expect, value: null })));
  } catch (error) {
    // The store is not available, which the writer of the Service learns. What is left is free, as after a crash.
    if (!(error instanceof StoreError)) throw error;
  }
}

/** Removes the claims of Services that no longer hold the number. Receives every event of the store. */
export function createClaimRemoval({
  housekeeping,
  cache,
}: {
  housekeeping: Pick<Housekeeping, "enqueue">;
  cache: Cache;
}): { observe(event: CacheEvent): void } {
  const removeStale = async (serviceKey: string, released: readonly ServiceNumber[]): Promise<void> => {
    const held = heldIn(cache.get(serviceKey));
    const claims = released
      .filter(({ kind, number }) => !held[kind].includes(number))
      .map((one) => cache.get(claimKey(clusterOfKey(serviceKey), one)))
      .filter((claim) => claim !== undefined && decode(claim.value) === serviceKey);
    const reservation = cache.get(serviceKey) ? undefined : cache.get(reservationKey(serviceKey));
    await remove(
      cache,
      [...claims, reservation].flatMap((entry) => (entry ? [{ key: entry.key, expect: entry.revision }] : [])),
    );
  };
  return {
    observe({ entry, previous }) {
      const key = (entry ?? previous)?.key ?? "";
      if (!cache.isShared || !previous || !key.startsWith(SERVICES_PREFIX)) return;
      const now = heldIn(entry);
      const before = heldIn(previous);
      const released = (["addresses", "ports"] as const).flatMap((kind) =>
        before[kind].filter((number) => !now[kind].includes(number)).map((number) => ({ kind, number })),
      );
      if (released.length > 0)
        housekeeping.enqueue(`claims of ${key} at ${previous.revision}`, () => removeStale(key, released));
    },
  };
}

const encode = (serviceKey: string): Uint8Array => Buffer.from(JSON.stringify({ service: serviceKey }));
const decode = (value: Uint8Array): string =>
  (JSON.parse(Buffer.from(value).toString()) as { service: string }).service;
