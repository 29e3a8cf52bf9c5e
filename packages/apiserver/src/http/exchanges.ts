/** The requests that are being answered. */
import { startExchange } from "./exchange.ts";
import type { Exchange, ExchangeDependencies } from "./exchange.ts";
import type { Peer } from "./peer.ts";
import type { Wire } from "./wire.ts";

export interface Exchanges {
  /** Answers a request; `onEnd` registers the listener for its end. */
  start(wire: Wire, peer: Peer, onEnd: (listener: () => void) => void): void;
  checkDeadlines(): void;
  /** Ends watches and other streams. */
  endStreams(): void;
  /** Resolves when all have ended, or after the given time. */
  drained(timeoutMs: number): Promise<void>;
  abort(): void;
}

export function createExchanges(deps: ExchangeDependencies): Exchanges {
  const { clock } = deps;
  const exchanges = new Set<Exchange>();
  let onDrained: (() => void) | undefined;

  return {
    start(wire, peer, onEnd) {
      const exchange = startExchange(wire, peer, deps);
      exchanges.add(exchange);
      onEnd(() => {
        exchanges.delete(exchange);
        exchange.abort();
        if (exchanges.size === 0) onDrained?.();
      });
    },
    checkDeadlines() {
      const nowMs = clock.now();
      for (const exchange of exchanges) exchange.checkDeadline(nowMs);
    },
    endStreams() {
      for (const exchange of exchanges) exchange.endStream();
    },
    drained: (timeoutMs) =>
      new Promise<void>((resolve) => {
        const drainTimer = clock.after(timeoutMs, resolve);
        onDrained = () => {
          drainTimer.cancel();
          resolve();
        };
        if (exchanges.size === 0) onDrained();
      }),
    abort() {
      for (const exchange of exchanges) exchange.abort();
    },
  };
}
