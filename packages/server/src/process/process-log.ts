/** The log of a serving process: the requested level on standard error, and changes in a file of its data directory. */
import { createLog, messageOf, systemClock } from "@flotilla/base";
import type { Log, LogFormat, LogLevel } from "@flotilla/base";
import { openLogFile } from "./log-file.ts";
import { createStderrLog } from "./stderr-log.ts";

export interface ProcessLog {
  log: Log;
  /** For messages that users get elsewhere. */
  fileOnly: Log;
  /** Resolves when everything is written to the file. */
  close(): Promise<void>;
}

export function createProcessLog(level: LogLevel, path: string, format?: LogFormat): ProcessLog {
  const terminal = createStderrLog(level, format);
  const file = openLogFile({
    path,
    onProblem: (error) =>
      terminal.warn("log file not writable; logging only to standard error, at --log-level", {
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
