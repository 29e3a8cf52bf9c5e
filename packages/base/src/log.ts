/**
 * Structured logging: a constant message and varying fields, as one JSON object per line or as text. Object bodies,
 * tokens and keys must not be logged; `redact.ts` removes those that still get into a message or a field.
 *
 * `error` needs an operator, `info` is a change, `debug` is a decision. A converged system is quiet. When a message
 * repeats, the first lines are written and the rest are counted.
 */
import type { Clock } from "./clock.ts";
import { messageOf } from "./errors.ts";
import { isSecretField, REDACTED, redactText } from "./redact.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";
export type LogFormat = "json" | "text";
export type LogFields = Record<string, unknown>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log that adds these fields to every line. */
  with(fields: LogFields): Log;
}

export interface LogOptions {
  level: LogLevel;
  clock: Clock;
  write: (line: string) => void;
  /** Defaults to one JSON object per line. */
  format?: LogFormat;
  fields?: LogFields;
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };
/** Per message and window. A hub that starts with thousands of bindings logs more at `info` than operators can read. */
const MAX_LINES = 500;
const WINDOW_MS = 10_000;
/** Messages are constants in the code; a few name the operation. */
const MAX_MESSAGES = 1_000;
/** A message from a member may be a page long; the beginning is enough to identify it. */
const MAX_TEXT_LENGTH = 2_000;

type Level = Exclude<LogLevel, "silent">;

export function createLog(options: LogOptions): Log {
  return logWith(options, createRateLimit(options.clock), options.fields ?? {});
}

function logWith(options: LogOptions, limit: RateLimit, base: LogFields): Log {
  const { level, clock, write, format = "json" } = options;
  const at = (name: Level): Log["info"] =>
    RANK[name] < RANK[level]
      ? () => {}
      : (message, fields) => {
          const leftOut = limit(message);
          if (leftOut === "full") return;
          const line = {
            time: new Date(clock.now()).toISOString(),
            level: name,
            message,
            ...base,
            ...fields,
            ...leftOut,
          };
          write(`${format === "json" ? JSON.stringify(line, clean) : renderText(line)}\n`);
        };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => logWith(options, limit, { ...base, ...fields }),
  };
}

/** Extra text for a line, or that it is not written. */
type RateLimit = (message: string) => "full" | { leftOut?: number; more?: string };

function createRateLimit(clock: Clock): RateLimit {
  const seen = new Map<string, { sinceMs: number; lines: number }>();
  return (message) => {
    const nowMs = clock.now();
    const known = seen.get(message);
    if (!known || nowMs - known.sinceMs >= WINDOW_MS) {
      if (seen.size >= MAX_MESSAGES) seen.clear();
      seen.set(message, { sinceMs: nowMs, lines: 1 });
      const leftOut = (known?.lines ?? 0) - MAX_LINES;
      return leftOut > 0 ? { leftOut } : {};
    }
    known.lines++;
    if (known.lines > MAX_LINES) return "full";
    return known.lines === MAX_LINES
      ? { more: `further lines with this message are suppressed for ${WINDOW_MS / 1000} s` }
      : {};
  };
}

function clean(key: string, value: unknown): unknown {
  if (isSecretField(key) && value !== null && typeof value !== "number" && typeof value !== "boolean") return REDACTED;
  if (value instanceof Error) return shorten(redactText(messageOf(value)));
  return typeof value === "string" ? shorten(redactText(value)) : value;
}

const shorten = (text: string): string => (text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text);

/** `2026-01-01T00:00:00.000Z INFO works dispatched component=hub clusters=3`; values with spaces are quoted. */
function renderText({
  time,
  level,
  message,
  ...fields
}: LogFields & { time: string; level: Level; message: string }): string {
  const rest = Object.entries(JSON.parse(JSON.stringify(fields, clean)) as LogFields).map(
    ([name, value]) => `${name}=${renderValue(value)}`,
  );
  return [
    `${time} ${level.toUpperCase().padEnd(5)} ${oneLine(shorten(redactText(message)))}`,
    ...(rest.length > 0 ? [rest.join(" ")] : []),
  ].join("  ");
}

function renderValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}

/** Prevents log injection: a user-chosen name cannot start a new line. */
const oneLine = (text: string): string => text.replaceAll(/[\n\r\u2028\u2029]/g, " ");

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLog };
