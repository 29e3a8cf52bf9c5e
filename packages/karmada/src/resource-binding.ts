/** ResourceBinding: an object that a policy matched, the members it is scheduled to, and the status they report. */
import { BINDING_ID } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { ResourceBinding as ResourceBindingFacts } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { Kind } from "@flotilla/apimachinery";
import { BINDING_TABLE, bindingKind, checkDependencies } from "./binding-kind.ts";
import { withPermanentId } from "./permanent-id.ts";
import { karmadaAdmission } from "./webhook.ts";

export type ResourceBinding = ResourceBindingFacts;

export const ResourceBinding: Kind<ResourceBinding> = bindingKind<ResourceBinding>({
  kind: "ResourceBinding",
  plural: "resourcebindings",
  shortNames: ["rb"],
  scope: "Namespaced",
});

export const admissions: AnyAdmission[] = [
  karmadaAdmission(ResourceBinding, {
    name: "resourcebinding.karmada.io",
    completes: {
      table: BINDING_TABLE,
      on: "CREATE",
      skipsOwnWrites: true,
      complete: (_, review) => withPermanentId(review, BINDING_ID, "binding"),
    },
    check: checkDependencies,
  }),
];
