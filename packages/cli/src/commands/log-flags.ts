/** Flags of the log on standard error, and the options that they mean. */
import type { Flag } from "../command.ts";
import type { HubProcessOptions } from "../fleet-starter.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** Of a process without a directory for a log of its own. */
export const logFlags = {
  "log-format": {
    type: "string",
    choices: ["json", "text"],
    default: "text",
    description: "format of log lines on standard error",
  },
  "log-level": { type: "string", choices: LOG_LEVELS, default: "warn", description: "what to log to standard error" },
} as const satisfies Record<string, Flag>;

export const logOptions = (flags: {
  "log-format": string;
  "log-level": string;
}): Required<Pick<HubProcessOptions, "logFormat" | "logLevel">> => ({
  logLevel: flags["log-level"] as HubProcessOptions["logLevel"],
  logFormat: flags["log-format"] === "json" ? "json" : "text",
});
