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
  const impatience = new AbortController();
  const timer = clock.after(LIST_TIMEOUT_MS, () => impatience.abort());
  try {
    await informer.whenQuiet(AbortSignal.any([signal, impatience.signal]));
  } catch (error) {
    if (signal.aborted || !impatience.signal.aborted) throw error;
  } finally {
    timer.cancel();
  }
}
