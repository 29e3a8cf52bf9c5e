/**
 * The failures of a script: it does not compile, it raises an error, or it reaches a limit; and one class for engine
 * bugs.
 */
import { FlotillaError } from "@flotilla/base";

// Messages quote scripts, which may contain invalid UTF-8; messages shown to users are well-formed.

/** Position in the source, starting at 1. The column counts bytes, as upstream does. */
export interface SourcePosition {
  line: number;
  column: number;
}

/**
 * The source does not compile. `message` is Karmada's message; `position` is absent when the source ends prematurely.
 */
export class LuaSyntaxError extends FlotillaError {
  readonly position: SourcePosition | undefined;
  constructor(message: string, position?: SourcePosition) {
    super("LuaSyntax", message.toWellFormed());
    this.position = position;
  }
}

/** A script raised an uncaught error. */
export class LuaRuntimeError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("LuaRuntime", message.toWellFormed(), options);
  }
}

export type LuaLimit = "time" | "memory";

/** A call exceeded a limit. Scripts cannot catch it. */
export class LuaLimitError extends FlotillaError {
  readonly limit: LuaLimit;
  constructor(limit: LuaLimit, message: string, options?: ErrorOptions) {
    super("LuaLimit", message, options);
    this.limit = limit;
  }
}

/** The engine itself failed on a script. This is a bug in the engine, and scripts never see it. */
export class LuaInternalError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("LuaInternal", message, options);
  }
}
