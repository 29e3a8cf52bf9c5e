/** Validates the source of a PersistentVolume: exactly one of these, each with its required fields. */
import type { DeepReadonly } from "@flotilla/base";
import { checkText, dnsLabelProblems, dnsSubdomainProblems, field } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type {
  CSIPersistentVolumeSource,
  HostPathVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
  Volume,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkDriverName } from "../storage/driver-names.ts";
import { checkNoBacksteps } from "../pod/pod-paths.ts";
import { checkRemoteVolume } from "../pod/pod-remote-volumes.ts";

type Read<T> = DeepReadonly<T>;
type Spec = Read<PersistentVolumeSpec>;
type Source = keyof PersistentVolumeSource;

/** In the order in which Kubernetes checks them; the first one found is the volume's source. */
const SOURCES: readonly Source[] = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
];

export const sourcesOf = (spec: Spec): Source[] => SOURCES.filter((source) => spec[source] !== undefined);

/** The source fields of a spec; they are immutable. */
export function sourcePart(spec: Spec): Read<PersistentVolumeSource> {
  return Object.fromEntries(sourcesOf(spec).map((source) => [source, spec[source]]));
}

/** `at` is the path of the spec: that of a volume, or an inline one of a VolumeAttachment. */
export function checkSources(at: string, spec: Spec, volumeName: string): FieldError[] {
  const errors: FieldError[] = [];
  let hasSource = false;
  for (const source of sourcesOf(spec)) {
    // As upstream does, a flex volume is validated besides another source.
    if (hasSource && source !== "flexVolume")
      errors.push(
        field.forbidden(`${at}.${source === "cephfs" ? "cephFS" : source}`, "may not specify more than 1 volume type"),
      );
    else checkSource(errors, at, source, spec, volumeName);
    hasSource = true;
  }
  if (!hasSource) errors.push(field.required(at, "must specify a volume type"));
  return errors;
}

function checkSource(errors: FieldError[], at: string, source: Source, spec: Spec, volumeName: string): void {
  const { hostPath, iscsi, local, csi } = spec;
  if (hostPath && source === "hostPath") checkHostPath(errors, `${at}.hostPath`, hostPath);
  else if (iscsi && source === "iscsi") checkIscsi(errors, `${at}.iscsi`, iscsi, volumeName);
  else if (csi && source === "csi") checkCsi(errors, `${at}.csi`, csi);
  else if (local && source === "local") {
    if (local.path) checkNoBacksteps(errors, `${at}.local.path`, local.path);
    else errors.push(field.required(`${at}.local.path`));
    if (!spec.nodeAffinity) errors.push(field.required(`${at}.nodeAffinity`, "Local volume requires node affinity"));
  } else if (source !== "local") {
    // Pod volumes use the same storage systems; here the secrets have a namespace as well.
    checkRemoteVolume(errors, at, source, spec as unknown as Read<Volume>);
    checkNamespaces(errors, at, source, spec);
  }
}

function checkNamespaces(
  errors: FieldError[],
  at: string,
  source: Source,
  { glusterfs, cinder, azureFile, storageos }: Spec,
): void {
  if (source === "glusterfs" && glusterfs?.endpointsNamespace !== undefined) {
    const path = `${at}.glusterfs.endpointsNamespace`;
    if (glusterfs.endpointsNamespace === "")
      errors.push(field.invalid(path, "", "if the endpointnamespace is set, it must be a valid namespace name"));
    else errors.push(...checkText(path, glusterfs.endpointsNamespace, dnsLabelProblems));
  }
  if (source === "cinder" && cinder?.secretRef && !cinder.secretRef.namespace)
    errors.push(field.required(`${at}.cinder.secretRef.namespace`));
  if (source === "azureFile" && azureFile?.secretNamespace === "")
    errors.push(field.required(`${at}.azureFile.secretNamespace`));
  if (source === "storageos" && storageos?.secretRef && !storageos.secretRef.namespace)
    errors.push(field.required(`${at}.storageos.secretRef.namespace`));
}

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

function checkHostPath(errors: FieldError[], at: string, { path, type }: Read<HostPathVolumeSource>): void {
  if (!path) {
    errors.push(field.required(`${at}.path`));
    return;
  }
  checkNoBacksteps(errors, `${at}.path`, path);
  if (type !== undefined && !HOST_PATH_TYPES.includes(type))
    errors.push(field.notSupported(`${at}.type`, type, HOST_PATH_TYPES));
}

const ISCSI_NAMES: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
};
const MAX_INITIATOR_LENGTH = 64;

function checkIscsi(
  errors: FieldError[],
  at: string,
  iscsi: Sent<ISCSIPersistentVolumeSource>,
  volumeName: string,
): void {
  const { targetPortal = "", iqn, lun = 0, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = iscsi;
  const checkName = (path: string, name: string): void => {
    if (!ISCSI_NAMES[name.slice(0, 3)]?.test(name)) errors.push(field.invalid(path, name, "must be valid format"));
  };
  if (targetPortal === "") errors.push(field.required(`${at}.targetPortal`));
  if (initiatorName !== undefined && `${volumeName}:${targetPortal}`.length > MAX_INITIATOR_LENGTH) {
    errors.push(
      field.invalid(
        `${at}.targetportal`,
        targetPortal,
        "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.",
      ),
    );
  }
  if (!iqn) errors.push(field.required(`${at}.iqn`));
  else checkName(`${at}.iqn`, iqn);
  if (lun < 0 || lun > 255) errors.push(field.invalid(`${at}.lun`, lun, "must be between 0 and 255, inclusive"));
  if ((chapAuthDiscovery || chapAuthSession) && !secretRef) errors.push(field.required(`${at}.secretRef`));
  if (secretRef && !secretRef.name) errors.push(field.required(`${at}.secretRef.name`));
  if (initiatorName !== undefined) checkName(`${at}.initiatorname`, initiatorName);
}

function checkCsi(errors: FieldError[], at: string, csi: Sent<CSIPersistentVolumeSource>): void {
  const { driver = "", volumeHandle } = csi;
  errors.push(...checkDriverName(`${at}.driver`, driver));
  if (!volumeHandle) errors.push(field.required(`${at}.volumeHandle`));
  for (const secret of [
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
  ] as const) {
    const reference = csi[secret];
    if (reference) checkSecret(errors, `${at}.${secret}`, reference);
  }
}

function checkSecret(errors: FieldError[], at: string, { name, namespace }: Sent<SecretReference>): void {
  errors.push(...(name ? checkText(`${at}.name`, name, dnsSubdomainProblems) : [field.required(`${at}.name`)]));
  errors.push(
    ...(namespace ? checkText(`${at}.namespace`, namespace, dnsLabelProblems) : [field.required(`${at}.namespace`)]),
  );
}
