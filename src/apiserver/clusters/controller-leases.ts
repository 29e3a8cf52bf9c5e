/**
 * Which logical clusters have a kube-controller-manager of their own at work. It collects garbage and empties
 * namespaces as the server does, and two that do so stumble over each other; so while it holds its lease, the server
 * leaves that work to it.
 *
 * As in leader election, what counts is when a renewal was seen here: nobody's clock is trusted.
 */
import { isObject } from "../../base/index.ts";
import type { Clock, Json, Timer } from "../../base/index.ts";
import type { CachedEntry, CacheEvent } from "../../store/index.ts";
import { isMarker } from "./objects.ts";
import { clusterOfKey } from "./resources.ts";

const LEASES = "/coordination.k8s.io/leases/";
const LEASE = "/kube-system/kube-controller-manager";
/** More would leave a cluster without anybody for too long after its last holder died. */
const MAX_HELD_MS = 120_000;

export interface ControllerLeases {
  /** Somebody else runs the controllers of this cluster. */
  isHeld(cluster: string): boolean;
  load(entries: Iterable<CachedEntry>): void;
  observe(event: CacheEvent): void;
  close(): void;
}

/** `onLapse` is told when a holder gave up or went silent: what it left undone is the server's again. */
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
  /** One timer per holder: a renewal only moves the time that the timer finds when it fires. */
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

/** How long a lease holds from its last renewal on; 0 when nobody has it. */
function heldMs({ value }: CachedEntry): number {
  const { spec } = JSON.parse(new TextDecoder().decode(value)) as { spec?: Json };
  if (!isObject(spec) || typeof spec.holderIdentity !== "string" || spec.holderIdentity === "") return 0;
  const seconds = typeof spec.leaseDurationSeconds === "number" ? spec.leaseDurationSeconds : 0;
  return Math.min(seconds * 1000, MAX_HELD_MS);
}
