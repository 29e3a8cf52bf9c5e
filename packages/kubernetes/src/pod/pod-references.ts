/**
 * The objects of the API that a kubelet reads to run a pod. The Node authorizer allows a node to read those of its pods,
 * and nodes may not create pods that have any.
 */
import type { DeepReadonly } from "@flotilla/base";
import type {
  Container,
  EphemeralContainer,
  PersistentVolume,
  Pod,
  PodSpec,
  Volume,
} from "@flotilla/apimachinery/facts/core-v1.ts";

/** A resource of the pod's namespace and a name in it. */
export interface PodReference {
  readonly resource: "configmaps" | "secrets" | "serviceaccounts" | "persistentvolumeclaims" | "resourceclaims";
  readonly name: string;
}

type Note = (resource: PodReference["resource"], name: string | undefined) => void;
type ReadPod = DeepReadonly<Pod>;

/** With repetitions. Pure. */
export function podReferences(pod: ReadPod): PodReference[] {
  const references: PodReference[] = [];
  const note: Note = (resource, name) => {
    if (name) references.push({ resource, name });
  };
  const { spec, status } = pod;
  note("serviceaccounts", spec.serviceAccountName);
  for (const { name } of spec.imagePullSecrets ?? []) note("secrets", name);
  for (const container of containersOf(spec)) noteContainer(container, note);
  for (const volume of spec.volumes ?? []) noteVolume(volume, pod, note);
  // A claim that is made of a template has the name that the status reports.
  for (const { resourceClaimName } of spec.resourceClaims ?? []) note("resourceclaims", resourceClaimName);
  for (const { resourceClaimName } of status?.resourceClaimStatuses ?? []) note("resourceclaims", resourceClaimName);
  note("resourceclaims", status?.extendedResourceClaimStatus?.resourceClaimName);
  return references;
}

function containersOf(spec: DeepReadonly<PodSpec>): DeepReadonly<Container | EphemeralContainer>[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

function noteContainer({ env, envFrom }: DeepReadonly<Container | EphemeralContainer>, note: Note): void {
  for (const { valueFrom } of env ?? []) {
    note("configmaps", valueFrom?.configMapKeyRef?.name);
    note("secrets", valueFrom?.secretKeyRef?.name);
  }
  for (const { configMapRef, secretRef } of envFrom ?? []) {
    note("configmaps", configMapRef?.name);
    note("secrets", secretRef?.name);
  }
}

function noteVolume(volume: DeepReadonly<Volume>, { metadata }: ReadPod, note: Note): void {
  note("configmaps", volume.configMap?.name);
  note("secrets", volume.secret?.secretName);
  note("secrets", volume.azureFile?.secretName);
  for (const source of [
    volume.cephfs,
    volume.cinder,
    volume.flexVolume,
    volume.iscsi,
    volume.rbd,
    volume.scaleIO,
    volume.storageos,
  ])
    note("secrets", source?.secretRef?.name);
  note("secrets", volume.csi?.nodePublishSecretRef?.name);
  for (const { configMap, secret } of volume.projected?.sources ?? []) {
    note("configmaps", configMap?.name);
    note("secrets", secret?.name);
  }
  note("persistentvolumeclaims", volume.persistentVolumeClaim?.claimName);
  if (volume.ephemeral) note("persistentvolumeclaims", `${metadata.name}-${volume.name}`);
}

/** The first kind of API object that a pod needs, in kube-apiserver's words; undefined if it needs none. Pure. */
export function usedApiObjects(pod: ReadPod): string | undefined {
  const { spec } = pod;
  if (spec.serviceAccountName) return "serviceaccounts";
  const references = podReferences(pod);
  for (const resource of ["secrets", "configmaps"] as const)
    if (references.some((reference) => reference.resource === resource)) return resource;
  if ((spec.resourceClaims?.length ?? 0) > 0) return "resourceclaims";
  for (const volume of spec.volumes ?? []) {
    const used = usedByVolume(volume);
    if (used !== undefined) return used;
  }
  return undefined;
}

function usedByVolume(volume: DeepReadonly<Volume>): string | undefined {
  if (volume.configMap) return "configmaps (via configmap volumes)";
  if (volume.secret) return "secrets (via secret volumes)";
  if (volume.csi) return "csidrivers (via CSI volumes)";
  if (volume.glusterfs) return "endpoints (via glusterFS volumes)";
  if (volume.persistentVolumeClaim) return "persistentvolumeclaims";
  if (volume.ephemeral) return "persistentvolumeclaims (via ephemeral volumes)";
  if (volume.azureFile) return "secrets (via azureFile volumes)";
  for (const source of volume.projected?.sources ?? []) {
    if (source.configMap) return "configmaps (via projected volumes)";
    if (source.secret) return "secrets (via projected volumes)";
    if (source.serviceAccountToken) return "serviceaccounts (via projected volumes)";
    if (source.clusterTrustBundle) return "clustertrustbundles";
    if (source.podCertificate) return "podcertificates";
  }
  return undefined;
}

/** The Secrets that a kubelet reads to mount a volume. Those of the drivers' controllers are not among them. Pure. */
export function volumeSecrets({ spec }: DeepReadonly<PersistentVolume>): { namespace: string; name: string }[] {
  if (!spec) return [];
  const home = spec.claimRef?.namespace;
  const found: { namespace: string; name: string }[] = [];
  const note = (name: string | undefined, namespace = home): void => {
    if (name && namespace) found.push({ namespace, name });
  };
  note(spec.azureFile?.secretName, spec.azureFile?.secretNamespace || home);
  for (const secret of [
    spec.cephfs?.secretRef,
    spec.cinder?.secretRef,
    spec.flexVolume?.secretRef,
    spec.iscsi?.secretRef,
    spec.rbd?.secretRef,
    spec.scaleIO?.secretRef,
    spec.storageos?.secretRef,
    spec.csi?.nodePublishSecretRef,
    spec.csi?.nodeStageSecretRef,
    spec.csi?.nodeExpandSecretRef,
  ])
    note(secret?.name, secret?.namespace || home);
  return found;
}
