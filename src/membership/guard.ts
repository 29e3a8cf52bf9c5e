/**
 * Keeps a member that is slow or gone from costing others: at most so many requests to it are under way, and after several in a row
 * without an answer further ones fail at once until a single one, sent now and then, comes through again.
 *
 * Watches are not counted: each kind has one, and informers wait for their own time.
 */
import { messageOf } from "../base/index.ts";
import type { Clock } from "../base/index.ts";
import { UnreachableError } from "../client/index.ts";
import type { Transport } from "../client/index.ts";
import { ApiError } from "../machinery/index.ts";

/** Enough to keep a member busy over a far network; a fraction of what the hub delivers at the same time. */
const MAX_UNDER_WAY = 16;
/** Those that wait for one of these; more are refused, and come back with back-off. */
const MAX_WAITING = 256;
const FAILURES_BEFORE_OPEN = 3;
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 15_000;

export interface Guard extends Transport {
  /** The member answered somebody else: requests may pass again. */
  restore(): void;
}

export function createGuard(transport: Transport, cluster: string, clock: Clock): Guard {
  let underWay = 0;
  const waiting: (() => void)[] = [];
  let failures = 0;
  let lastFailure = "";
  let openUntilMs = 0;
  /** One request is trying whether the member is back. */
  let isTrying = false;

  const isOpen = (): boolean => failures >= FAILURES_BEFORE_OPEN;
  // The wording does not change while the member is away, so that what is written about it does not either.
  const refuse = (): never => {
    throw new UnreachableError(`cluster ${cluster} does not answer: ${lastFailure}`);
  };

  async function enter(): Promise<void> {
    if (isOpen() && (isTrying || clock.now() < openUntilMs)) refuse();
    if (isOpen()) isTrying = true;
    if (underWay >= MAX_UNDER_WAY) {
      if (waiting.length >= MAX_WAITING) throw new UnreachableError(`cluster ${cluster} has ${MAX_UNDER_WAY} requests to answer and ${MAX_WAITING} that wait; it is slow`);
      await new Promise<void>((resolve) => waiting.push(resolve));
      // It may have gone away in the meantime.
      if (isOpen()) {
        leave(false);
        refuse();
      }
      return;
    }
    underWay++;
  }

  /** A place is handed on to whoever waits longest. */
  function leave(wasTrying: boolean): void {
    if (wasTrying) isTrying = false;
    const next = waiting.shift();
    if (next) next();
    else underWay--;
  }

  async function pass<T>(work: () => Promise<T>): Promise<T> {
    await enter();
    const tries = isTrying;
    try {
      const answer = await work();
      failures = 0;
      return answer;
    } catch (error) {
      if (error instanceof UnreachableError) {
        failures++;
        lastFailure = messageOf(error);
        openUntilMs = clock.now() + Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, failures - FAILURES_BEFORE_OPEN));
      } else if (error instanceof ApiError) failures = 0; // A refusal is an answer.
      throw error;
    } finally {
      leave(tries);
    }
  }

  return {
    send: (request, signal) => pass(() => transport.send(request, signal)),
    watch: (request, signal) => transport.watch(request, signal),
    raw: (request, signal) => pass(() => transport.raw(request, signal)),
    close: () => transport.close(),
    restore() {
      failures = 0;
    },
  };
}
