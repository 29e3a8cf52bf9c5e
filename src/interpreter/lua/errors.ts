/**
 * The ways in which a script fails: it does not compile, it raises an error, or it reaches a limit; and one for our own
 * failures.
 */
import { FlotillaError } from "../../base/index.ts";

// Messages quote scripts, which may hold bytes that are no text; what is shown to people is.

/** Where in the source, counted from 1. The column counts bytes, as upstream does. */
export interface SourcePosition {
  line: number;
  column: number;
}

/**
 * The source is no script. `message` is the one that Karmada gives; `position` is absent when the source just ends too
 * early.
 */
export class LuaSyntaxError extends FlotillaError {
  readonly position: SourcePosition | undefined;
  constructor(message: string, position?: SourcePosition) {
    super("LuaSyntax", message.toWellFormed());
    this.position = position;
  }
}

/** A script raised an error and nothing caught it. */
export class LuaRuntimeError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("LuaRuntime", message.toWellFormed(), options);
  }
}

export type LuaLimit = "time" | "memory";

/** A call used up what it may use. Scripts cannot catch it. */
export class LuaLimitError extends FlotillaError {
  readonly limit: LuaLimit;
  constructor(limit: LuaLimit, message: string, options?: ErrorOptions) {
    super("LuaLimit", message, options);
    this.limit = limit;
  }
}

/** The engine itself failed on a script. That is a bug of ours, never something that a script may see. */
export class LuaInternalError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("LuaInternal", message, options);
  }
}
