/** Finds the hub's kubeconfig: from the flags, the environment, or the data directory. */
import { HUB } from "@flotilla/apimachinery";
import { UsageError } from "@flotilla/base";
import { defaultDataDirectory, kubeconfigPath } from "../data-directory.ts";

export const hubFlags = {
  kubeconfig: {
    type: "string",
    value: "FILE",
    description: "kubeconfig of the hub (default: $KUBECONFIG, else the data directory's)",
  },
  data: { type: "string", value: "DIR", description: "data directory of the fleet (default ~/.flotilla)" },
} as const;

export function hubKubeconfig(
  flags: { kubeconfig: string | undefined; data: string | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const { kubeconfig, data } = flags;
  if (kubeconfig !== undefined) return kubeconfig;
  const named = environment["KUBECONFIG"];
  if (data !== undefined || !named) return kubeconfigPath(data ?? defaultDataDirectory(environment), HUB);
  if (named.includes(":"))
    throw new UsageError("$KUBECONFIG names several files; specify the hub's with --kubeconfig FILE");
  return named;
}
