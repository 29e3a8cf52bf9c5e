/** CloneSet: OpenKruise's Deployment, with in-place updates, a partition, and specific pods to delete. */
import type { Column } from "@flotilla/apimachinery";
import { fromStorage, toStorage, v1beta1Schema } from "./cloneset-versions.ts";
import type { CloneSet as CloneSetType } from "./cloneset-types.ts";
import { AGE_AND_CONTAINERS, count } from "../api/columns.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { cloneSetDescriptions } from "./cloneset-descriptions.ts";

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
  workload: {},
  conversion: { toStorage, fromStorage },
  descriptions: cloneSetDescriptions,
});
