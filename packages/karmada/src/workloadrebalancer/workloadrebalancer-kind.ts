/** WorkloadRebalancer: requests a one-time rescheduling of objects. */
import { customKind } from "@flotilla/apimachinery";
import type { WorkloadRebalancer as WorkloadRebalancerFacts } from "@flotilla/apimachinery/facts/apps-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { workloadRebalancerDescriptions } from "./workloadrebalancer-descriptions.ts";

export type WorkloadRebalancer = WorkloadRebalancerFacts;

export const WorkloadRebalancer: Kind<WorkloadRebalancer> = customKind<WorkloadRebalancer>({
  group: "apps.karmada.io",
  storageVersion: "v1alpha1",
  kind: "WorkloadRebalancer",
  plural: "workloadrebalancers",
  scope: "Cluster",
  facts: "workloadrebalancers.apps.karmada.io",
  columns: [],
  subresources: { status: true },
  descriptions: workloadRebalancerDescriptions,
});
