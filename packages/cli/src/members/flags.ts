/** Flags shared by commands. */
import { messageOf, UsageError } from "@flotilla/base";
import { ApiError, parseFieldSelector, parseLabelSelector } from "@flotilla/apimachinery";
import { parseDuration } from "@flotilla/cel";

/** Of the commands that take manifests. */
export const manifestFlags = {
  filename: {
    type: "string",
    short: "f",
    value: "FILE",
    repeated: true,
    description: "manifests: a file, folder, pattern, URL, or - for standard input; may be repeated",
  },
  recursive: { type: "boolean", short: "R", description: "also read subfolders" },
  kustomize: {
    type: "string",
    short: "k",
    value: "DIR",
    description: "instead of -f: build the kustomization in this folder with kubectl, and use its objects",
  },
} as const;

/** Of the commands that wait for members; `readSeconds` reads it. */
export const timeoutFlag = {
  timeout: {
    type: "string",
    value: "DURATION",
    default: "2m",
    description: "how long to wait, for example 90s or 5m",
  },
} as const;

export const requestTimeoutFlag = {
  "request-timeout": {
    type: "integer",
    value: "SECONDS",
    default: 10,
    minimum: 1,
    maximum: 600,
    description: "the timeout for a member's response",
  },
} as const;

/** Throws `UsageError` for an invalid selector: otherwise each of a hundred members would report it. */
export function checkSelectors({
  labelSelector,
  fieldSelector,
}: {
  labelSelector?: string;
  fieldSelector?: string;
}): void {
  const checks = [
    ["-l", labelSelector, parseLabelSelector],
    ["--field-selector", fieldSelector, parseFieldSelector],
  ] as const;
  for (const [flag, text, parse] of checks) {
    try {
      if (text !== undefined) parse(text);
    } catch (error) {
      throw error instanceof ApiError
        ? new UsageError(`${flag} '${text}' is not a valid selector: ${messageOf(error)}`)
        : error;
    }
  }
}

const NANOSECONDS = 1_000_000_000n;

/** Whole seconds of `90s`, `5m`, `1h30m` or a plain number; at least one. */
export function readSeconds(flag: string, text: string): number {
  const duration = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (!duration || duration.nanos <= 0n)
    throw new UsageError(`${flag} must be a duration such as 90s, 5m or 2h, not '${text}'`);
  return Math.max(1, Number(duration.nanos / NANOSECONDS));
}
