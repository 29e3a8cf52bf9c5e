/** OpenKruise's StatefulSet, called Advanced StatefulSet: in-place updates, in any order, several pods at once. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import type { AdvancedStatefulSet as AdvancedStatefulSetType } from "./advanced-stateful-set-types.ts";
import { fromStorage, toStorage } from "./advanced-stateful-set-versions.ts";
import { AGE_AND_CONTAINERS, count } from "./columns.ts";
import { checkStatefulSet, completeStatefulSet } from "./advanced-stateful-set-rules.ts";
import type { KruiseGates } from "./gates.ts";
import { OPEN_TEMPLATES, withSelector } from "./template-rules.ts";
import { kruiseKind } from "./kruise-kind.ts";
import { kruiseAdmission } from "./webhook.ts";

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
  toStorage,
  fromStorage,
});

export const admissions = (gates: KruiseGates): AnyAdmission[] => [
  kruiseAdmission(AdvancedStatefulSet, {
    name: "statefulset",
    code: 422,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    open: OPEN_TEMPLATES,
    complete: completeStatefulSet(gates),
    check: checkStatefulSet(gates),
    prepare: withSelector,
  }),
];
