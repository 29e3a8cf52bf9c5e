import { FlotillaError } from "../base/index.ts";

/** The engine is closed or can no longer write. */
export class StoreError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Store", message, options);
  }
}

/** The disk did not take a write, which was undone; a later one may succeed. */
export class StoreWriteError extends StoreError {}

/** The changes that were asked for are older than what the store still knows. */
export class CompactedError extends FlotillaError {
  readonly oldest: number;
  constructor(asked: number, oldest: number) {
    super("Compacted", `changes after revision ${asked} are gone; the oldest known is ${oldest}`);
    this.oldest = oldest;
  }
}
