/** ClusterRole: permissions in a whole cluster, or in each namespace where it is bound. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, builtInKind, checkSelector, createdColumn, field, nameColumn } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Kind } from "@flotilla/apimachinery";
import type { ClusterRole as ClusterRoleFacts } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { RBAC_GROUP } from "./identities.ts";
import { checkRules, completeRules, dropEmptyRules, rbacTraits } from "./rbac-rules.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type ClusterRole = ClusterRoleFacts;

export const ClusterRole: Kind<ClusterRole> = builtInKind<ClusterRole>({
  group: RBAC_GROUP,
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  scope: "Cluster",
  facts: "rbac-v1",
  columns: [nameColumn, createdColumn],
  traits: rbacTraits,
});

const SELECTORS = "aggregationRule.clusterRoleSelectors";

function checkAggregation(
  { aggregationRule }: DeepReadonly<ClusterRole>,
  old: DeepReadonly<ClusterRole> | undefined,
): FieldError[] {
  if (!aggregationRule) return [];
  const { clusterRoleSelectors = [] } = aggregationRule;
  if (clusterRoleSelectors.length === 0)
    return [field.required(SELECTORS, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  // Invalid stored values may be kept.
  const lenient = (old?.aggregationRule?.clusterRoleSelectors ?? []).some(
    (selector) => checkSelector(SELECTORS, selector).length > 0,
  );
  return clusterRoleSelectors.flatMap((selector, index) => {
    const at = `${SELECTORS}[${index}]`;
    const errors = checkSelector(at, selector, lenient);
    return checkSelector(at, selector).length > 0
      ? [...errors, field.invalid(at, null, "invalid label selector.")]
      : errors;
  });
}

export const rules: AnyAdmission[] = [
  builtInAdmission(ClusterRole, "rbac-v1", {
    complete: completeRules,
    prepare: dropEmptyRules,
    validate: ({ object, oldObject }) => [...checkRules(object.rules, false), ...checkAggregation(object, oldObject)],
  }),
];

export const clusterRole = defineKind({
  kind: ClusterRole,
  rules,
  example: exampleOf(ClusterRole, { rules: [] }),
});
