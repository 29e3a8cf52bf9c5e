/**
 * Our errors have a stable `code`, listed in `docs/reference/errors.md`. The message says what was being done, to which
 * object, and what to try.
 */
export class FlotillaError extends Error {
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Thrown by a reconcile that cannot succeed until something changes: it is not retried by itself. */
export class TerminalError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Terminal", message, options);
  }
}

/** The command line was used wrongly: exit code 2. */
export class UsageError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Usage", message, options);
  }
}

/** An assumption of ours is broken: a bug in Flotilla. */
export class InvariantError extends FlotillaError {
  constructor(message: string) {
    super("Invariant", `broken assumption: ${message}; please report this as a bug`);
  }
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** The value, which must be there. */
export function required<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new InvariantError(`${what} is missing`);
  return value;
}

/** The text of whatever was thrown, with its causes. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`;
}
