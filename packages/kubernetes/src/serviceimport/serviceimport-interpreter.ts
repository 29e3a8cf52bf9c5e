/** ServiceImport: represents a Service derived from it and that Service's endpoints. */
import { SERVICE_NAME_LABEL } from "../well-known-names.ts";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";

export const serviceImportInterpreter: KindInterpreter = {
  group: "multicluster.x-k8s.io",
  kind: "ServiceImport",
  dependencies({ metadata }) {
    const name = `derived-${metadata.name}`;
    const namespace = metadata.namespace ? { namespace: metadata.namespace } : {};
    return [
      {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        ...namespace,
        labelSelector: { matchLabels: { [SERVICE_NAME_LABEL]: name } },
      },
      { apiVersion: "v1", kind: "Service", ...namespace, name },
    ];
  },
};
