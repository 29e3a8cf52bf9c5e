/** A process of the simulated fleet: it has a clock of its own, and can be killed. */
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import type { ProcessClock } from "./process-clock.ts";

export interface SimulatedProcess {
  clock: ProcessClock;
  stopping: AbortController;
  isDead: boolean;
}

const READS: ReadonlySet<string> = new Set(["get", "list"]);
/** Written by heartbeats, for as long as a process runs. */
const HEARTBEATS: ReadonlySet<string> = new Set(["leases"]);

export function endProcess(process: SimulatedProcess): void {
  process.isDead = true;
  process.clock.end();
  process.stopping.abort();
}

/** A transport that fails once its process has ended. `onWrite` gets each request that would change something. */
export function ofProcess(
  process: SimulatedProcess,
  transport: Transport,
  from: string,
  onWrite: (what: string) => void,
): Transport {
  const check = (): void => {
    if (process.isDead) throw new UnreachableError("the process has ended");
  };
  return {
    async send(request, signal) {
      await Promise.resolve();
      check();
      if (!READS.has(request.verb) && !HEARTBEATS.has(request.path.resource))
        onWrite(
          `${from} ${request.verb} ` +
            `${request.path.resource}${request.path.subresource ? `/${request.path.subresource}` : ""} ` +
            `${request.path.cluster}/${request.path.namespace ?? ""}/${request.path.name ?? ""}`,
        );
      const answer = await transport.send(request, signal);
      check();
      return answer;
    },
    async *watch(request, signal) {
      check();
      for await (const events of transport.watch(request, AbortSignal.any([signal, process.stopping.signal]))) {
        check();
        yield events;
      }
    },
    async raw(request, signal) {
      await Promise.resolve();
      check();
      return transport.raw(request, signal);
    },
    close: () => Promise.resolve(),
  };
}

/** Each request uses the transport of its moment, so a client outlives the process that it calls. */
export function currentTransport(now: () => Transport): Transport {
  return {
    async send(request, signal) {
      return now().send(request, signal);
    },
    async *watch(request, signal) {
      yield* now().watch(request, signal);
    },
    async raw(request, signal) {
      return now().raw(request, signal);
    },
    close: () => Promise.resolve(),
  };
}
