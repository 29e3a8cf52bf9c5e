/** Validates the source of a PersistentVolume: exactly one of these, each with its required fields. */
import type { DeepReadonly } from "../../base/index.ts";
import { dnsLabelProblems, dnsSubdomainProblems, type FieldError } from "../../machinery/index.ts";
import type {
  CSIPersistentVolumeSource,
  HostPathVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
  Volume,
} from "../facts/core-v1.ts";
import { checkText, forbiddenField, missing, notOneOf, wrong } from "../field-errors.ts";
import type { Sent } from "../sent.ts";
import { checkDriverName } from "../storage/driver-names.ts";
import { checkNoBacksteps } from "./pod-paths.ts";
import { checkRemoteVolume } from "./pod-remote-volumes.ts";

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
        forbiddenField(`${at}.${source === "cephfs" ? "cephFS" : source}`, "may not specify more than 1 volume type"),
      );
    else checkSource(errors, at, source, spec, volumeName);
    hasSource = true;
  }
  if (!hasSource) errors.push(missing(at, "must specify a volume type"));
  return errors;
}

function checkSource(errors: FieldError[], at: string, source: Source, spec: Spec, volumeName: string): void {
  const { hostPath, iscsi, local, csi } = spec;
  if (hostPath && source === "hostPath") checkHostPath(errors, `${at}.hostPath`, hostPath);
  else if (iscsi && source === "iscsi") checkIscsi(errors, `${at}.iscsi`, iscsi, volumeName);
  else if (csi && source === "csi") checkCsi(errors, `${at}.csi`, csi);
  else if (local && source === "local") {
    if (local.path) checkNoBacksteps(errors, `${at}.local.path`, local.path);
    else errors.push(missing(`${at}.local.path`));
    if (!spec.nodeAffinity) errors.push(missing(`${at}.nodeAffinity`, "Local volume requires node affinity"));
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
    const field = `${at}.glusterfs.endpointsNamespace`;
    if (glusterfs.endpointsNamespace === "")
      errors.push(wrong(field, "", "if the endpointnamespace is set, it must be a valid namespace name"));
    else errors.push(...checkText(field, glusterfs.endpointsNamespace, dnsLabelProblems));
  }
  if (source === "cinder" && cinder?.secretRef && !cinder.secretRef.namespace)
    errors.push(missing(`${at}.cinder.secretRef.namespace`));
  if (source === "azureFile" && azureFile?.secretNamespace === "")
    errors.push(missing(`${at}.azureFile.secretNamespace`));
  if (source === "storageos" && storageos?.secretRef && !storageos.secretRef.namespace)
    errors.push(missing(`${at}.storageos.secretRef.namespace`));
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
    errors.push(missing(`${at}.path`));
    return;
  }
  checkNoBacksteps(errors, `${at}.path`, path);
  if (type !== undefined && !HOST_PATH_TYPES.includes(type)) errors.push(notOneOf(`${at}.type`, type, HOST_PATH_TYPES));
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
  const checkName = (field: string, name: string): void => {
    if (!ISCSI_NAMES[name.slice(0, 3)]?.test(name)) errors.push(wrong(field, name, "must be valid format"));
  };
  if (targetPortal === "") errors.push(missing(`${at}.targetPortal`));
  if (initiatorName !== undefined && `${volumeName}:${targetPortal}`.length > MAX_INITIATOR_LENGTH) {
    errors.push(
      wrong(
        `${at}.targetportal`,
        targetPortal,
        "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.",
      ),
    );
  }
  if (!iqn) errors.push(missing(`${at}.iqn`));
  else checkName(`${at}.iqn`, iqn);
  if (lun < 0 || lun > 255) errors.push(wrong(`${at}.lun`, lun, "must be between 0 and 255, inclusive"));
  if ((chapAuthDiscovery || chapAuthSession) && !secretRef) errors.push(missing(`${at}.secretRef`));
  if (secretRef && !secretRef.name) errors.push(missing(`${at}.secretRef.name`));
  if (initiatorName !== undefined) checkName(`${at}.initiatorname`, initiatorName);
}

function checkCsi(errors: FieldError[], at: string, csi: Sent<CSIPersistentVolumeSource>): void {
  const { driver = "", volumeHandle } = csi;
  errors.push(...checkDriverName(`${at}.driver`, driver));
  if (!volumeHandle) errors.push(missing(`${at}.volumeHandle`));
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
  errors.push(...(name ? checkText(`${at}.name`, name, dnsSubdomainProblems) : [missing(`${at}.name`)]));
  errors.push(
    ...(namespace ? checkText(`${at}.namespace`, namespace, dnsLabelProblems) : [missing(`${at}.namespace`)]),
  );
}
