/** OpenKruise's WorkloadSpread: divides the pods of a workload over subsets of the nodes. */
import { AGE } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import type { WorkloadSpread as WorkloadSpreadFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { workloadSpreadDescriptions } from "./workloadspread-descriptions.ts";

export type WorkloadSpread = WorkloadSpreadFacts;

const columns: Column[] = [
  { name: "WorkloadName", type: "string", jsonPath: ".spec.targetRef.name" },
  { name: "WorkloadKind", type: "string", jsonPath: ".spec.targetRef.kind" },
  { name: "Adaptive", type: "boolean", jsonPath: '.spec.scheduleStrategy.type[?(@ == "Adaptive")]' },
  AGE,
];

export const WorkloadSpread = kruiseKind<WorkloadSpread>({
  kind: "WorkloadSpread",
  plural: "workloadspreads",
  shortNames: ["ws"],
  columns,
  descriptions: workloadSpreadDescriptions,
});
