/**
 * Logs are a constant message and varying fields. A program reads them as one JSON object a line, a person as text.
 * Object bodies, tokens and keys stay out; what slips into a message or a field all the same is taken out before it is
 * written (`redact.ts`).
 *
 * `error` needs a person, `info` is a change, `debug` is a decision. A converged system is quiet. When something says
 * the same over and over, the first lines are written and the rest is counted.
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
  /** One JSON object a line unless given. */
  format?: LogFormat;
  fields?: LogFields;
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };
/**
 * Of one message in one window. A hub that starts with thousands of bindings writes more of `info`, and nobody reads
 * them.
 */
const MAX_LINES = 500;
const WINDOW_MS = 10_000;
/** Messages are constants of the code; a few name what was being done. */
const MAX_MESSAGES = 1_000;
/** A message of a member may be a page; the beginning says what it is. */
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

/** What a line says besides, or that it is not written. */
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
    return known.lines === MAX_LINES ? { more: `lines like this are left out for ${WINDOW_MS / 1000} s` } : {};
  };
}

function clean(key: string, value: unknown): unknown {
  if (isSecretField(key) && value !== null && typeof value !== "number" && typeof value !== "boolean") return REDACTED;
  if (value instanceof Error) return shorten(redactText(messageOf(value)));
  return typeof value === "string" ? shorten(redactText(value)) : value;
}

const shorten = (text: string): string => (text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text);

/** `2026-01-01T00:00:00.000Z INFO  works dispatched  component=hub clusters=3`; values with blanks are quoted. */
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

/** Nobody who chooses a name can make a line of their own. */
const oneLine = (text: string): string => text.replaceAll(/[\n\r\u2028\u2029]/g, " ");

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLog };
