/**
 * Runs the same work on many items concurrently: writes that wait for the disk at the same time are synced together and
 * take hardly longer than one.
 */
const CONCURRENCY = 16;

/**
 * Starts work and returns results in the order of the items. After a failure, or when the signal is aborted, starts
 * nothing more and waits for running work before it throws the first failure or the signal's reason.
 */
export async function concurrently<T, R>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  let failure: { error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      try {
        signal.throwIfAborted();
        results[index] = await work(item);
      } catch (error) {
        failure ??= { error };
      }
      if (failure) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, worker));
  if (failure) throw failure.error;
  return results;
}
