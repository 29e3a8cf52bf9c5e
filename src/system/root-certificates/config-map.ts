/** The ConfigMap in every namespace that tells workloads whom to trust when they talk to the API server. */
import type { ConfigMap } from "../../api/index.ts";

export const ROOT_CERTIFICATE_NAME = "kube-root-ca.crt";
export const DESCRIPTION = "kubernetes.io/description";

export function rootCertificateConfigMap(namespace: string, certificate: string): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: ROOT_CERTIFICATE_NAME,
      namespace,
      annotations: {
        [DESCRIPTION]:
          "The certificate of the authority that vouches for this cluster's API server, for clients that run in the cluster.",
      },
    },
    data: { "ca.crt": certificate },
  };
}
