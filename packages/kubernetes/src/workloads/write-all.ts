/** Many writes of one reconcile: limited concurrency, and every one is attempted before the first failure is thrown. */
import { FlotillaError, messageOf } from "@flotilla/base";

/**
 * Enough to share the store's commits: with 16, and 32 pods at a time in scheduler and kubelet, a Deployment on SQLite
 * took a fifth longer and a tenth more CPU than with 64 and 128 (medians of seven pairs). Few enough to leave room for
 * other owners.
 */
const MAX_PARALLEL = 64;

export class WriteAllError extends FlotillaError {
  readonly failed: number;
  constructor(what: string, errors: readonly unknown[], total: number) {
    super("WriteAll", `${errors.length} of ${total} ${what} failed: ${messageOf(errors[0])}`, { cause: errors[0] });
    this.failed = errors.length;
  }
}

/** `what` names the writes in error messages: "pod creations". */
export async function writeAll<T>(what: string, items: readonly T[], write: (item: T) => Promise<void>): Promise<void> {
  const errors: unknown[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next++] as T;
      try {
        await write(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, items.length) }, work));
  if (errors.length > 0) throw new WriteAllError(what, errors, items.length);
}

/**
 * The same in batches that double, and none after a batch with a failure: if the first pod cannot be created, a
 * thousand cannot either.
 */
export async function slowStart<T>(
  what: string,
  items: readonly T[],
  write: (item: T) => Promise<void>,
): Promise<void> {
  for (let start = 0, size = 1; start < items.length; start += size, size = start + 1)
    await writeAll(what, items.slice(start, start + size), write);
}
