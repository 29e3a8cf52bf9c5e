/** ClusterResourceBinding: the ResourceBinding of a cluster-scoped object. */
import type { ClusterResourceBinding as ClusterResourceBindingFacts } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { Kind } from "@flotilla/apimachinery";
import { bindingKind } from "../binding/binding-kind.ts";
import { bindingDescriptions } from "../binding/binding-descriptions.ts";

export type ClusterResourceBinding = ClusterResourceBindingFacts;

export const ClusterResourceBinding: Kind<ClusterResourceBinding> = bindingKind<ClusterResourceBinding>({
  kind: "ClusterResourceBinding",
  plural: "clusterresourcebindings",
  shortNames: ["crb"],
  scope: "Cluster",
  descriptions: {
    ...bindingDescriptions,
    "": "A cluster-scoped template, the members that have it, and the status of each. The hub creates it.",
  },
});
