/** The log of a process that serves: lines on standard error. */
import { createLog, systemClock } from "../base/index.ts";
import type { Log, LogLevel } from "../base/index.ts";

export function createStderrLog(level: LogLevel): Log {
  return createLog({
    level,
    clock: systemClock,
    write(line) {
      process.stderr.write(line, (error) => {
        if (error) process.exitCode = 1; // Nobody reads the log any more; what runs goes on.
      });
    },
  });
}
