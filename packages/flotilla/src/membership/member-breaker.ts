/**
 * Isolates a slow or unreachable member: limits the requests in flight to it, and after several consecutive requests
 * without an answer, fails further ones at once until a periodic single request succeeds.
 *
 * Watches are not counted: each kind has one, and informers have their own backoff.
 */
import type { Clock } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { ApiError } from "@flotilla/apimachinery";
import { refusedToken } from "./probe.ts";

/** Enough to keep a member busy over a high-latency network; a fraction of the hub's concurrent deliveries. */
const MAX_IN_FLIGHT = 16;
/** A waiting request holds a worker that others could use: after this long it fails, and is retried with backoff. */
const MAX_WAIT_MS = 1_000;
const FAILURES_BEFORE_OPEN = 3;
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 15_000;

export function createMemberBreaker(transport: Transport, cluster: string, clock: Clock): Transport {
  let inFlight = 0;
  const waiting = new Set<() => void>();
  let failures = 0;
  let openUntilMs = 0;
  /** One request is probing whether the member is back. */
  let isTrying = false;

  const isOpen = (): boolean => failures >= FAILURES_BEFORE_OPEN;
  const isAway = (): boolean => isOpen() && (isTrying || clock.now() < openUntilMs);
  // A constant message for every request: the status of many Works contains it and must not change while the member is
  // unreachable.
  const unanswered = (mayHaveArrived = false): UnreachableError =>
    new UnreachableError(`cluster ${cluster} does not answer; see the Ready condition of its Cluster for the reason`, {
      mayHaveArrived,
    });

  /** Takes a place; true for the one request that probes whether the member is back. */
  async function enter(): Promise<boolean> {
    if (isAway()) throw unanswered();
    if (inFlight < MAX_IN_FLIGHT) inFlight++;
    else await turn();
    if (!isOpen()) return false;
    // The member may have become unreachable while this request waited.
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
        reject(new UnreachableError(`cluster ${cluster} is slow: ${MAX_IN_FLIGHT} requests are in flight`));
      });
      const take = (): void => {
        timer.cancel();
        resolve();
      };
      waiting.add(take);
    });
  }

  /** Passes the place to the longest waiting request. */
  function leave(wasTrying: boolean): void {
    if (wasTrying) isTrying = false;
    const [next] = waiting;
    if (!next) {
      inFlight--;
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
      if (error instanceof ApiError) failures = 0; // A rejection is an answer.
      if (error instanceof ApiError && error.status.code === 401)
        throw new ApiError({ ...error.status, message: refusedToken(cluster) }, { cause: error });
      if (!(error instanceof UnreachableError)) throw error;
      failures++;
      openUntilMs =
        clock.now() + Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, failures - FAILURES_BEFORE_OPEN));
      // Whether a write may have been carried out decides what others may do meanwhile; a read changes nothing.
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
