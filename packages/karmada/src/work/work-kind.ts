/** Work: manifests for one member, in that member's execution namespace, and their status there. */
import { AGE, customKind } from "@flotilla/apimachinery";
import type { Work as WorkFacts } from "@flotilla/apimachinery/facts/work-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { workDescriptions } from "./work-descriptions.ts";

export type Work = WorkFacts;

export const Work: Kind<Work> = customKind<Work>({
  group: "work.karmada.io",
  storageVersion: "v1alpha1",
  kind: "Work",
  plural: "works",
  shortNames: ["wk"],
  categories: ["karmada-io"],
  scope: "Namespaced",
  facts: "works.work.karmada.io",
  columns: [
    { name: "WORKLOAD-KIND", type: "string", jsonPath: ".spec.workload.manifests[*].kind" },
    { name: "APPLIED", type: "string", jsonPath: '.status.conditions[?(@.type=="Applied")].status' },
    AGE,
  ],
  subresources: { status: true },
  traits: { untrackedByControllers: "root" },
  descriptions: workDescriptions,
});
