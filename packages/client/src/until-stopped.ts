/**
 * Resolves like the promise, or rejects with the signal's reason when that comes first. The promise itself is not
 * cancelled.
 */
export function untilStopped<T>(promise: Promise<T>, stop: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = (): void => reject(stop.reason as Error);
    stop.addEventListener("abort", give, { once: true });
    promise.then(resolve, reject).finally(() => stop.removeEventListener("abort", give));
  });
}
