/** The deadline of a request. */
import type { Clock } from "@flotilla/base";
import { UnreachableError } from "./errors.ts";
import type { HttpResponse } from "./http-requests.ts";

export interface Deadline {
  timeoutMs: number;
  clock: Clock;
}

/**
 * Runs `work` with a signal that is aborted by the caller or by the deadline, whichever comes first. `stream` lifts
 * the deadline from a response that is read for as long as it lasts; the caller's signal still ends it.
 */
export async function withDeadline<T>(
  doing: string,
  { timeoutMs, clock }: Deadline,
  signal: AbortSignal | undefined,
  work: (stop: AbortSignal, stream: (answer: HttpResponse) => void) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const timer = clock.after(timeoutMs, () =>
    controller.abort(
      new UnreachableError(
        `${doing}: no response within ${timeoutMs / 1000} s; the server is overloaded or unreachable`,
        { mayHaveArrived: true },
      ),
    ),
  );
  const give = (): void => controller.abort(signal?.reason);
  const forget = (): void => signal?.removeEventListener("abort", give);
  signal?.addEventListener("abort", give, { once: true });
  let streamed = false;
  try {
    return await work(controller.signal, ({ body }) => {
      streamed = true;
      body.once("close", forget);
    });
  } finally {
    timer.cancel();
    if (!streamed) forget();
  }
}
