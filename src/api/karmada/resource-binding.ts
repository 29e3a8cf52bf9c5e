/**
 * ResourceBinding: an object that a policy matched, the members chosen for it, and what they report.
 *
 * Stored and served as v1alpha2. Karmada also converts to v1alpha1, which drops most fields; that version is not served.
 */
import type { Admission, AnyAdmission } from "../admission.ts";
import { AGE, customKind } from "../define.ts";
import type { ResourceBinding as ResourceBindingFacts } from "../facts/work-karmada-v1alpha2.ts";
import type { Kind } from "../kind.ts";
import { withPermanentId } from "./permanent-id.ts";

export type ResourceBinding = ResourceBindingFacts;

export const ResourceBinding: Kind<ResourceBinding> = customKind<ResourceBinding>({
  group: "work.karmada.io",
  storageVersion: "v1alpha2",
  kind: "ResourceBinding",
  plural: "resourcebindings",
  shortNames: ["rb"],
  categories: ["karmada-io"],
  scope: "Namespaced",
  facts: "resourcebindings.work.karmada.io",
  columns: [
    { name: "SCHEDULED", type: "string", jsonPath: '.status.conditions[?(@.type=="Scheduled")].status' },
    { name: "FULLYAPPLIED", type: "string", jsonPath: '.status.conditions[?(@.type=="FullyApplied")].status' },
    AGE,
  ],
  subresources: { status: true },
});

/** The label by which Works and manifests find their binding. */
const BINDING_ID = "resourcebinding.karmada.io/permanent-id";

export const admissions: AnyAdmission[] = [
  { for: ResourceBinding, on: ["CREATE", "UPDATE"], mutate: (review) => withPermanentId(review, BINDING_ID) } satisfies Admission<ResourceBinding>,
];
