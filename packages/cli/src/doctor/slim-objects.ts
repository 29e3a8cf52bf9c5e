/**
 * Reduces large objects to what checks need: Works and ManifestWorks without their manifests, CRDs without their
 * schemas. Pure.
 */
import {
  APIService,
  CertificateSigningRequest,
  CustomResourceDefinition,
  Lease,
  Namespace,
} from "@flotilla/kubernetes";
import {
  Cluster,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  CronFederatedHpa,
  FederatedHpa,
  FederatedResourceQuota,
  PropagationPolicy,
  ResourceBinding,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
  Work,
} from "@flotilla/karmada";
import { ManagedCluster, ManifestWork, ManifestWorkReplicaSet, OcmPlacement } from "@flotilla/ocm";
import { FleetDisruptionBudget, RolloutStrategy } from "@flotilla/flotilla";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { isObject, defined } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";

/** Kinds of which checks read more than metadata. */
const KEPT_KINDS = [
  Cluster,
  ManagedCluster,
  Lease,
  Namespace,
  CertificateSigningRequest,
  CustomResourceDefinition,
  APIService,
  PropagationPolicy,
  ClusterPropagationPolicy,
  ResourceBinding,
  ClusterResourceBinding,
  Work,
  ManifestWork,
  ManifestWorkReplicaSet,
  OcmPlacement,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
  RolloutStrategy,
  FleetDisruptionBudget,
  FederatedHpa,
  CronFederatedHpa,
  FederatedResourceQuota,
] as readonly Kind[];
const KEPT = new Set(KEPT_KINDS.map(({ group, plural }) => `${group}/${plural}`));
const BULKY = new Set([Work.plural, ManifestWork.plural, ManifestWorkReplicaSet.plural]);

export function slimObject<T extends KubernetesObject>(kind: Kind<T>, object: DeepReadonly<T>): DeepReadonly<T> {
  const { managedFields, ...metadata } = (object as DeepReadonly<KubernetesObject>).metadata;
  // The hub's record of a renewal shows whether the clock of an agent is right.
  if (kind.plural === Lease.plural) return { ...object, metadata: { ...metadata, managedFields } };
  // Templates may be of any kind and numerous; only whether they are being deleted matters.
  if (!KEPT.has(`${kind.group}/${kind.plural}`))
    return { apiVersion: object.apiVersion, kind: object.kind, metadata } as unknown as DeepReadonly<T>;
  const { spec } = object as { spec?: unknown };
  return { ...object, metadata, ...defined({ spec: isObject(spec) ? slimSpec(kind.plural, spec) : undefined }) };
}

function slimSpec(plural: string, spec: JsonObject): JsonObject {
  if (BULKY.has(plural)) return { workload: { manifests: manifestsIn(spec) } };
  const { group = "", names = {}, scope = "" } = spec;
  return plural === CustomResourceDefinition.plural ? { group, names, scope } : spec;
}

/** The first few manifests, names only: what checks report. */
function manifestsIn(spec: JsonObject): Json[] {
  const { workload } = spec;
  const manifests = isObject(workload) && Array.isArray(workload["manifests"]) ? workload["manifests"] : [];
  return manifests
    .slice(0, 3)
    .filter(isObject)
    .map(({ apiVersion = "", kind = "", metadata }) => ({
      apiVersion,
      kind,
      metadata: isObject(metadata)
        ? {
            name: metadata["name"] ?? "",
            ...defined({ namespace: metadata["namespace"] }),
          }
        : {},
    }));
}
