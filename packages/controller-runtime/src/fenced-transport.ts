/**
 * A transport of one leader: its writes are rejected once the leadership has ended. Reads are harmless and continue. The
 * check before a write leaves a moment in which a process may be stopped, so writes to the API server that has the Lease
 * also name the term, and that server compares it.
 */
import type { Transport } from "@flotilla/client";
import type { Leadership } from "./leader-election.ts";

const READS: ReadonlySet<string> = new Set(["get", "list"]);
const READ_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** `hasLease`: the transport leads to the server of the Lease. */
export function fenceTransport(transport: Transport, leadership: Leadership, hasLease = false): Transport {
  return {
    ...transport,
    async send(request, signal) {
      if (READS.has(request.verb)) return transport.send(request, signal);
      leadership.check();
      const fence = hasLease ? leadership.fence : undefined;
      return transport.send(fence ? { ...request, query: { ...request.query, fence } } : request, signal);
    },
    async raw(request, signal) {
      if (!READ_METHODS.has(request.method)) leadership.check();
      return transport.raw(request, signal);
    },
  };
}
