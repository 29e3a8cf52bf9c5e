/**
 * Admits work up to a total weight. Work that must wait is admitted owner by owner in turn, so that an owner with many
 * requests does not delay the others; of one owner, in order.
 */
export interface Semaphore {
  /**
   * Resolves with a function that gives the weight back, when there is room. Work that is heavier than the capacity
   * runs alone. Rejects with the signal's reason when it is aborted before.
   */
  acquire(weight: number, owner?: string, signal?: AbortSignal): Promise<() => void>;
  /** The weight that is admitted now. */
  readonly held: number;
  readonly waiting: number;
}

interface Waiter {
  weight: number;
  admit(): void;
}

export function createSemaphore(capacity: number): Semaphore {
  let held = 0;
  let waiting = 0;
  /** In the order of their turns. Owners without waiters are absent. */
  const owners = new Map<string, Set<Waiter>>();
  const fits = (weight: number): boolean => held === 0 || held + weight <= capacity;

  function take(weight: number): () => void {
    held += weight;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      held -= weight;
      admitWaiters();
    };
  }

  function admitWaiters(): void {
    for (;;) {
      const [turn] = owners;
      const [next] = turn?.[1] ?? [];
      // The next in turn is not overtaken by lighter work: it would wait for ever.
      if (!turn || !next || !fits(next.weight)) return;
      const [owner, waiters] = turn;
      owners.delete(owner);
      waiters.delete(next);
      if (waiters.size > 0) owners.set(owner, waiters);
      waiting--;
      next.admit();
    }
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
        if (waiting === 0 && fits(weight)) return resolve(take(weight));
        const leave = (): void => {
          const waiters = owners.get(owner);
          if (!waiters?.delete(waiter)) return;
          if (waiters.size === 0) owners.delete(owner);
          waiting--;
          reject(signal?.reason as Error);
          admitWaiters();
        };
        const waiter: Waiter = {
          weight,
          admit() {
            signal?.removeEventListener("abort", leave);
            resolve(take(weight));
          },
        };
        signal?.addEventListener("abort", leave, { once: true });
        waiting++;
        const waiters = owners.get(owner);
        if (waiters) waiters.add(waiter);
        else owners.set(owner, new Set([waiter]));
      });
    },
  };
}
