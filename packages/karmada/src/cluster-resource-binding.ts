/** ClusterResourceBinding: the ResourceBinding of a cluster-scoped object. */
import { CLUSTER_BINDING_ID } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { ClusterResourceBinding as ClusterResourceBindingFacts } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { Kind } from "@flotilla/apimachinery";
import { BINDING_TABLE, bindingKind } from "./binding-kind.ts";
import { withPermanentId } from "./permanent-id.ts";
import { karmadaAdmission } from "./webhook.ts";

export type ClusterResourceBinding = ClusterResourceBindingFacts;

export const ClusterResourceBinding: Kind<ClusterResourceBinding> = bindingKind<ClusterResourceBinding>({
  kind: "ClusterResourceBinding",
  plural: "clusterresourcebindings",
  shortNames: ["crb"],
  scope: "Cluster",
});

export const admissions: AnyAdmission[] = [
  karmadaAdmission(ClusterResourceBinding, {
    name: "clusterresourcebinding.karmada.io",
    completes: {
      table: BINDING_TABLE,
      on: "CREATE",
      skipsOwnWrites: true,
      complete: (_, review) => withPermanentId(review, CLUSTER_BINDING_ID, "binding"),
    },
  }),
];
