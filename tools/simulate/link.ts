/**
 * One connection between two processes, with faults: at every request and every event. A request may fail before it is
 * carried out or after it, so that its sender does not know, be late by a time of its own, so that requests overtake each
 * other, or get no answer at all. A watch may lag, end, or fail in the middle.
 */
import { tooManyRequests, unavailable } from "@flotilla/apimachinery";
import { sleep } from "@flotilla/base";
import type { Clock, Random } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Transport, TransportWatchEvent } from "@flotilla/client";

export type LinkFault =
  /** Nothing arrives, and both sides notice at once. */
  | "cut"
  /** Nothing arrives, and neither side notices before a timeout. */
  | "half-open"
  /** Requests are late by up to this long, each by itself. */
  | "delay"
  /** Some requests are lost before they arrive, some answers after them. */
  | "loss"
  /** The server answers some requests with 429 or 503, before or after it carried them out. */
  | "errors"
  /** Watches deliver events later. */
  | "lag"
  /** Watches end now. */
  | "end-watches";

export interface Link {
  fault?: Exclude<LinkFault, "end-watches"> | undefined;
  wrap(transport: Transport): Transport;
  endWatches(): void;
  readonly injected: number;
}

export interface LinkOptions {
  name: string;
  clock: Clock;
  random: Random;
  /** At every request: counts it, and fails once the process has ended. */
  onCall(name: string, what: string): void;
}

/** When both sides of a half-open connection notice it: as long as a request may take. */
const TIMEOUT_MS = 30_000;
/** Longer than the first retries wait, so that requests overtake each other. */
const MAX_DELAY_MS = 3_000;
/** Much longer than changes of a status are collected: 1.5 s at most. */
const LAG_MS = 8_000;
/** Of the requests on a connection with losses or errors: most operations need several attempts, and all end. */
const RATE = 0.25;
const READS: ReadonlySet<string> = new Set(["get", "list"]);

export function createLink({ name, clock, random, onCall }: LinkOptions): Link {
  let injected = 0;
  let ends = new AbortController();
  const strikes = (): boolean => {
    const struck = random.next() < RATE;
    if (struck) injected++;
    return struck;
  };
  const unreachable = (): UnreachableError => new UnreachableError(`${name}: the connection was lost`);
  const refusal = (): Error =>
    random.next() < 0.5 ? unavailable(`${name}: try again`) : tooManyRequests(`${name}: too many requests`);

  async function before(signal?: AbortSignal): Promise<void> {
    const { fault } = link;
    if (fault === undefined) return;
    // Nothing resolves in the same tick.
    await Promise.resolve();
    if (fault === "cut") {
      injected++;
      throw unreachable();
    }
    if (fault === "half-open") {
      injected++;
      await sleep(clock, TIMEOUT_MS, signal);
      throw unreachable();
    }
    if (fault === "delay") {
      injected++;
      await sleep(clock, Math.ceil(random.next() * MAX_DELAY_MS), signal);
    }
    if (fault === "loss" && strikes()) throw unreachable();
    if (fault === "errors" && strikes()) throw refusal();
  }

  function after(): void {
    if (link.fault === "cut" || link.fault === "half-open") {
      injected++;
      throw unreachable();
    }
    if (link.fault === "loss" && strikes()) throw unreachable();
    if (link.fault === "errors" && random.next() < 0.2 && strikes()) throw refusal();
  }

  const link: Link = {
    get injected() {
      return injected;
    },
    endWatches() {
      ends.abort();
      ends = new AbortController();
    },
    wrap: (transport) => ({
      async send(request, signal) {
        onCall(
          name,
          `${request.verb} ${request.path.resource}${READS.has(request.verb) ? "" : ` ${request.path.name ?? ""}`}`,
        );
        await before(signal);
        const answer = await transport.send(request, signal);
        after();
        return answer;
      },
      async *watch(request, signal): AsyncGenerator<TransportWatchEvent[]> {
        onCall(name, `watch ${request.path.resource}`);
        await before(signal);
        const cut = ends.signal;
        const upstream = new AbortController();
        const stop = AbortSignal.any([signal, upstream.signal]);
        try {
          for await (const events of raced(transport.watch(request, stop), AbortSignal.any([signal, cut]))) {
            if (link.fault === "lag") {
              injected++;
              await sleep(clock, Math.ceil(random.next() * LAG_MS), signal);
            }
            // What a cut connection had in transit is lost, and the watch with it.
            if (link.fault === "cut" || link.fault === "half-open") throw unreachable();
            onCall(name, `event ${request.path.resource}`);
            yield events;
          }
        } finally {
          upstream.abort();
        }
        if (!signal.aborted) throw unreachable();
      },
      async raw(request, signal) {
        onCall(name, `${request.method} ${request.path}`);
        await before(signal);
        const answer = await transport.raw(request, signal);
        after();
        return answer;
      },
      close: () => transport.close(),
    }),
  };
  return link;
}

/** Ends at once when the signal is aborted, also while it waits for the next batch. */
async function* raced<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = (): void => aborted.resolve(undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    while (!signal.aborted) {
      const next = await Promise.race([iterator.next(), aborted.promise]);
      if (next === undefined || next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
