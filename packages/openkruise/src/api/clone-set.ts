/** CloneSet: OpenKruise's Deployment, with in-place updates, a partition, and specific pods to delete. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import { checkCloneSet, completeCloneSet } from "./clone-set-rules.ts";
import { fromStorage, toStorage, v1beta1Schema } from "./clone-set-versions.ts";
import type { CloneSet as CloneSetType } from "./clone-set-types.ts";
import { AGE_AND_CONTAINERS, count } from "./columns.ts";
import type { KruiseGates } from "./gates.ts";
import { OPEN_TEMPLATES, withSelector } from "./template-rules.ts";
import { kruiseKind } from "./kruise-kind.ts";
import { kruiseAdmission } from "./webhook.ts";

export type CloneSet = CloneSetType;

const columns: Column[] = [
  count("DESIRED", ".spec.replicas"),
  count("UPDATED", ".status.updatedReplicas"),
  count("UPDATED_READY", ".status.updatedReadyReplicas"),
  count("UPDATED_AVAILABLE", ".status.updatedAvailableReplicas"),
  count("READY", ".status.readyReplicas"),
  count("TOTAL", ".status.replicas"),
  ...AGE_AND_CONTAINERS,
  { name: "SELECTOR", type: "string", jsonPath: ".status.labelSelector", priority: 1 },
];

export const CloneSet = kruiseKind<CloneSet>({
  kind: "CloneSet",
  plural: "clonesets",
  shortNames: ["clone"],
  columns,
  hasScale: true,
  v1beta1Schema,
  toStorage,
  fromStorage,
});

export const admissions = (gates: KruiseGates): AnyAdmission[] => [
  kruiseAdmission(CloneSet, {
    name: "cloneset",
    code: 422,
    tables: { v1alpha1: "apps-kruise-v1alpha1" },
    open: OPEN_TEMPLATES,
    complete: completeCloneSet(gates),
    check: checkCloneSet,
    prepare: withSelector,
  }),
];
