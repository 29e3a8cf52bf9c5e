/**
 * Deletion protection: objects with the label `policy.kruise.io/delete-protection` are protected from accidental
 * deletion. `Always` rejects every deletion; `Cascading` rejects one that would also delete dependents in use. Needs
 * the gate ResourcesDeletionProtection.
 */
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import {
  CustomResourceDefinition,
  Deployment,
  Ingress,
  isActive,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
} from "@flotilla/kubernetes";
import { UnitedDeployment } from "../uniteddeployment/uniteddeployment-kind.ts";
import type { AnyAdmission, Kind, KubernetesObject, Review } from "@flotilla/apimachinery";
import { deniedByWebhook } from "@flotilla/apimachinery";
import type { KruiseWebhookOptions } from "../api/kruise-definition.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

const DELETE_PROTECTION_LABEL = "policy.kruise.io/delete-protection";

/** Why a cascading deletion is rejected, or undefined. */
type InUse<T> = (review: Review<T>, gates: FeatureGates) => string | undefined;

interface Protected<T extends KubernetesObject> {
  kind: Kind<T>;
  /** The name of OpenKruise's webhook. */
  webhook: string;
  /** Unset: `Cascading` has no effect for this kind. */
  inUse?: InUse<T>;
}

type Replicated = KubernetesObject & { spec?: { replicas?: number } };
const hasReplicas: InUse<Replicated> = ({ object }) => {
  const replicas = object.spec?.replicas ?? 0;
  return replicas > 0 ? `replicas ${replicas}>0` : undefined;
};

const hasContents: InUse<Namespace> = ({ object, read }) => {
  const { name } = object.metadata;
  const pods = read.list(Pod, name).filter(isActive).length;
  if (pods > 0) return `active pods ${pods}>0`;
  const claims = read
    .list(PersistentVolumeClaim, name)
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.phase === "Bound").length;
  return claims > 0 ? `"Bound" status pvc ${claims}>0` : undefined;
};

const hasInstances: InUse<CustomResourceDefinition> = ({ object: { spec }, read }) => {
  const active = read
    .list({ group: spec.group, plural: spec.names.plural })
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
  return active > 0 ? `active CRs ${active}>0` : undefined;
};

const workload = <T extends Replicated>(kind: Kind<T>, webhook: string): Protected<T> => ({
  kind,
  webhook,
  inUse: hasReplicas,
});

const PROTECTED = [
  workload(Deployment, "vbuiltindeployment.kb.io"),
  workload(ReplicaSet, "vbuiltinreplicaset.kb.io"),
  workload(StatefulSet, "vbuiltinstatefulset.kb.io"),
  workload(CloneSet, "vcloneset.kb.io"),
  workload(AdvancedStatefulSet, "vstatefulset.kb.io"),
  workload(UnitedDeployment, "vuniteddeployment.kb.io"),
  { kind: Namespace, webhook: "vnamespace.kb.io", inUse: hasContents } satisfies Protected<Namespace>,
  {
    kind: CustomResourceDefinition,
    webhook: "vcustomresourcedefinition.kb.io",
    inUse: hasInstances,
  } satisfies Protected<CustomResourceDefinition>,
  { kind: Service, webhook: "vservice.kb.io" } satisfies Protected<Service>,
  { kind: Ingress, webhook: "vingress.kb.io" } satisfies Protected<Ingress>,
] as const;

export function createDeletionProtectionAdmissions(options: KruiseWebhookOptions): AnyAdmission[] {
  return PROTECTED.map((item) => admissionOf(item as Protected<KubernetesObject>, options));
}

function admissionOf(
  { kind, webhook, inUse }: Protected<KubernetesObject>,
  { appliesTo, gates, isInstalled }: KruiseWebhookOptions,
): AnyAdmission {
  return {
    name: "DeletionProtection",
    for: kind,
    on: ["DELETE"],
    validate(review: Review<KubernetesObject>) {
      const { cluster, object, subresource } = review;
      const protection = object.metadata.labels?.[DELETE_PROTECTION_LABEL];
      if (
        protection === undefined ||
        subresource !== undefined ||
        !gates.isOn("ResourcesDeletionProtection") ||
        !appliesTo(cluster) ||
        object.metadata.deletionTimestamp ||
        !isInstalled(review.read)
      )
        return [];
      const why = `forbidden by ResourcesProtectionDeletion for ${DELETE_PROTECTION_LABEL}=${protection}`;
      if (protection === "Always") throw deniedByWebhook(webhook, 403, why);
      if (protection !== "Cascading" || !inUse) return [];
      if (kind.kind === "CustomResourceDefinition" && !gates.isOn("DeletionProtectionForCRDCascadingGate"))
        throw deniedByWebhook(webhook, 403, "feature-gate DeletionProtectionForCRDCascadingGate is not enabled");
      const used = inUse(review, gates);
      if (used !== undefined) throw deniedByWebhook(webhook, 403, `${why} and ${used}`);
      return [];
    },
  };
}
