/**
 * Tracks which logical clusters run their own kube-controller-manager, kube-scheduler or a program of a product. Such a
 * program does what this process does otherwise, and the two would conflict, so that work is left to it while it holds
 * its lease.
 *
 * As in leader election, the time at which a renewal was observed counts: the holder's clock is not trusted.
 */
import { isObject } from "@flotilla/base";
import type { Clock, Json, Timer } from "@flotilla/base";
import type { CachedEntry, CacheEvent } from "../store/cache.ts";
import { isMarker } from "./objects.ts";
import { clusterOfKey } from "../resources/resources.ts";

const LEASES = "/coordination.k8s.io/leases/";
const CONTROLLER_MANAGER = "controller-manager";
/** Kubernetes' own programs that this process stands in for otherwise, by the namespace and name of their lease. */
const KUBERNETES_PROGRAMS: ReadonlyMap<string, string> = new Map([
  ["kube-system/kube-controller-manager", CONTROLLER_MANAGER],
  ["kube-system/kube-scheduler", "scheduler"],
]);
/** A longer time would leave a cluster without a controller for too long after the holder died. */
const MAX_HELD_MS = 120_000;

export interface ControllerLeases {
  /** Whether the cluster runs its own program. */
  isHeld(cluster: string, program?: string): boolean;
  /** Notifies the listener when a program starts to hold its lease. */
  onHeld(listener: (cluster: string, program: string) => void): () => void;
  load(entries: Iterable<CachedEntry>): void;
  observe(event: CacheEvent): void;
  close(): void;
}

/**
 * `onLapse` is called when a controller manager released its lease or stopped renewing it: the server then takes over the
 * remaining work.
 */
export function createControllerLeases({
  clock,
  programs = new Map(),
  onLapse,
}: {
  clock: Clock;
  /** Programs of products, in the form of Kubernetes' own. */
  programs?: ReadonlyMap<string, string> | undefined;
  onLapse(cluster: string): void;
}): ControllerLeases {
  const byLease = new Map([...KUBERNETES_PROGRAMS, ...programs]);
  const held = new Map<string, { untilMs: number; timer: Timer }>();
  const listeners = new Set<(cluster: string, program: string) => void>();
  const idOf = (cluster: string, program: string): string => `${program} ${cluster}`;

  const lapse = (cluster: string, program: string): void => {
    const id = idOf(cluster, program);
    held.get(id)?.timer.cancel();
    if (held.delete(id) && program === CONTROLLER_MANAGER) onLapse(cluster);
  };
  /** One timer per holder: a renewal only changes the time that the timer reads when it fires. */
  const watch = (cluster: string, program: string, delayMs: number): Timer =>
    clock.after(delayMs, () => {
      const lease = held.get(idOf(cluster, program));
      if (!lease) return;
      const leftMs = lease.untilMs - clock.now();
      if (leftMs > 0) lease.timer = watch(cluster, program, leftMs);
      else lapse(cluster, program);
    });
  const observeKey = (key: string, entry: CachedEntry | undefined): void => {
    if (!key.startsWith(LEASES)) return;
    const cluster = clusterOfKey(key);
    const program = byLease.get(key.slice(LEASES.length + cluster.length + 1));
    if (!program) return;
    const durationMs = entry && !isMarker(entry) ? heldMs(entry) : 0;
    if (durationMs === 0) return lapse(cluster, program);
    const lease = held.get(idOf(cluster, program));
    if (lease) {
      lease.untilMs = clock.now() + durationMs;
      return;
    }
    held.set(idOf(cluster, program), {
      untilMs: clock.now() + durationMs,
      timer: watch(cluster, program, durationMs),
    });
    for (const listener of listeners) listener(cluster, program);
  };

  return {
    isHeld: (cluster, program = CONTROLLER_MANAGER) => held.size > 0 && held.has(idOf(cluster, program)),
    onHeld(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    load(entries) {
      for (const entry of entries) observeKey(entry.key, entry);
    },
    observe: ({ entry, previous }) => observeKey((entry ?? previous)?.key ?? "", entry),
    close() {
      for (const { timer } of held.values()) timer.cancel();
      held.clear();
      listeners.clear();
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
