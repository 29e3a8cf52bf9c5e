/** A transport of one leader: its writes are rejected once the leadership has ended. Reads are harmless and continue. */
import type { Transport } from "@flotilla/client";
import type { Leadership } from "./leader-election.ts";

const READS: ReadonlySet<string> = new Set(["get", "list"]);
const READ_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

export function fenceTransport(transport: Transport, leadership: Leadership): Transport {
  return {
    ...transport,
    async send(request, signal) {
      if (!READS.has(request.verb)) leadership.check();
      return transport.send(request, signal);
    },
    async raw(request, signal) {
      if (!READ_METHODS.has(request.method)) leadership.check();
      return transport.raw(request, signal);
    },
  };
}
