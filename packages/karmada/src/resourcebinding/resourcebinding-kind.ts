/** ResourceBinding: an object that a policy matched, the members it is scheduled to, and the status they report. */
import type { ResourceBinding as ResourceBindingFacts } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { Kind } from "@flotilla/apimachinery";
import { bindingKind } from "../binding/binding-kind.ts";
import { bindingDescriptions } from "../binding/binding-descriptions.ts";

export type ResourceBinding = ResourceBindingFacts;

export const ResourceBinding: Kind<ResourceBinding> = bindingKind<ResourceBinding>({
  kind: "ResourceBinding",
  plural: "resourcebindings",
  shortNames: ["rb"],
  scope: "Namespaced",
  descriptions: {
    ...bindingDescriptions,
    "": "A template of a namespace, the members that have it, and the status of each. The hub creates it.",
  },
});
