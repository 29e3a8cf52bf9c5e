/** FederatedHPA: scales a template in proportion to what its pods use on all members together. */
import { customKind } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { FederatedHPA as FederatedHpaFacts } from "@flotilla/apimachinery/facts/autoscaling-karmada-v1alpha1.ts";
import { federatedHpaDescriptions } from "./federatedhpa-descriptions.ts";

export type FederatedHpa = FederatedHpaFacts;

export const FederatedHpa: Kind<FederatedHpa> = customKind<FederatedHpa>({
  group: "autoscaling.karmada.io",
  storageVersion: "v1alpha1",
  kind: "FederatedHPA",
  plural: "federatedhpas",
  shortNames: ["fhpa"],
  categories: ["karmada-io"],
  scope: "Namespaced",
  facts: "federatedhpas.autoscaling.karmada.io",
  columns: [
    { name: "REFERENCE-KIND", type: "string", jsonPath: ".spec.scaleTargetRef.kind" },
    { name: "REFERENCE-NAME", type: "string", jsonPath: ".spec.scaleTargetRef.name" },
    { name: "MINPODS", type: "integer", jsonPath: ".spec.minReplicas" },
    { name: "MAXPODS", type: "integer", jsonPath: ".spec.maxReplicas" },
    { name: "REPLICAS", type: "integer", jsonPath: ".status.currentReplicas" },
    { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  subresources: { status: true },
  descriptions: federatedHpaDescriptions,
});
