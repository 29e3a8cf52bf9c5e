/** FederatedResourceQuota: limits what a namespace uses on all members together. */
import { customKind } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { FederatedResourceQuota as FederatedResourceQuotaFacts } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { federatedResourceQuotaDescriptions } from "./federatedresourcequota-descriptions.ts";

export type FederatedResourceQuota = FederatedResourceQuotaFacts;

export const FederatedResourceQuota: Kind<FederatedResourceQuota> = customKind<FederatedResourceQuota>({
  group: "policy.karmada.io",
  storageVersion: "v1alpha1",
  kind: "FederatedResourceQuota",
  plural: "federatedresourcequotas",
  categories: ["karmada-io"],
  scope: "Namespaced",
  facts: "federatedresourcequotas.policy.karmada.io",
  columns: [
    { name: "OVERALL", type: "string", jsonPath: ".status.overall" },
    { name: "OVERALL_USED", type: "string", jsonPath: ".status.overallUsed" },
  ],
  subresources: { status: true },
  descriptions: federatedResourceQuotaDescriptions,
});
