/**
 * OpenKruise's PodUnavailableBudget: limits how many pods may be unavailable through deletion, eviction and in-place
 * updates.
 */
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import { count } from "./columns.ts";
import type { PodUnavailableBudget as PodUnavailableBudgetType } from "./pod-unavailable-budget-types.ts";
import { fromStorage, toStorage, v1beta1Schema } from "./pod-unavailable-budget-versions.ts";
import type { KruiseGates } from "./gates.ts";
import { checkBudget } from "./pod-unavailable-budget-rules.ts";
import { kruiseKind } from "./kruise-kind.ts";
import { kruiseAdmission } from "./webhook.ts";

export type PodUnavailableBudget = PodUnavailableBudgetType;

const columns: Column[] = [
  count("Allowed", ".status.unavailableAllowed"),
  count("Current", ".status.currentAvailable"),
  count("Desired", ".status.desiredAvailable"),
  count("Total", ".status.totalReplicas"),
];

export const PodUnavailableBudget = kruiseKind<PodUnavailableBudget>({
  group: "policy.kruise.io",
  kind: "PodUnavailableBudget",
  plural: "podunavailablebudgets",
  shortNames: ["pub"],
  columns,
  v1beta1Schema,
  toStorage,
  fromStorage,
});

export const admissions = (gates: KruiseGates): AnyAdmission[] => [
  kruiseAdmission(PodUnavailableBudget, {
    name: "podunavailablebudget",
    code: 400,
    tables: { v1alpha1: "policy-kruise-v1alpha1" },
    check: checkBudget(gates),
  }),
];
