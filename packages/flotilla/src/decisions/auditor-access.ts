/** The cluster role of people who may read what the controllers decided. It reads nothing else. */
import type { ClusterRole } from "@flotilla/kubernetes";
import { Decision } from "./decision-kind.ts";
import { RBAC_API_VERSION } from "@flotilla/kubernetes";

export const auditorRole = (): ClusterRole => ({
  apiVersion: RBAC_API_VERSION,
  kind: "ClusterRole",
  metadata: { name: "flotilla:auditor" },
  rules: [{ apiGroups: [Decision.group], resources: [Decision.plural], verbs: ["get", "list"] }],
});
