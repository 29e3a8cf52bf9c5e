/**
 * Finds the objects that a pod template references by name and requires to start: ConfigMaps, Secrets, claims and its
 * service account.
 */
import type { DeepReadonly } from "@flotilla/base";
import type { Dependency } from "./kind-interpreter.ts";

interface Named {
  name?: string;
}
export interface ReferringContainer {
  env?: { valueFrom?: { configMapKeyRef?: Named; secretKeyRef?: Named } }[];
  envFrom?: { configMapRef?: Named; secretRef?: Named }[];
}
interface Volume {
  configMap?: Named;
  secret?: { secretName?: string };
  persistentVolumeClaim?: { claimName?: string };
  projected?: { sources?: { configMap?: Named; secret?: Named }[] };
  azureFile?: { secretName?: string };
  cephfs?: { secretRef?: Named };
  cinder?: { secretRef?: Named };
  flexVolume?: { secretRef?: Named };
  rbd?: { secretRef?: Named };
  scaleIO?: { secretRef?: Named };
  iscsi?: { secretRef?: Named };
  storageos?: { secretRef?: Named };
  csi?: { nodePublishSecretRef?: Named };
}
export interface PodWithReferences {
  spec?: {
    containers?: ReferringContainer[];
    initContainers?: ReferringContainer[];
    volumes?: Volume[];
    imagePullSecrets?: Named[];
    serviceAccountName?: string;
  };
}

/** Sorted by kind and name, without duplicates. */
export function podDependencies(
  template: DeepReadonly<PodWithReferences> | undefined,
  namespace: string | undefined,
): Dependency[] {
  const spec = template?.spec ?? {};
  const found = new Set<string>();
  const note = (kind: string, name: string | undefined): void => {
    if (name) found.add(`${kind}/${name}`);
  };
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    for (const { valueFrom } of container.env ?? []) {
      note("ConfigMap", valueFrom?.configMapKeyRef?.name);
      note("Secret", valueFrom?.secretKeyRef?.name);
    }
    for (const { configMapRef, secretRef } of container.envFrom ?? []) {
      note("ConfigMap", configMapRef?.name);
      note("Secret", secretRef?.name);
    }
  }
  for (const volume of spec.volumes ?? []) noteVolume(volume, note);
  for (const { name } of spec.imagePullSecrets ?? []) note("Secret", name);
  // Every namespace has a service account named default, so it is not propagated.
  if (spec.serviceAccountName !== "default") note("ServiceAccount", spec.serviceAccountName);
  return [...found].sort().map((entry) => {
    const slash = entry.indexOf("/");
    return {
      apiVersion: "v1",
      kind: entry.slice(0, slash),
      namespace: namespace || undefined,
      name: entry.slice(slash + 1),
    };
  });
}

function noteVolume(volume: DeepReadonly<Volume>, note: (kind: string, name: string | undefined) => void): void {
  note("ConfigMap", volume.configMap?.name);
  note("Secret", volume.secret?.secretName);
  note("PersistentVolumeClaim", volume.persistentVolumeClaim?.claimName);
  for (const { configMap, secret } of volume.projected?.sources ?? []) {
    note("ConfigMap", configMap?.name);
    note("Secret", secret?.name);
  }
  note("Secret", volume.azureFile?.secretName);
  for (const { secretRef } of [
    volume.cephfs,
    volume.cinder,
    volume.flexVolume,
    volume.rbd,
    volume.scaleIO,
    volume.iscsi,
    volume.storageos,
  ].filter((source) => source !== undefined)) {
    note("Secret", secretRef?.name);
  }
  note("Secret", volume.csi?.nodePublishSecretRef?.name);
}
