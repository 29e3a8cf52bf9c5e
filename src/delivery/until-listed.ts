/** Waiting for the list of a kind that is under way, instead of asking for its objects one by one. */
import type { Clock } from "../base/index.ts";
import type { Informer } from "../runtime/index.ts";

/**
 * A list of what a member holds comes within milliseconds; of a very large one it takes seconds, and then single
 * questions are quicker.
 */
const PATIENCE_MS = 2_000;

/** Resolves when the list has ended, well or not, or when it takes long. Rejects when the signal ends the wait. */
export async function untilListed(
  informer: Pick<Informer<never>, "whenQuiet">,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const impatience = new AbortController();
  const timer = clock.after(PATIENCE_MS, () => impatience.abort());
  try {
    await informer.whenQuiet(AbortSignal.any([signal, impatience.signal]));
  } catch (error) {
    if (signal.aborted || !impatience.signal.aborted) throw error;
  } finally {
    timer.cancel();
  }
}
