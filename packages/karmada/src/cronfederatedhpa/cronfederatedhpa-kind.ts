/** CronFederatedHPA: scales a template, or sets the limits of a FederatedHPA, at given times. */
import { customKind } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { CronFederatedHPA as CronFederatedHpaFacts } from "@flotilla/apimachinery/facts/autoscaling-karmada-v1alpha1.ts";
import { cronFederatedHpaDescriptions } from "./cronfederatedhpa-descriptions.ts";

export type CronFederatedHpa = CronFederatedHpaFacts;

export const CronFederatedHpa: Kind<CronFederatedHpa> = customKind<CronFederatedHpa>({
  group: "autoscaling.karmada.io",
  storageVersion: "v1alpha1",
  kind: "CronFederatedHPA",
  plural: "cronfederatedhpas",
  shortNames: ["cronfhpa"],
  categories: ["karmada-io"],
  scope: "Namespaced",
  facts: "cronfederatedhpas.autoscaling.karmada.io",
  columns: [
    { name: "REFERENCE-KIND", type: "string", jsonPath: ".spec.scaleTargetRef.kind" },
    { name: "REFERENCE-NAME", type: "string", jsonPath: ".spec.scaleTargetRef.name" },
    { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  subresources: { status: true },
  descriptions: cronFederatedHpaDescriptions,
});
