/** The service account of every namespace, for workloads that name none. */
import type { ServiceAccount } from "../../serviceaccount/serviceaccount-kind.ts";

export const DEFAULT_ACCOUNT = "default";

export function defaultServiceAccount(namespace: string): ServiceAccount {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: DEFAULT_ACCOUNT, namespace } };
}
