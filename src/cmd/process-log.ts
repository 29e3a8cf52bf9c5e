/**
 * The log of a process that serves: on standard error what was asked for, and in a file of its data directory what
 * changed as well.
 */
import { createLog, messageOf, systemClock } from "../base/index.ts";
import type { Log, LogFormat, LogLevel } from "../base/index.ts";
import { openLogFile } from "./log-file.ts";
import { createStderrLog } from "./stderr-log.ts";

export interface ProcessLog {
  log: Log;
  /** For what people are told otherwise. */
  fileOnly: Log;
  /** Resolves when the file has everything. */
  close(): Promise<void>;
}

export function createProcessLog(level: LogLevel, path: string, format?: LogFormat): ProcessLog {
  const terminal = createStderrLog(level, format);
  const file = openLogFile({
    path,
    onProblem: (error) =>
      terminal.warn("the log file takes no lines; they are on standard error only, as far as --log-level says", {
        path,
        error: messageOf(error),
      }),
  });
  const kept = createLog({
    level: level === "debug" ? "debug" : "info",
    clock: systemClock,
    write: (line) => file.write(line),
  });
  return { log: both(terminal, kept), fileOnly: kept, close: () => file.close() };
}

function both(first: Log, second: Log): Log {
  const at =
    (level: "debug" | "info" | "warn" | "error"): Log["info"] =>
    (message, fields) => {
      first[level](message, fields);
      second[level](message, fields);
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => both(first.with(fields), second.with(fields)),
  };
}
