/**
 * Validates volumes of storage systems that Kubernetes once had in-tree drivers for. Most drivers were removed; their
 * fields are still validated.
 */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import type { DeepReadonly } from "@flotilla/base";
import { checkText, dnsLabelProblems, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { Volume, VolumeSource } from "@flotilla/apimachinery/facts/core-v1.ts";

type Read<T> = DeepReadonly<T>;
type Source = keyof VolumeSource;

/** Required fields of a source that have no other rules. */
const REQUIRED: Partial<Record<Source, readonly string[]>> = {
  gcePersistentDisk: ["pdName"],
  awsElasticBlockStore: ["volumeID"],
  nfs: ["server", "path"],
  glusterfs: ["endpoints", "path"],
  rbd: ["monitors", "image"],
  cinder: ["volumeID"],
  cephfs: ["monitors"],
  flexVolume: ["driver"],
  azureFile: ["secretName", "shareName"],
  vsphereVolume: ["volumePath"],
  photonPersistentDisk: ["pdID"],
  portworxVolume: ["volumeID"],
  azureDisk: ["diskName", "diskURI"],
  scaleIO: ["gateway", "system", "volumeName"],
};
/** Upstream's name for the source in errors, where it differs from the field name. */
const SHOWN_AS: Partial<Record<Source, string>> = { gcePersistentDisk: "persistentDisk" };

export function checkRemoteVolume(errors: FieldError[], at: string, source: Source, volume: Read<Volume>): void {
  const path = `${at}.${SHOWN_AS[source] ?? source}`;
  const given = volume[source] as Readonly<Record<string, unknown>>;
  for (const name of REQUIRED[source] ?? []) {
    const value = given[name];
    if (value === undefined || value === "" || (Array.isArray(value) && value.length === 0))
      errors.push(field.required(`${path}.${name}`));
  }
  DETAILS[source]?.(errors, path, volume);
}

type Detail = (errors: FieldError[], at: string, volume: Read<Volume>) => void;

const DETAILS: Partial<Record<Source, Detail>> = {
  gcePersistentDisk: (errors, at, { gcePersistentDisk }) => checkPartition(errors, at, gcePersistentDisk?.partition),
  awsElasticBlockStore: (errors, at, { awsElasticBlockStore }) =>
    checkPartition(errors, at, awsElasticBlockStore?.partition),
  nfs(errors, at, { nfs }) {
    const path = nfs?.path ?? "";
    if (!path.startsWith("/")) errors.push(field.invalid(`${at}.path`, path, "must be an absolute path"));
  },
  cinder(errors, at, { cinder }) {
    if (cinder?.secretRef && !cinder.secretRef.name) errors.push(field.required(`${at}.secretRef.name`));
  },
  iscsi: checkIscsi,
  flocker(errors, at, { flocker: { datasetName, datasetUUID } = {} }) {
    if (!datasetName && !datasetUUID) errors.push(field.required(at, "one of datasetName and datasetUUID is required"));
    if (datasetName && datasetUUID)
      errors.push(field.invalid(at, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
    if (datasetName?.includes("/"))
      errors.push(field.invalid(`${at}.datasetName`, datasetName, "must not contain '/'"));
  },
  quobyte: checkQuobyte,
  fc: checkFibreChannel,
  flexVolume(errors, at, { flexVolume }) {
    for (const key of Object.keys(flexVolume?.options ?? {})) {
      const domain = `.${(key.split("/", 1)[0] ?? key).toLowerCase()}`;
      if (domain.endsWith(".kubernetes.io") || domain.endsWith(".k8s.io"))
        errors.push(field.invalid(`${at}.options[${key}]`, key, "kubernetes.io and k8s.io namespaces are reserved"));
    }
  },
  azureDisk: checkAzureDisk,
  storageos(errors, at, { storageos: { volumeName, volumeNamespace, secretRef } = {} }) {
    if (!volumeName) errors.push(field.required(`${at}.volumeName`));
    else errors.push(...checkText(`${at}.volumeName`, volumeName, dnsLabelProblems));
    if (volumeNamespace) errors.push(...checkText(`${at}.volumeNamespace`, volumeNamespace, dnsLabelProblems));
    if (secretRef && !secretRef.name) errors.push(field.required(`${at}.secretRef.name`));
  },
};

function checkPartition(errors: FieldError[], at: string, partition = 0): void {
  if (partition < 0 || partition > 255)
    errors.push(field.invalid(`${at}.partition`, partition, "must be between 1 and 255, inclusive"));
}

const LUN_RANGE = "must be between 0 and 255, inclusive";
const isLun = (lun: number): boolean => lun >= 0 && lun <= 255;

/** The prefix of a target or initiator name defines its format. */
const ISCSI_NAMES: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
};

function checkIscsiName(errors: FieldError[], at: string, name: string): void {
  const pattern = ISCSI_NAMES[name.slice(0, 3)];
  if (!pattern) errors.push(field.invalid(at, name, "must be valid format starting with iqn, eui, or naa"));
  else if (!pattern.test(name)) errors.push(field.invalid(at, name, "must be valid format"));
}

function checkIscsi(errors: FieldError[], at: string, { iscsi }: Read<Volume>): void {
  if (!iscsi) return;
  const { targetPortal, iqn, lun = 0, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = iscsi;
  if (!targetPortal) errors.push(field.required(`${at}.targetPortal`));
  if (!iqn) errors.push(field.required(`${at}.iqn`));
  else checkIscsiName(errors, `${at}.iqn`, iqn);
  if (!isLun(lun)) errors.push(field.invalid(`${at}.lun`, lun, LUN_RANGE));
  if ((chapAuthDiscovery || chapAuthSession) && !secretRef) errors.push(field.required(`${at}.secretRef`));
  if (initiatorName !== undefined) checkIscsiName(errors, `${at}.initiatorname`, initiatorName);
}

const REGISTRY_RULE = "must be a host:port pair or multiple pairs separated by commas";

function checkQuobyte(
  errors: FieldError[],
  at: string,
  { quobyte: { registry = "", tenant = "", volume } = { registry: "", volume: "" } }: Read<Volume>,
): void {
  if (registry === "") errors.push(field.required(`${at}.registry`, REGISTRY_RULE));
  else if (tenant.length >= 65)
    errors.push(field.required(`${at}.tenant`, "must be a UUID and may not exceed a length of 64 characters"));
  else
    for (const pair of registry.split(","))
      if (!/^(?:\[[^\]]*\]|[^:[\]]*):[^:]*$/.test(pair))
        errors.push(field.invalid(`${at}.registry`, registry, REGISTRY_RULE));
  if (!volume) errors.push(field.required(`${at}.volume`));
}

function checkFibreChannel(
  errors: FieldError[],
  at: string,
  { fc: { targetWWNs = [], wwids = [], lun } = {} }: Read<Volume>,
): void {
  if (targetWWNs.length === 0 && wwids.length === 0)
    errors.push(field.required(`${at}.targetWWNs`, "must specify either targetWWNs or wwids, but not both"));
  if (targetWWNs.length > 0 && wwids.length > 0)
    errors.push(
      field.invalid(`${at}.targetWWNs`, targetWWNs, "targetWWNs and wwids can not be specified simultaneously"),
    );
  if (targetWWNs.length === 0) return;
  if (lun === undefined) errors.push(field.required(`${at}.lun`, "lun is required if targetWWNs is specified"));
  else if (!isLun(lun)) errors.push(field.invalid(`${at}.lun`, lun, LUN_RANGE));
}

const CACHING_MODES = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS = ["Dedicated", "Managed", "Shared"];

function checkAzureDisk(errors: FieldError[], at: string, { azureDisk }: Read<Volume>): void {
  const { diskURI = "", cachingMode, kind } = azureDisk ?? {};
  if (cachingMode !== undefined && !CACHING_MODES.includes(cachingMode))
    errors.push(field.notSupported(`${at}.cachingMode`, cachingMode, CACHING_MODES));
  if (kind === undefined) return;
  if (!DISK_KINDS.includes(kind)) errors.push(field.notSupported(`${at}.kind`, kind, DISK_KINDS));
  if (kind === "Managed" && !diskURI.startsWith("/subscriptions/")) {
    errors.push(
      field.notSupported(`${at}.diskURI`, diskURI, [
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
      ]),
    );
  }
  if (kind !== "Managed" && !diskURI.startsWith("https://")) {
    errors.push(
      field.notSupported(`${at}.diskURI`, diskURI, [
        "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
      ]),
    );
  }
}
