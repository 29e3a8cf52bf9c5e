/** Flags that the commands which look into members share. */
import { UsageError } from "../../base/index.ts";
import { parseDuration } from "../../machinery/index.ts";

export const namespaceFlag = {
  namespace: { type: "string", short: "n", value: "NS", completes: "namespace", description: "the namespace to look in (default: that of the kubeconfig, else default)" },
} as const;

export const patienceFlag = {
  "request-timeout": { type: "integer", value: "SECONDS", default: 10, minimum: 1, maximum: 600, description: "how long a member may take to answer" },
} as const;

const NANOSECONDS = 1_000_000_000n;

/** Whole seconds of `90s`, `5m`, `1h30m` or a plain number; at least one. */
export function readSeconds(flag: string, text: string): number {
  const duration = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (!duration || duration.nanos <= 0n) throw new UsageError(`${flag} is a duration such as 90s, 5m or 2h, not '${text}'`);
  return Math.max(1, Number(duration.nanos / NANOSECONDS));
}
