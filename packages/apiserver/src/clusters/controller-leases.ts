/**
 * Tracks which logical clusters run their own kube-controller-manager. It collects garbage and empties namespaces as
 * the server does, and the two would conflict, so the server leaves that work to it while it holds its lease.
 *
 * As in leader election, the time at which a renewal was observed counts: the holder's clock is not trusted.
 */
import { isObject } from "@flotilla/base";
import type { Clock, Json, Timer } from "@flotilla/base";
import type { CachedEntry, CacheEvent } from "../store/cache.ts";
import { isMarker } from "./objects.ts";
import { clusterOfKey } from "../resources/resources.ts";

const LEASES = "/coordination.k8s.io/leases/";
const LEASE = "/kube-system/kube-controller-manager";
/** A longer time would leave a cluster without a controller for too long after the holder died. */
const MAX_HELD_MS = 120_000;

export interface ControllerLeases {
  /** Whether the cluster runs its own controllers. */
  isHeld(cluster: string): boolean;
  load(entries: Iterable<CachedEntry>): void;
  observe(event: CacheEvent): void;
  close(): void;
}

/**
 * `onLapse` is called when a holder released its lease or stopped renewing it: the server then takes over the remaining
 * work.
 */
export function createControllerLeases({
  clock,
  onLapse,
}: {
  clock: Clock;
  onLapse(cluster: string): void;
}): ControllerLeases {
  const held = new Map<string, { untilMs: number; timer: Timer }>();

  const lapse = (cluster: string): void => {
    held.get(cluster)?.timer.cancel();
    if (held.delete(cluster)) onLapse(cluster);
  };
  /** One timer per holder: a renewal only changes the time that the timer reads when it fires. */
  const watch = (cluster: string, delayMs: number): Timer =>
    clock.after(delayMs, () => {
      const lease = held.get(cluster);
      if (!lease) return;
      const leftMs = lease.untilMs - clock.now();
      if (leftMs > 0) lease.timer = watch(cluster, leftMs);
      else lapse(cluster);
    });
  const observeKey = (key: string, entry: CachedEntry | undefined): void => {
    if (!key.startsWith(LEASES) || !key.endsWith(LEASE)) return;
    const cluster = clusterOfKey(key);
    const durationMs = entry && !isMarker(entry) ? heldMs(entry) : 0;
    if (durationMs === 0) return lapse(cluster);
    const lease = held.get(cluster);
    if (lease) lease.untilMs = clock.now() + durationMs;
    else held.set(cluster, { untilMs: clock.now() + durationMs, timer: watch(cluster, durationMs) });
  };

  return {
    isHeld: (cluster) => held.has(cluster),
    load(entries) {
      for (const entry of entries) observeKey(entry.key, entry);
    },
    observe: ({ entry, previous }) => observeKey((entry ?? previous)?.key ?? "", entry),
    close() {
      for (const { timer } of held.values()) timer.cancel();
      held.clear();
    },
  };
}

/** How long a lease is held after its last renewal; 0 when it has no holder. */
function heldMs({ value }: CachedEntry): number {
  const { spec } = JSON.parse(new TextDecoder().decode(value)) as { spec?: Json };
  if (!isObject(spec) || typeof spec.holderIdentity !== "string" || spec.holderIdentity === "") return 0;
  const seconds = typeof spec.leaseDurationSeconds === "number" ? spec.leaseDurationSeconds : 0;
  return Math.min(seconds * 1000, MAX_HELD_MS);
}
