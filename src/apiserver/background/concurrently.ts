/**
 * The same work on many items, some of them at a time: writes that wait for the disk together are made durable
 * together, and so take hardly longer than one.
 */
const CONCURRENCY = 16;

/**
 * Starts in the order of the items and answers in it. After a failure, or when the signal is aborted, nothing more is
 * started; what runs comes to its end before the first failure, or the signal's reason, is thrown.
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
