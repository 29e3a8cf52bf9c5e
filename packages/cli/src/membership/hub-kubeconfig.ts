/** Finds the hub: its kubeconfig from the flags, the environment or the data directory, the context, and the user. */
import { existsSync } from "node:fs";
import { delimiter, dirname, resolve } from "node:path";
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError, UsageError } from "@flotilla/base";
import type { KubeconfigAccess } from "../command.ts";
import { defaultDataDirectory, kubeconfigPath } from "../data-directory.ts";

export const hubFlags = {
  kubeconfig: {
    type: "string",
    value: "FILE",
    description: "kubeconfig of the hub (default: $KUBECONFIG, else the data directory's)",
  },
  context: {
    type: "string",
    value: "NAME",
    completes: "hub-context",
    description: "context of the hub's kubeconfig (default: the current one)",
  },
  data: { type: "string", value: "DIR", description: "data directory of the fleet (default ~/.flotilla)" },
  as: { type: "string", value: "USER", description: "impersonate this user" },
  "as-group": {
    type: "string",
    value: "GROUP",
    repeated: true,
    description: "with --as: impersonate a member of this group; may be repeated",
  },
  v: {
    type: "integer",
    short: "v",
    value: "LEVEL",
    default: 0,
    minimum: 0,
    maximum: 10,
    description: "6 or more prints each request to the hub on standard error",
  },
} as const;

export interface HubFlagValues {
  kubeconfig: string | undefined;
  data: string | undefined;
  context?: string | undefined;
  as?: string | undefined;
  "as-group"?: readonly string[];
  v?: number;
}

export function hubKubeconfig(
  flags: HubFlagValues,
  environment: Readonly<Record<string, string | undefined>>,
): KubeconfigAccess {
  const { as: user, "as-group": groups = [], context, v } = flags;
  if (user === undefined && groups.length > 0) throw new UsageError("--as-group needs a user; add --as USER");
  return {
    kubeconfigs: filesOf(flags, environment),
    context,
    impersonate: user === undefined ? undefined : { user, groups },
    verbosity: v,
  };
}

/** Throws if none of the files exists: most users without a kubeconfig have not started a fleet. */
export function checkKubeconfig({ kubeconfigs }: Pick<KubeconfigAccess, "kubeconfigs">): void {
  if (!kubeconfigs.some((path) => existsSync(path)))
    throw new FlotillaError(
      "NoKubeconfig",
      `no kubeconfig at ${kubeconfigs.join(" or ")}; start a fleet with 'flotilla up', or specify one with --kubeconfig FILE`,
    );
}

/** The data directory of a hub on this machine: the one that is named, or the one that the hub's kubeconfig is in. */
export async function hubDataDirectory(
  flags: HubFlagValues,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  if (flags.data !== undefined) return flags.data;
  const files = filesOf(flags, environment);
  if (files.length === 1 && flags.context === undefined) return dirname(resolve(files[0] ?? "."));
  const { loadKubeconfig } = await import("@flotilla/client");
  const configs = await Promise.all(files.filter((file) => existsSync(file)).map(loadKubeconfig));
  const context = flags.context ?? configs.find(({ currentContext }) => currentContext)?.currentContext ?? "";
  const config = configs.find(({ contexts }) => contexts.has(context));
  if (!config) throw new UsageError(`${files.join(", ")}: no context is named '${context}'`);
  return config.directory;
}

function filesOf(
  { kubeconfig, data }: HubFlagValues,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  if (kubeconfig !== undefined) return [kubeconfig];
  const named = data === undefined ? (environment["KUBECONFIG"] ?? "").split(delimiter).filter(Boolean) : [];
  return named.length > 0 ? named : [kubeconfigPath(data ?? defaultDataDirectory(environment), HUB)];
}
