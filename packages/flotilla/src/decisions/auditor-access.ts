/** The cluster role of people who may read what the controllers decided. It reads nothing else. */
import type { ClusterRole } from "@flotilla/kubernetes";
import { Decision } from "./decision-kind.ts";

export const auditorRole = (): ClusterRole => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "flotilla:auditor" },
  rules: [{ apiGroups: [Decision.group], resources: [Decision.plural], verbs: ["get", "list"] }],
});
