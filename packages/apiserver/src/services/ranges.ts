/**
 * The ranges that Service addresses are allocated from: the default range of all clusters and the ranges of
 * ServiceCIDRs. Clusters have IPv4 Services only, so IPv6 ranges are stored but not used, as on a single-family API
 * server.
 */
import { DEFAULT_SERVICE_CIDR, SERVICE_RANGE, defaultServiceCidr, usableRanges } from "@flotilla/kubernetes";
import type { ServiceCIDR } from "@flotilla/kubernetes";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Cache, CacheEvent } from "../store/cache.ts";
import type { Housekeeping } from "../background/housekeeping.ts";
import { isMarker } from "../clusters/objects.ts";
import { knownObject } from "../codec/render.ts";
import type { PoolRange } from "./number-pool.ts";

export const RANGES_PREFIX = "/networking.k8s.io/servicecidrs/";

/** People choose low addresses: at least this many of a large range are kept for explicit requests. */
const MIN_KEPT = 16;
const MAX_KEPT = 256;
const KEPT_SHARE = 16;
/** A smaller range has no addresses left besides the network and broadcast addresses. */
const LONGEST_PREFIX = 30;

/** The ranges that the cluster's own ServiceCIDRs add to the one of its profile. */
export function addedRanges(cache: Cache, cluster: string): PoolRange[] {
  return cache
    .list(`${RANGES_PREFIX}${cluster}/`)
    .filter((entry) => !isMarker(entry))
    .flatMap((entry) =>
      usableRanges(
        (knownObject(entry) ?? JSON.parse(new TextDecoder().decode(entry.value))) as DeepReadonly<ServiceCIDR>,
      ),
    )
    .flatMap(({ address, prefixLength }) => (prefixLength > LONGEST_PREFIX ? [] : [rangeOf(address, prefixLength)]));
}

function rangeOf(address: readonly number[], prefixLength: number): PoolRange {
  const network = address.reduce((number, byte) => number * 256 + byte, 0);
  const size = 2 ** (32 - prefixLength);
  const offset = size <= MIN_KEPT ? 0 : Math.min(MAX_KEPT, Math.max(MIN_KEPT, Math.floor(size / KEPT_SHARE)));
  // Counted from the network address, which is never allocated.
  return { first: network + 1, last: network + size - 2, kept: Math.max(0, offset - 1) };
}

/** Receives every event of the store: recreates the default ServiceCIDR when it is deleted. */
export function createDefaultRange({
  housekeeping,
  clock,
}: {
  housekeeping: Pick<Housekeeping, "enqueue" | "find" | "create" | "rewrite">;
  clock: Clock;
}): { observe(event: CacheEvent): void } {
  return {
    observe({ entry, previous }) {
      const key = (entry ?? previous)?.key ?? "";
      if (!key.startsWith(RANGES_PREFIX) || !key.endsWith(`/${DEFAULT_SERVICE_CIDR}`) || (entry && !isMarker(entry)))
        return;
      housekeeping.enqueue(`default range ${key}`, async () => {
        if (housekeeping.find(key)) return;
        const range = defaultServiceCidr(SERVICE_RANGE, formatTime(clock.now()));
        await housekeeping.create(key, range);
        await housekeeping.rewrite(key, "status", (object) => ({ ...object, status: range.status as unknown as Json }));
      });
    },
  };
}
