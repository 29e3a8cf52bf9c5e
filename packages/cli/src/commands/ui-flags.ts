/** Flags of the web UI on the port of a hub, and the options that they mean. */
import { UsageError } from "@flotilla/base";
import type { Flag, FlagValues } from "../command.ts";
import type { UiOptions } from "../fleet-starter.ts";

export const uiFlags = {
  "no-ui": { type: "boolean", description: "do not serve the web UI" },
  "ui-tls-cert": {
    type: "string",
    value: "FILE",
    description:
      "certificate for browsers that open /ui on the port of the hub by one of its names, other than names of the " +
      "hub itself (default: the hub's own certificate); the file is read again when it changes",
  },
  "ui-tls-key": { type: "string", value: "FILE", description: "private key of --ui-tls-cert" },
} as const satisfies Record<string, Flag>;

/** Undefined: no web UI. Throws `UsageError` for flags that contradict each other. */
export function uiOptions(flags: FlagValues<typeof uiFlags>): UiOptions | undefined {
  const { "ui-tls-cert": certificateFile, "ui-tls-key": keyFile } = flags;
  if ((certificateFile === undefined) !== (keyFile === undefined))
    throw new UsageError("--ui-tls-cert and --ui-tls-key need each other");
  if (flags["no-ui"] && certificateFile !== undefined)
    throw new UsageError("--no-ui serves no web UI, so --ui-tls-cert does not fit with it");
  if (flags["no-ui"]) return undefined;
  return certificateFile === undefined || keyFile === undefined ? {} : { tls: { certificateFile, keyFile } };
}
