/**
 * Keeps members from costing each other: at most so many Works are delivered to one member at the same time, and a
 * member that does not answer is tried by one Work at a time, less and less often, while its other Works wait. What
 * waits comes back by itself.
 *
 * A Work takes a place only when its delivery is about to send something, so Works that need nothing are never held up.
 */
import type { Clock, Random, Timer } from "../base/index.ts";
import { FlotillaError } from "../base/index.ts";
import { UnreachableError } from "../client/index.ts";
import type { ObjectKey } from "../client/index.ts";
import { idOfKey } from "../runtime/index.ts";
import type { Source } from "../runtime/index.ts";

/** Enough to keep a member busy over a far network; a quarter of what execute does at the same time. */
const MAX_UNDER_WAY = 16;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;

/** The member has enough to do; the Work comes back when there is room. */
export class BusyMemberError extends FlotillaError {
  constructor(cluster: string) {
    super("BusyMember", `cluster ${cluster} is busy with other Works`);
  }
}

/** One Work's way to its member, for one look at it. */
export interface Passage {
  /**
   * Takes a place, if it has none yet. Throws `BusyMemberError`, or `UnreachableError` while the member is not thought
   * to answer.
   */
  enter(): void;
  /** Gives the place back. `unreachable` says that no answer came, and why. */
  leave(unreachable?: string): void;
}

export interface MemberLanes {
  passage(cluster: string, key: ObjectKey): Passage;
  /** The member answers again, as somebody else found: what waits for it comes back. */
  restore(cluster: string): void;
  /** The Work is gone, and waits for nothing. */
  forget(cluster: string, key: ObjectKey): void;
  /** How it stands with members that are busy or away; the others are not named. */
  figures(): LaneFigures[];
  source: Source<ObjectKey>;
}

export interface LaneFigures {
  cluster: string;
  /** Works that are being delivered, and works that wait for their turn. */
  underWay: number;
  waiting: number;
  /** How often in a row no answer came; the next try is further away with each. */
  failures: number;
}

interface Lane {
  underWay: number;
  /** In the order in which they came. */
  waiting: Map<string, ObjectKey>;
  failures: number;
  reason: string;
  /** One Work is trying whether the member is back. */
  isTrying: boolean;
  /** Runs while nobody may try. */
  pause?: Timer;
}

export function createMemberLanes({ clock, random }: { clock: Clock; random: Random }): MemberLanes {
  const lanes = new Map<string, Lane>();
  const listeners = new Set<(key: ObjectKey) => void>();

  function laneOf(cluster: string): Lane {
    let lane = lanes.get(cluster);
    if (!lane)
      lanes.set(cluster, (lane = { underWay: 0, waiting: new Map(), failures: 0, reason: "", isTrying: false }));
    return lane;
  }
  const tell = (key: ObjectKey): void => listeners.forEach((listener) => listener(key));

  function wakeOne(lane: Lane): void {
    for (const [id, key] of lane.waiting) {
      lane.waiting.delete(id);
      tell(key);
      return;
    }
  }

  /** One that was woken may need nothing after all; then it is the next one's turn. */
  function passTurn(lane: Lane | undefined): void {
    if (!lane || lane.waiting.size === 0) return;
    if (lane.failures > 0 ? !lane.pause && !lane.isTrying : lane.underWay < MAX_UNDER_WAY) wakeOne(lane);
  }

  function open(lane: Lane): void {
    lane.failures = 0;
    lane.pause?.cancel();
    delete lane.pause;
    const waiting = [...lane.waiting.values()];
    lane.waiting.clear();
    waiting.forEach(tell);
  }

  function close(lane: Lane, reason: string): void {
    // While it is away the wording stays, so that what is written about it does too.
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
    passage(cluster, key) {
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
          } else if (lane.underWay >= MAX_UNDER_WAY) {
            wait(lane);
            throw new BusyMemberError(cluster);
          }
          lane.underWay++;
          hasPlace = true;
        },
        leave(unreachable) {
          if (!hasPlace) return passTurn(lanes.get(cluster));
          hasPlace = false;
          const lane = laneOf(cluster);
          lane.underWay--;
          if (tries) lane.isTrying = tries = false;
          if (unreachable !== undefined) {
            wait(lane);
            // Those that were under way with the first that failed tell nothing new.
            if (!lane.pause) close(lane, unreachable);
          } else if (lane.failures > 0) open(lane);
          else wakeOne(lane);
          if (lane.underWay === 0 && lane.failures === 0 && lane.waiting.size === 0) lanes.delete(cluster);
        },
      };
    },
    restore(cluster) {
      const lane = lanes.get(cluster);
      if (lane && lane.failures > 0) open(lane);
    },
    forget(cluster, key) {
      const lane = lanes.get(cluster);
      lane?.waiting.delete(idOfKey(key));
      passTurn(lane);
    },
    figures: () =>
      Array.from(lanes, ([cluster, { underWay, waiting, failures }]) => ({
        cluster,
        underWay,
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
      isQuiet: () => true, // What waits here waits for the clock, or for a Work that is being reconciled.
    },
  };
}
