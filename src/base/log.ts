/**
 * Logs are a constant message and varying fields, one JSON object a line. Object bodies, tokens and keys stay out.
 *
 * `error` needs a person, `info` is a change, `debug` is a decision. A converged system is quiet.
 */
import type { Clock } from "./clock.ts";
import { messageOf } from "./errors.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";
export type LogFields = Record<string, unknown>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log that adds these fields to every line. */
  with(fields: LogFields): Log;
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

export function createLog(options: { level: LogLevel; clock: Clock; write: (line: string) => void; fields?: LogFields }): Log {
  const { level, clock, write, fields: base = {} } = options;
  const at = (name: Exclude<LogLevel, "silent">) =>
    RANK[name] < RANK[level]
      ? () => {}
      : (message: string, fields?: LogFields): void =>
          write(`${JSON.stringify({ time: new Date(clock.now()).toISOString(), level: name, message, ...base, ...fields }, showErrors)}\n`);
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => createLog({ ...options, fields: { ...base, ...fields } }),
  };
}

function showErrors(_key: string, value: unknown): unknown {
  return value instanceof Error ? messageOf(value) : value;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLog };
