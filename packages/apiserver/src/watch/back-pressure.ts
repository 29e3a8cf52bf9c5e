/**
 * Back-pressure: writers wait while watchers lag. Without it the server would accept writes faster than a thousand
 * watchers can read them, and watchers would be seconds behind.
 *
 * Every watch reports its backlog. When the watches of a logical cluster exceed a limit, new external writes to that
 * cluster wait until half of the backlog is drained. A watch counts up to a share, and not at all once it has read
 * nothing for a while: clients that do not read cannot block writers, and are disconnected when their own backlog is
 * full. No writer waits longer than a limit, because a late write is better than none. The limit is short for a writer
 * whose own watches do not lag: a client with many slow watches delays itself, and others hardly.
 */
import type { Clock } from "@flotilla/base";

export interface WatchShare {
  /** The current backlog of the watch. */
  report(bytes: number): void;
  end(): void;
}

export interface BackPressure {
  /** Registers a new watch of a cluster. */
  join(cluster: string, client?: string): WatchShare;
  /**
   * Resolves when a write of a client to the cluster may continue; undefined when no watcher is lagging, or with
   * `onlyOwn` none of this client.
   */
  room(
    cluster: string,
    signal: AbortSignal,
    client?: string,
    options?: { onlyOwn: boolean },
  ): Promise<void> | undefined;
  /** The backlog of a cluster's watches, each counted up to its share. */
  bytes(cluster: string): number;
}

export interface BackPressureOptions {
  clock: Clock;
  /** The total backlog of a cluster's watches at which its writers wait. */
  limitBytes?: number;
  /** One watch counts for at most this much. */
  shareBytes?: number;
  /** A watch that has read nothing for this long is not counted. */
  stallMs?: number;
  maxWaitMs?: number;
  /** The same for a writer whose own watches have less than half of the limit. */
  maxWaitForOthersMs?: number;
}

const LIMIT_BYTES = 8 * 1024 * 1024;
const SHARE_BYTES = 128 * 1024;
const STALL_MS = 2000;
const MAX_WAIT_MS = 2000;
const MAX_WAIT_FOR_OTHERS_MS = 50;

export function createBackPressure({
  clock,
  limitBytes = LIMIT_BYTES,
  shareBytes = SHARE_BYTES,
  stallMs = STALL_MS,
  maxWaitMs = MAX_WAIT_MS,
  maxWaitForOthersMs = MAX_WAIT_FOR_OTHERS_MS,
}: BackPressureOptions): BackPressure {
  const clusters = new Map<string, ClusterPressure>();
  return {
    join(cluster, client = "") {
      let pressure = clusters.get(cluster);
      if (!pressure) clusters.set(cluster, (pressure = new ClusterPressure(clock, limitBytes, shareBytes, stallMs)));
      const joined = pressure;
      const share = joined.join(client);
      return {
        report: (bytes) => joined.report(share, bytes),
        end() {
          joined.leave(share);
          if (joined.isIdle) clusters.delete(cluster);
        },
      };
    },
    room(cluster, signal, client = "", { onlyOwn } = { onlyOwn: false }) {
      const pressure = clusters.get(cluster);
      if (!pressure) return undefined;
      if (pressure.isCausedBy(client)) return pressure.room(signal, maxWaitMs);
      return onlyOwn ? undefined : pressure.room(signal, maxWaitForOthersMs);
    },
    bytes: (cluster) => clusters.get(cluster)?.total ?? 0,
  };
}

interface Share {
  client: string;
  /** The backlog, and how much of it counts. */
  bytes: number;
  counted: number;
  /** When the watch last drained data, or started to buffer. */
  movedAt: number;
}

class ClusterPressure {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #share: number;
  readonly #stallMs: number;
  readonly #shares = new Set<Share>();
  readonly #waiting = new Set<() => void>();
  /** What each client's watches count for; clients without a backlog are absent. */
  readonly #byClient = new Map<string, number>();
  total = 0;

  constructor(clock: Clock, limit: number, share: number, stallMs: number) {
    this.#clock = clock;
    this.#limit = limit;
    this.#share = share;
    this.#stallMs = stallMs;
  }

  get isIdle(): boolean {
    return this.#shares.size === 0 && this.#waiting.size === 0;
  }

  isCausedBy(client: string): boolean {
    return (this.#byClient.get(client) ?? 0) > this.#limit / 2;
  }

  join(client: string): Share {
    const share: Share = { client, bytes: 0, counted: 0, movedAt: 0 };
    this.#shares.add(share);
    return share;
  }

  leave(share: Share): void {
    this.#shares.delete(share);
    this.#count(share, 0);
  }

  report(share: Share, bytes: number): void {
    const stalled = share.bytes > 0 && share.counted === 0;
    const moved = bytes < share.bytes || share.bytes === 0;
    share.bytes = bytes;
    if (moved) share.movedAt = this.#clock.now();
    // A stalled watch counts again when it reads.
    if (moved || !stalled) this.#count(share, Math.min(bytes, this.#share));
  }

  room(signal: AbortSignal, maxWaitMs: number): Promise<void> | undefined {
    if (this.total <= this.#limit || signal.aborted) return undefined;
    this.#forgetStalled();
    if (this.total <= this.#limit) return undefined;
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = this.#clock.after(maxWaitMs, done);
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  /** Called only when writers would wait, so it costs nothing otherwise. */
  #forgetStalled(): void {
    const before = this.#clock.now() - this.#stallMs;
    for (const share of this.#shares) if (share.counted > 0 && share.movedAt <= before) this.#count(share, 0);
  }

  #count(share: Share, counted: number): void {
    if (counted !== share.counted) {
      const own = (this.#byClient.get(share.client) ?? 0) + counted - share.counted;
      if (own > 0) this.#byClient.set(share.client, own);
      else this.#byClient.delete(share.client);
    }
    this.total += counted - share.counted;
    share.counted = counted;
    if (this.total > this.#limit / 2 || this.#waiting.size === 0) return;
    for (const resume of this.#waiting) resume();
  }
}
