/** Says since when uses of tokens in Secrets are noted on them; cleaners of such tokens go by it. */
import type { ConfigMap } from "../../api/index.ts";

/** `since` is a day, `2024-05-01`. A later one than the truth only makes cleaners wait longer. */
export function tokenTrackingConfigMap(since: string): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "kube-apiserver-legacy-service-account-token-tracking", namespace: "kube-system" },
    data: { since },
  };
}
