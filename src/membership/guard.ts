/**
 * Keeps a member that is slow or gone from costing others: at most so many requests to it are under way, and after
 * several in a row without an answer further ones fail at once until a single one, sent now and then, comes through
 * again.
 *
 * Watches are not counted: each kind has one, and informers wait for their own time.
 */
import type { Clock } from "../base/index.ts";
import { UnreachableError } from "../client/index.ts";
import type { Transport } from "../client/index.ts";
import { ApiError } from "../machinery/index.ts";
import { refusedToken } from "./probe.ts";

/** Enough to keep a member busy over a far network; a fraction of what the hub delivers at the same time. */
const MAX_UNDER_WAY = 16;
/**
 * Who waits for one of these holds a worker that others could use: after this long it is refused, and comes back with
 * back-off.
 */
const MAX_WAIT_MS = 1_000;
const FAILURES_BEFORE_OPEN = 3;
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 15_000;

export function createGuard(transport: Transport, cluster: string, clock: Clock): Transport {
  let underWay = 0;
  const waiting = new Set<() => void>();
  let failures = 0;
  let openUntilMs = 0;
  /** One request is trying whether the member is back. */
  let isTrying = false;

  const isOpen = (): boolean => failures >= FAILURES_BEFORE_OPEN;
  const isAway = (): boolean => isOpen() && (isTrying || clock.now() < openUntilMs);
  // The same words for every request: what is written about it on many Works does not change while the member is away.
  const unanswered = (mayHaveArrived = false): UnreachableError =>
    new UnreachableError(`cluster ${cluster} does not answer; the condition Ready of its Cluster says why`, {
      mayHaveArrived,
    });

  /** Takes a place; true for the one request that tries whether the member is back. */
  async function enter(): Promise<boolean> {
    if (isAway()) throw unanswered();
    if (underWay < MAX_UNDER_WAY) underWay++;
    else await turn();
    if (!isOpen()) return false;
    // It may have gone away while this one waited.
    if (isAway()) {
      leave(false);
      throw unanswered();
    }
    isTrying = true;
    return true;
  }

  function turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = clock.after(MAX_WAIT_MS, () => {
        waiting.delete(take);
        reject(new UnreachableError(`cluster ${cluster} is slow: it has ${MAX_UNDER_WAY} requests to answer`));
      });
      const take = (): void => {
        timer.cancel();
        resolve();
      };
      waiting.add(take);
    });
  }

  /** A place is handed on to whoever waits longest. */
  function leave(wasTrying: boolean): void {
    if (wasTrying) isTrying = false;
    const [next] = waiting;
    if (!next) {
      underWay--;
      return;
    }
    waiting.delete(next);
    next();
  }

  async function pass<T>(isRead: boolean, work: () => Promise<T>): Promise<T> {
    const tries = await enter();
    try {
      const answer = await work();
      failures = 0;
      return answer;
    } catch (error) {
      if (error instanceof ApiError) failures = 0; // A refusal is an answer.
      if (error instanceof ApiError && error.status.code === 401)
        throw new ApiError({ ...error.status, message: refusedToken(cluster) }, { cause: error });
      if (!(error instanceof UnreachableError)) throw error;
      failures++;
      openUntilMs =
        clock.now() + Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, failures - FAILURES_BEFORE_OPEN));
      // Whether a write was carried out all the same decides what others may do meanwhile; a read changes nothing.
      throw unanswered(error.mayHaveArrived && !isRead);
    } finally {
      leave(tries);
    }
  }

  return {
    send: (request, signal) =>
      pass(request.verb === "get" || request.verb === "list", () => transport.send(request, signal)),
    watch: (request, signal) => transport.watch(request, signal),
    raw: (request, signal) => pass(request.method === "GET", () => transport.raw(request, signal)),
    close: () => transport.close(),
  };
}
