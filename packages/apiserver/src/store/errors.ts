import { FlotillaError } from "@flotilla/base";

/** The engine is closed or can no longer write. */
export class StoreError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Store", message, options);
  }
}

/** The disk rejected a write, which was rolled back; a later one may succeed. */
export class StoreWriteError extends StoreError {}

/** A store on other machines cannot be reached now. Whether a write was carried out is unknown; a later one may succeed. */
export class StoreUnavailableError extends StoreError {}

/** Stored data is missing or not as it was written. */
export class DamagedStoreError extends StoreError {}

/** The requested changes have been compacted. */
export class CompactedError extends FlotillaError {
  readonly oldest: number;
  constructor(asked: number, oldest: number) {
    super("Compacted", `changes after revision ${asked} were compacted; the oldest available is ${oldest}`);
    this.oldest = oldest;
  }
}
