/** The log of a process that serves: lines on standard error, for a person or for a program. */
import { createLog, systemClock } from "../base/index.ts";
import type { Log, LogFormat, LogLevel } from "../base/index.ts";

export function createStderrLog(level: LogLevel, format: LogFormat = "json"): Log {
  return createLog({
    level,
    format,
    clock: systemClock,
    write(line) {
      process.stderr.write(line, (error) => {
        if (error) process.exitCode = 1; // Nobody reads the log any more; what runs goes on.
      });
    },
  });
}
