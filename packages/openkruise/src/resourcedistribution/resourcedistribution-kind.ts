/** OpenKruise's ResourceDistribution: copies a Secret or ConfigMap to namespaces. */
import type { Column } from "@flotilla/apimachinery";
import type { ResourceDistribution as ResourceDistributionFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import { count } from "../api/columns.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { resourceDistributionDescriptions } from "./resourcedistribution-descriptions.ts";

export type ResourceDistribution = ResourceDistributionFacts;

const columns: Column[] = [
  count("TOTAL", ".status.desired"),
  count("SUCCEED", ".status.succeeded"),
  count("FAILED", ".status.failed"),
];

export const ResourceDistribution = kruiseKind<ResourceDistribution>({
  kind: "ResourceDistribution",
  plural: "resourcedistributions",
  shortNames: ["distributor"],
  scope: "Cluster",
  columns,
  descriptions: resourceDistributionDescriptions,
});
