/**
 * Flotilla's errors have a stable `code`, listed in `docs/reference/errors.md`. The message states what was being done,
 * to which object, and what to try.
 */
export class FlotillaError extends Error {
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Thrown by a reconcile that cannot succeed until something changes: it is not retried automatically. */
export class TerminalError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Terminal", message, options);
  }
}

/** Invalid command-line usage: exit code 2. */
export class UsageError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Usage", message, options);
  }
}

/** A violated invariant: a bug in Flotilla. */
export class InvariantError extends FlotillaError {
  constructor(message: string) {
    super("Invariant", `invariant violated: ${message}; please report this as a bug`);
  }
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Returns the value, or throws when it is missing. */
export function required<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new InvariantError(`${what} is missing`);
  return value;
}

/** The message of any thrown value, with its causes. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`;
}
