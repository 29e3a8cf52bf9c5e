/**
 * Cuts off a member that sends more than the limits allow: its connections are closed, and its requests fail at once
 * with the reason, until a pause is over. The pause doubles while the member keeps exceeding the limits. The probes
 * fail too, so the condition Ready of its Cluster states the reason.
 */
import { CUT_OFF } from "./ready.ts";
import { createSemaphore } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { ResponseLimitError, UnreachableError } from "@flotilla/client";
import type { Transport, TransportRequest } from "@flotilla/client";

const FIRST_PAUSE_MS = 30_000;
const LAST_PAUSE_MS = 5 * 60_000;
/** A member that has stayed within the limits for this long starts over with the first pause. */
const FORGIVE_AFTER_MS = 10 * 60_000;
/** A page with few objects that is too long is the member's fault; for more, the reader asks for smaller pages. */
const SMALL_PAGE = 10;
/** Lists that are read at once. Each may have 32 MiB. */
const MAX_LISTS = 2;

export interface MemberCutOff {
  /** A transport whose requests fail while the member is cut off. */
  guard(transport: Transport): Transport;
  cut(reason: string): void;
}

export interface MemberCutOffOptions {
  cluster: string;
  clock: Clock;
  /** Closes the connections. */
  onCut(reason: string, pauseMs: number): void;
}

export function createMemberCutOff({ cluster, clock, onCut }: MemberCutOffOptions): MemberCutOff {
  let reason = "";
  let untilMs = 0;
  let pauseMs = 0;
  const lists = createSemaphore(MAX_LISTS);
  const isCut = (): boolean => clock.now() < untilMs;

  function cut(because: string): void {
    if (isCut()) return;
    const nowMs = clock.now();
    const isRepeated = pauseMs > 0 && nowMs - untilMs < FORGIVE_AFTER_MS;
    pauseMs = isRepeated ? Math.min(LAST_PAUSE_MS, pauseMs * 2) : FIRST_PAUSE_MS;
    untilMs = nowMs + pauseMs;
    reason = because;
    onCut(reason, pauseMs);
  }

  const failure = (mayHaveArrived: boolean): UnreachableError =>
    new UnreachableError(`cluster ${cluster} ${CUT_OFF}: ${reason}`, { mayHaveArrived });

  const enter = (): void => {
    if (isCut()) throw failure(false);
  };

  /** What a caller receives for an error of a request that was sent. */
  function explain(error: unknown, isAtFault = true): unknown {
    if (error instanceof ResponseLimitError && isAtFault) cut(error.message);
    // Requests that the cut itself has ended state its reason too.
    return isCut() && error instanceof UnreachableError ? failure(error.mayHaveArrived) : error;
  }

  async function send(transport: Transport, request: TransportRequest, signal?: AbortSignal) {
    enter();
    const release = request.verb === "list" ? await lists.acquire(1, "", signal) : undefined;
    try {
      enter();
      return await transport.send(request, signal);
    } catch (error) {
      const limit = Number(request.query?.["limit"] ?? Number.MAX_SAFE_INTEGER);
      throw explain(error, request.verb !== "list" || limit <= SMALL_PAGE);
    } finally {
      release?.();
    }
  }

  return {
    cut,
    guard: (transport) => ({
      send: (request, signal) => send(transport, request, signal),
      async *watch(request, signal) {
        enter();
        try {
          yield* transport.watch(request, signal);
        } catch (error) {
          throw explain(error);
        }
        // The cut ends watches as the server would; the reader must not take that as a reason to watch again at once.
        if (!signal.aborted) enter();
      },
      async raw(request, signal) {
        enter();
        try {
          return await transport.raw(request, signal);
        } catch (error) {
          throw explain(error);
        }
      },
      close: () => transport.close(),
    }),
  };
}
