/** The permanent id of a ClusterResourceBinding, as set by Karmada's webhook. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { BINDING_TABLE } from "../binding/binding-kind.ts";
import { withPermanentId } from "../webhook/permanent-id.ts";
import { karmadaAdmission } from "../webhook/webhook.ts";
import { ClusterResourceBinding } from "./clusterresourcebinding-kind.ts";
import { CLUSTER_BINDING_ID } from "../names/karmada-names.ts";

export const clusterResourceBindingRules: readonly AnyAdmission[] = [
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
