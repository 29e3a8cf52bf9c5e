/**
 * Reports requests that a member did not answer, and watches that broke, so that the hub asks at once whether the member
 * still answers.
 */
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";

export function reportFailures(transport: Transport, report: () => void): Transport {
  const noted = (error: unknown): unknown => {
    if (error instanceof UnreachableError) report();
    return error;
  };
  return {
    async send(request, signal) {
      try {
        return await transport.send(request, signal);
      } catch (error) {
        throw noted(error);
      }
    },
    async *watch(request, signal) {
      try {
        yield* transport.watch(request, signal);
      } catch (error) {
        throw noted(error);
      }
    },
    async raw(request, signal) {
      try {
        return await transport.raw(request, signal);
      } catch (error) {
        throw noted(error);
      }
    },
    close: () => transport.close(),
  };
}
