/** A ManagedClusterSetBinding has the name of its set, and its creator needs permission to bind that set. */
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import { ManagedClusterSetBinding } from "./managedclustersetbinding-kind.ts";
import { CLUSTER_GROUP } from "../ocm-names.ts";
import { ocmAdmission, type Rejections } from "../webhook/webhook.ts";

const VALIDATOR = "managedclustersetbindingvalidators.admission.cluster.open-cluster-management.io";
/** The group is an upstream mistake that is visible in the message. */
const BIND = { group: "apps", resource: "managedclustersets/bind" };

export const managedClusterSetBindingRules: AnyAdmission[] = [
  ocmAdmission(ManagedClusterSetBinding, { validator: VALIDATOR, check }),
];

function check({ object, oldObject, allows, user }: Review<ManagedClusterSetBinding>, refuse: Rejections): void {
  const { name } = object.metadata;
  if (object.spec?.clusterSet !== name)
    throw refuse.badRequest("The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet");
  if (
    oldObject ||
    allows({ verb: "create", group: CLUSTER_GROUP, resource: "managedclustersets", subresource: "bind", name })
  )
    return;
  throw refuse.forbidden(
    BIND,
    name,
    `user ${JSON.stringify(user.name)} is not allowed to bind cluster set ${JSON.stringify(name)}`,
  );
}
