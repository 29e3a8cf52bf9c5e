/**
 * Isolates members from each other: at most a fixed number of Works are delivered to one member concurrently, and an
 * unreachable member is probed by one Work at a time with growing backoff, while its other Works wait. Waiting Works
 * are requeued automatically.
 *
 * A Work takes a place only when its delivery is about to send a request, so Works that need none are never delayed.
 */
import type { Clock, Random, Timer } from "@flotilla/base";
import { FlotillaError } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey } from "@flotilla/controller-runtime";
import type { Source } from "@flotilla/controller-runtime";

/** Enough to keep a member busy over a high-latency network; a quarter of the execution workers. */
const MAX_ACTIVE = 16;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;

/** The member is at its limit; the Work is requeued when a place is free. */
export class BusyMemberError extends FlotillaError {
  constructor(cluster: string) {
    super("BusyMember", `cluster ${cluster} is busy with other Works`);
  }
}

/** One Work's access to its member, for one reconcile. */
export interface LaneAccess {
  /**
   * Takes a place, if it has none yet. Throws `BusyMemberError`, or `UnreachableError` while the member is considered
   * unreachable.
   */
  enter(): void;
  /** Returns the place. `unreachable` is set when no answer came, with the reason. */
  leave(unreachable?: string): void;
}

export interface MemberLanes {
  access(cluster: string, key: ObjectKey): LaneAccess;
  /** Another component found that the member answers again: its waiting Works are requeued. */
  restore(cluster: string): void;
  /** The member left: its waiting Works are requeued, and nothing is kept for it. */
  drop(cluster: string): void;
  /** The Work was deleted and stops waiting. */
  forget(cluster: string, key: ObjectKey): void;
  /** Queue state of busy and unreachable members; others are omitted. */
  figures(): LaneFigures[];
  source: Source<ObjectKey>;
}

export interface LaneFigures {
  cluster: string;
  /** Works being delivered, and Works waiting for a place. */
  active: number;
  waiting: number;
  /** Consecutive attempts without an answer; each increases the delay until the next. */
  failures: number;
}

interface Lane {
  active: number;
  /** In order of arrival. */
  waiting: Map<string, ObjectKey>;
  failures: number;
  reason: string;
  /** One Work is probing whether the member is back. */
  isTrying: boolean;
  /** Runs while no Work may probe. */
  pause?: Timer;
}

export function createMemberLanes({ clock, random }: { clock: Clock; random: Random }): MemberLanes {
  const lanes = new Map<string, Lane>();
  const listeners = new Set<(key: ObjectKey) => void>();

  function laneOf(cluster: string): Lane {
    let lane = lanes.get(cluster);
    if (!lane) lanes.set(cluster, (lane = { active: 0, waiting: new Map(), failures: 0, reason: "", isTrying: false }));
    return lane;
  }
  const report = (key: ObjectKey): void => listeners.forEach((listener) => listener(key));

  function wakeOne(lane: Lane): void {
    for (const [id, key] of lane.waiting) {
      lane.waiting.delete(id);
      report(key);
      return;
    }
  }

  /** A woken Work may need no request after all; then the next one gets the turn. */
  function passTurn(lane: Lane | undefined): void {
    if (!lane || lane.waiting.size === 0) return;
    if (lane.failures > 0 ? !lane.pause && !lane.isTrying : lane.active < MAX_ACTIVE) wakeOne(lane);
  }

  function open(lane: Lane): void {
    lane.failures = 0;
    lane.pause?.cancel();
    delete lane.pause;
    const waiting = [...lane.waiting.values()];
    lane.waiting.clear();
    waiting.forEach(report);
  }

  function removeIdle(cluster: string, { active, failures, waiting }: Lane): void {
    if (active === 0 && failures === 0 && waiting.size === 0) lanes.delete(cluster);
  }

  function close(lane: Lane, reason: string): void {
    // While the member is unreachable the wording stays constant, so that statuses that contain it do not change.
    if (lane.failures === 0) lane.reason = reason;
    lane.failures++;
    lane.pause?.cancel();
    const pauseMs = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (lane.failures - 1)) * (0.75 + random.next() / 2);
    lane.pause = clock.after(pauseMs, () => {
      delete lane.pause;
      wakeOne(lane);
    });
  }

  return {
    access(cluster, key) {
      let hasPlace = false;
      let tries = false;
      const wait = (lane: Lane): void => void lane.waiting.set(idOfKey(key), key);
      return {
        enter() {
          if (hasPlace) return;
          const lane = laneOf(cluster);
          if (lane.failures > 0) {
            if (lane.isTrying || lane.pause) {
              wait(lane);
              throw new UnreachableError(lane.reason);
            }
            lane.isTrying = tries = true;
          } else if (lane.active >= MAX_ACTIVE) {
            wait(lane);
            throw new BusyMemberError(cluster);
          }
          lane.active++;
          hasPlace = true;
        },
        leave(unreachable) {
          if (!hasPlace) return passTurn(lanes.get(cluster));
          hasPlace = false;
          const lane = laneOf(cluster);
          lane.active--;
          if (tries) lane.isTrying = tries = false;
          if (unreachable !== undefined) {
            wait(lane);
            // Deliveries that were in flight together with the first failure add no information.
            if (!lane.pause) close(lane, unreachable);
          } else if (lane.failures > 0) open(lane);
          else wakeOne(lane);
          removeIdle(cluster, lane);
        },
      };
    },
    restore(cluster) {
      const lane = lanes.get(cluster);
      if (!lane || lane.failures === 0) return;
      open(lane);
      removeIdle(cluster, lane);
    },
    drop(cluster) {
      const lane = lanes.get(cluster);
      if (!lane) return;
      open(lane);
      removeIdle(cluster, lane);
    },
    forget(cluster, key) {
      const lane = lanes.get(cluster);
      lane?.waiting.delete(idOfKey(key));
      passTurn(lane);
      if (lane) removeIdle(cluster, lane);
    },
    figures: () =>
      Array.from(lanes, ([cluster, { active, waiting, failures }]) => ({
        cluster,
        active,
        waiting: waiting.size,
        failures,
      })),
    source: {
      start(enqueue, signal) {
        const listener = (key: ObjectKey): void => enqueue(key);
        listeners.add(listener);
        signal.addEventListener(
          "abort",
          () => {
            listeners.delete(listener);
            for (const { pause } of lanes.values()) pause?.cancel();
          },
          { once: true },
        );
      },
      isQuiet: () => true, // Works wait here for a timer, or for a Work that is being reconciled.
    },
  };
}
