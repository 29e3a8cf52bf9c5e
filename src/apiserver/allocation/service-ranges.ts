/**
 * The ranges that a cluster's Services get their addresses from: the one that all clusters have, and those that
 * ServiceCIDRs add. Clusters have Services of IPv4 alone, so ranges of IPv6 are kept and not drawn from, as on a server
 * with one family.
 */
import { DEFAULT_SERVICE_CIDR, SERVICE_RANGE, defaultServiceCidr, usableRanges } from "../../api/index.ts";
import type { ServiceCIDR } from "../../api/index.ts";
import { formatTime } from "../../base/index.ts";
import type { Clock, DeepReadonly, Json } from "../../base/index.ts";
import type { Cache, CacheEvent } from "../../store/index.ts";
import type { Housekeeping } from "../background/housekeeping.ts";
import { isMarker } from "../clusters/objects.ts";
import { knownObject } from "../read/render.ts";
import type { PoolRange } from "./number-pool.ts";

export const RANGES_PREFIX = "/networking.k8s.io/servicecidrs/";

/** People choose low addresses: of a large range so many are given only to those who ask for them. */
const MIN_KEPT = 16;
const MAX_KEPT = 256;
const KEPT_SHARE = 16;
/** Besides the network's own address and the last one nothing is left of a smaller range. */
const LONGEST_PREFIX = 30;

/** What the cluster's own ServiceCIDRs add to the range that it has by its profile. */
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
  // Counted from the network's own address, which is nobody's anyway.
  return { first: network + 1, last: network + size - 2, kept: Math.max(0, offset - 1) };
}

/** Told of every event of the store: the range that every cluster has comes back when it is deleted. */
export function createDefaultRange({
  house,
  clock,
}: {
  house: Pick<Housekeeping, "enqueue" | "find" | "create" | "rewrite">;
  clock: Clock;
}): { observe(event: CacheEvent): void } {
  return {
    observe({ entry, previous }) {
      const key = (entry ?? previous)?.key ?? "";
      if (!key.startsWith(RANGES_PREFIX) || !key.endsWith(`/${DEFAULT_SERVICE_CIDR}`) || (entry && !isMarker(entry)))
        return;
      house.enqueue(`default range ${key}`, async () => {
        if (house.find(key)) return;
        const range = defaultServiceCidr(SERVICE_RANGE, formatTime(clock.now()));
        await house.create(key, range);
        await house.rewrite(key, "status", (object) => ({ ...object, status: range.status as unknown as Json }));
      });
    },
  };
}
