/** OpenKruise's StatefulSet, called Advanced StatefulSet: in-place updates, in any order, several pods at once. */
import type { Column } from "@flotilla/apimachinery";
import type { AdvancedStatefulSet as AdvancedStatefulSetType } from "./statefulset-types.ts";
import { fromStorage, toStorage } from "./statefulset-versions.ts";
import { AGE_AND_CONTAINERS, count } from "../api/columns.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { statefulSetDescriptions } from "./statefulset-descriptions.ts";

export type AdvancedStatefulSet = AdvancedStatefulSetType;

const columns: Column[] = [
  count("DESIRED", ".spec.replicas"),
  count("CURRENT", ".status.replicas"),
  count("UPDATED", ".status.updatedReplicas"),
  count("READY", ".status.readyReplicas"),
  ...AGE_AND_CONTAINERS,
];

export const AdvancedStatefulSet = kruiseKind<AdvancedStatefulSet>({
  kind: "StatefulSet",
  plural: "statefulsets",
  shortNames: ["sts", "asts"],
  columns,
  hasScale: true,
  workload: {},
  conversion: { toStorage, fromStorage },
  descriptions: statefulSetDescriptions,
});
