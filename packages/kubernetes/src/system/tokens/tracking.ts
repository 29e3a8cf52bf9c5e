/** Records since when the use of token Secrets is tracked; cleaners of such tokens read it. */
import type { ConfigMap } from "../../configmap/configmap-kind.ts";

/** `since` is a day, `2024-05-01`. A date later than the real one only makes cleaners wait longer. */
export function tokenTrackingConfigMap(since: string): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "kube-apiserver-legacy-service-account-token-tracking", namespace: "kube-system" },
    data: { since },
  };
}
