/**
 * Admits work up to a total weight. Work that must wait is admitted owner by owner in turn, so that an owner with many
 * requests does not delay the others; of one owner, in order.
 */
import { FlotillaError } from "./errors.ts";

export interface Semaphore {
  /**
   * Resolves with a function that gives the weight back, when there is room. Work that is heavier than the capacity
   * runs alone. Rejects with the signal's reason when it is aborted before, and with the error of `overflow` when too
   * much work waits.
   */
  acquire(weight: number, owner?: string, signal?: AbortSignal): Promise<() => void>;
  /** The weight that is admitted now. */
  readonly held: number;
  readonly waiting: number;
}

export interface SemaphoreOptions {
  /** The weight that one owner may hold, so that work that lasts leaves room for others; heavier work runs alone. */
  perOwner?: number;
  /** Above this, the newest work of the owner with the most waiting work is rejected. */
  maxWaiting?: number;
  overflow?(): Error;
}

interface Waiter {
  weight: number;
  admit(): void;
  reject(error: Error): void;
}

export function createSemaphore(capacity: number, options: SemaphoreOptions = {}): Semaphore {
  const { perOwner = Number.POSITIVE_INFINITY, maxWaiting = Number.POSITIVE_INFINITY } = options;
  const { overflow = () => new FlotillaError("Overloaded", "too much work is waiting") } = options;
  let held = 0;
  let waiting = 0;
  /** In the order of their turns. Owners without waiters are absent. */
  const owners = new Map<string, Set<Waiter>>();
  /** What owners hold; counted only where it is limited. Owners that hold nothing are absent. */
  const shares = new Map<string, number>();
  const fits = (weight: number): boolean => held === 0 || held + weight <= capacity;
  const mayHold = (owner: string, weight: number): boolean => {
    const share = shares.get(owner);
    return share === undefined || share + weight <= perOwner;
  };

  function add(owner: string, weight: number): void {
    held += weight;
    if (perOwner === Number.POSITIVE_INFINITY) return;
    const share = (shares.get(owner) ?? 0) + weight;
    if (share > 0) shares.set(owner, share);
    else shares.delete(owner);
  }

  function take(owner: string, weight: number): () => void {
    add(owner, weight);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      add(owner, -weight);
      admitWaiters();
    };
  }

  function drop(owner: string, waiter: Waiter): boolean {
    const waiters = owners.get(owner);
    if (!waiters?.delete(waiter)) return false;
    if (waiters.size === 0) owners.delete(owner);
    waiting--;
    return true;
  }

  /** The owner whose turn it is; owners that hold their share are passed over. */
  function nextInTurn(): [owner: string, waiters: Set<Waiter>, next: Waiter] | undefined {
    for (const [owner, waiters] of owners) {
      const [next] = waiters;
      if (next && mayHold(owner, next.weight)) return [owner, waiters, next];
    }
    return undefined;
  }

  function admitWaiters(): void {
    for (;;) {
      const turn = nextInTurn();
      // The next in turn is not overtaken by lighter work: it would wait for ever.
      if (!turn || !fits(turn[2].weight)) return;
      const [owner, waiters, next] = turn;
      drop(owner, next);
      if (waiters.size > 0) {
        owners.delete(owner);
        owners.set(owner, waiters);
      }
      next.admit();
    }
  }

  function rejectNewest(): void {
    let [most, crowd]: [string, ReadonlySet<Waiter>] = ["", new Set()];
    for (const [owner, waiters] of owners) if (waiters.size > crowd.size) [most, crowd] = [owner, waiters];
    const newest = [...crowd].at(-1);
    if (newest && drop(most, newest)) newest.reject(overflow());
  }

  return {
    get held() {
      return held;
    },
    get waiting() {
      return waiting;
    },
    acquire(weight, owner = "", signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        if (waiting === 0 && fits(weight) && mayHold(owner, weight)) return resolve(take(owner, weight));
        const leave = (): void => {
          if (!drop(owner, waiter)) return;
          reject(signal?.reason as Error);
          admitWaiters();
        };
        const waiter: Waiter = {
          weight,
          admit() {
            signal?.removeEventListener("abort", leave);
            resolve(take(owner, weight));
          },
          reject(error) {
            signal?.removeEventListener("abort", leave);
            reject(error);
          },
        };
        signal?.addEventListener("abort", leave, { once: true });
        waiting++;
        const waiters = owners.get(owner);
        if (waiters) waiters.add(waiter);
        else owners.set(owner, new Set([waiter]));
        // Others may wait only because they hold their share.
        admitWaiters();
        if (waiting > maxWaiting) rejectNewest();
      });
    },
  };
}
