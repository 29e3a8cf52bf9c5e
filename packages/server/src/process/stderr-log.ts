/** The log of a serving process: lines on standard error, for people or for programs. */
import { createLog, systemClock } from "@flotilla/base";
import type { Log, LogFormat, LogLevel } from "@flotilla/base";

export function createStderrLog(level: LogLevel, format: LogFormat = "json"): Log {
  return createLog({
    level,
    format,
    clock: systemClock,
    write(line) {
      process.stderr.write(line, (error) => {
        if (error) process.exitCode = 1; // The reader of the log has closed it; the process continues.
      });
    },
  });
}
