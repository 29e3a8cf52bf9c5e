/**
 * Cluster roles of a hub for releases. A viewer follows them; a releaser also steers them: approves, pauses, returns. What
 * is released, and how, is for those who may write the templates and `flotilla:rollout-editor`.
 */
import type { ClusterRole } from "@flotilla/kubernetes";
import { FleetDisruptionBudget } from "./kinds/fleet-disruption-budget.ts";
import { FleetRollout } from "./kinds/fleet-rollout.ts";
import { rolloutKinds } from "./rollout-definitions.ts";
import { RolloutStrategy } from "./kinds/rollout-strategy.ts";
import { RBAC_API_VERSION } from "@flotilla/kubernetes";

const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];

const role = (name: string, rules: NonNullable<ClusterRole["rules"]>): ClusterRole => ({
  apiVersion: RBAC_API_VERSION,
  kind: "ClusterRole",
  metadata: { name },
  rules,
});

export function rolloutRoles(): ClusterRole[] {
  const { group } = FleetRollout;
  const read = { apiGroups: [group], resources: rolloutKinds.map(({ plural }) => plural).toSorted(), verbs: READ };
  return [
    role("flotilla:rollout-viewer", [read]),
    role("flotilla:rollout-releaser", [
      read,
      { apiGroups: [group], resources: [FleetRollout.plural], verbs: ["patch", "update"] },
    ]),
    role("flotilla:rollout-editor", [
      read,
      { apiGroups: [group], resources: [FleetRollout.plural], verbs: ["patch", "update", "delete"] },
      { apiGroups: [group], resources: [FleetDisruptionBudget.plural, RolloutStrategy.plural], verbs: WRITE },
    ]),
  ];
}
