/**
 * Cluster roles that a hub has from the start for people and pipelines that plan. `flotilla plan`, `apply` and `wait`
 * decide with what the hub's own controllers read, in all namespaces. They never write with this role.
 *
 * `flotilla:planner` is aggregated: it contains `view`, and every role with its label, so that operators can add kinds.
 * It does not contain Secrets.
 */
import { aggregatedRules, CustomResourceDefinition, RBAC_API_VERSION } from "@flotilla/kubernetes";
import type { ClusterRole } from "@flotilla/kubernetes";
import type { Kind } from "@flotilla/apimachinery";
import type { PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import {
  FederatedHpa,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
} from "@flotilla/karmada";
import { SNAPSHOT_KINDS } from "./snapshot.ts";

export const PLANNER_ROLE = "flotilla:planner";
/** Of ClusterRoles whose rules the role contains. */
export const AGGREGATE_TO_PLANNER = "flotilla.dev/aggregate-to-planner";
const AGGREGATE_TO_VIEW = "rbac.authorization.k8s.io/aggregate-to-view";

/** `workloads` are the kinds that policies select besides Kubernetes' own; `others` are the hub's other roles. */
export function plannerRoles(workloads: readonly Kind[], others: readonly ClusterRole[]): ClusterRole[] {
  const read: readonly Pick<Kind, "group" | "plural">[] = [
    ...Object.values(SNAPSHOT_KINDS),
    ResourceInterpreterCustomization,
    ResourceInterpreterWebhookConfiguration,
    FederatedHpa,
    CustomResourceDefinition,
    ...workloads,
  ];
  const source: ClusterRole = {
    apiVersion: RBAC_API_VERSION,
    kind: "ClusterRole",
    metadata: { name: "flotilla:aggregate-to-planner", labels: { [AGGREGATE_TO_PLANNER]: "true" } },
    rules: [...Map.groupBy(read, ({ group }) => group)].map(([group, kinds]): PolicyRule => ({
      apiGroups: [group],
      resources: [...new Set(kinds.map(({ plural }) => plural))].sort(),
      verbs: ["get", "list"],
    })),
  };
  const planner: ClusterRole = {
    apiVersion: RBAC_API_VERSION,
    kind: "ClusterRole",
    metadata: { name: PLANNER_ROLE },
    aggregationRule: {
      clusterRoleSelectors: [AGGREGATE_TO_PLANNER, AGGREGATE_TO_VIEW].map((label) => ({
        matchLabels: { [label]: "true" },
      })),
    },
  };
  // As the controller of aggregated roles would write them, so that it writes nothing.
  return [source, { ...planner, rules: (aggregatedRules(planner, [source, ...others]) ?? []) as PolicyRule[] }];
}
