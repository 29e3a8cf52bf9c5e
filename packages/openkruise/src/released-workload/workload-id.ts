/** Names a workload in indexes, whatever the version of a reference. */
import { parseApiVersion } from "@flotilla/apimachinery";

export const workloadId = (
  cluster: string,
  namespace: string | undefined,
  { apiVersion, kind, name }: { readonly apiVersion: string; readonly kind: string; readonly name: string },
): string => `${cluster}/${namespace ?? ""}/${parseApiVersion(apiVersion).group}/${kind}/${name}`;
