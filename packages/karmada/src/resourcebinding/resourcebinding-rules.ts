/** The permanent id and the dependencies of a ResourceBinding, as in Karmada's webhooks. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { BINDING_TABLE, checkDependencies } from "../binding/binding-kind.ts";
import { withPermanentId } from "../webhook/permanent-id.ts";
import { karmadaAdmission } from "../webhook/webhook.ts";
import { ResourceBinding } from "./resourcebinding-kind.ts";
import { BINDING_ID } from "../names/karmada-names.ts";

export const resourceBindingRules: readonly AnyAdmission[] = [
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
