/** Messages between the process and the thread of the quarantined scripts. */
import { messageOf } from "@flotilla/base";
import type { FlotillaError } from "@flotilla/base";
import { LuaInternalError, LuaLimitError, LuaRuntimeError } from "@flotilla/lua";
import type { LuaBudget, LuaLimit } from "@flotilla/lua";
import { LuaResultError } from "./operations.ts";
import type { ProgramFunction } from "./program.ts";

export interface QuarantineData {
  /** One number: the running call, 0 between calls. The process reads it when the thread ends, to find the cause. */
  progress: Int32Array;
  budget: LuaBudget;
}

export interface RemoteCall {
  id: number;
  /** Its number in `sources` of this batch or an earlier one. */
  script: number;
  name: ProgramFunction;
  input: readonly unknown[];
  /** The time that the script reads. */
  nowMs: number;
}

export interface Batch {
  calls: RemoteCall[];
  /** Scripts that the thread does not have yet. */
  sources: [script: number, source: string][];
  /** The thread drops its scripts. */
  isFresh: boolean;
}

export type Answer = { id: number; value: unknown } | { id: number; failure: Failure };

export interface Failure {
  kind: "limit" | "runtime" | "result" | "internal";
  message: string;
  limit?: LuaLimit;
}

export function packFailure(error: unknown): Failure {
  if (error instanceof LuaLimitError) return { kind: "limit", message: error.message, limit: error.limit };
  if (error instanceof LuaRuntimeError) return { kind: "runtime", message: error.message };
  if (error instanceof LuaResultError) return { kind: "result", message: error.message };
  return { kind: "internal", message: messageOf(error) };
}

export function unpackFailure({ kind, message, limit = "time" }: Failure): FlotillaError {
  switch (kind) {
    case "limit":
      return new LuaLimitError(limit, message);
    case "runtime":
      return new LuaRuntimeError(message);
    case "result":
      return new LuaResultError(message);
    default:
      return new LuaInternalError(message);
  }
}
