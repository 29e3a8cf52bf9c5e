/** Waits for the pending list of a kind, instead of reading its objects one by one. */
import type { Clock } from "@flotilla/base";
import type { Informer } from "@flotilla/controller-runtime";

/** Listing a member takes milliseconds; a very large one takes seconds, and then single reads are faster. */
const LIST_TIMEOUT_MS = 2_000;

/** Resolves when the list succeeded, failed, or takes too long. Rejects when the signal ends the wait. */
export async function untilListed(
  informer: Pick<Informer<never>, "whenQuiet">,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const timeout = new AbortController();
  const timer = clock.after(LIST_TIMEOUT_MS, () => timeout.abort());
  try {
    await informer.whenQuiet(AbortSignal.any([signal, timeout.signal]));
  } catch (error) {
    if (signal.aborted || !timeout.signal.aborted) throw error;
  } finally {
    timer.cancel();
  }
}
