/**
 * OpenKruise's PodUnavailableBudget: limits how many pods may be unavailable through deletion, eviction and in-place
 * updates.
 */
import type { Column } from "@flotilla/apimachinery";
import { count } from "../api/columns.ts";
import type { PodUnavailableBudget as PodUnavailableBudgetType } from "./podunavailablebudget-types.ts";
import { fromStorage, toStorage, v1beta1Schema } from "./podunavailablebudget-versions.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { podUnavailableBudgetDescriptions } from "./podunavailablebudget-descriptions.ts";

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
  conversion: { toStorage, fromStorage },
  descriptions: podUnavailableBudgetDescriptions,
});
