/** The ConfigMap in every namespace with the CA certificate of the API server, for workloads. */
import type { ConfigMap } from "../../configmap/configmap-kind.ts";

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
        [DESCRIPTION]: "CA certificate of this cluster's API server, for clients that run in the cluster.",
      },
    },
    data: { "ca.crt": certificate },
  };
}
