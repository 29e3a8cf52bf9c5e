/** How a pod reaches the API server of its own cluster: with the token of its service account, which is read again when it changes. */
import { join } from "node:path";
import { UsageError } from "@flotilla/base";
import { parseKubeconfig } from "@flotilla/client";
import type { Kubeconfig } from "@flotilla/client";

const ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Throws a `UsageError` with this text outside a pod. */
export function inCluster(outside: string): Kubeconfig {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = process.env;
  if (!host) throw new UsageError(outside);
  const document = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "pod",
    clusters: [
      {
        name: "pod",
        cluster: {
          server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
          "certificate-authority": join(ACCOUNT_DIRECTORY, "ca.crt"),
        },
      },
    ],
    contexts: [{ name: "pod", context: { cluster: "pod", user: "pod" } }],
    users: [{ name: "pod", user: { tokenFile: join(ACCOUNT_DIRECTORY, "token") } }],
  };
  return parseKubeconfig(JSON.stringify(document), {
    source: "the service account of this pod",
    directory: ACCOUNT_DIRECTORY,
  });
}

export const NOT_IN_POD =
  "--in-cluster: this process does not run in a pod of a Kubernetes cluster; use --kubeconfig FILE";
