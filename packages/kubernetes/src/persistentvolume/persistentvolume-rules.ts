/** Defaults and validation of PersistentVolume. */
import {
  builtInAdmission,
  change,
  changedFields,
  checkText,
  checkUnchanged,
  dnsSubdomainProblems,
  field,
  fill,
  quantityValue,
  tryParseQuantity,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import { posix } from "node:path";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type { PersistentVolumeSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { STORAGE_CLASS_ANNOTATION } from "../storageclass/storageclass-rules.ts";
import { deprecatedNodeLabel } from "../node/node-labels.ts";
import { checkNodeSelector } from "../node/node-selector.ts";
import { checkAccessModes, checkVolumeMode } from "../storage/access-modes.ts";
import { checkSources, sourcePart, sourcesOf } from "./persistent-volume-sources.ts";
import { PersistentVolume } from "./persistentvolume-kind.ts";

type Read<T> = DeepReadonly<T>;
type Spec = Read<PersistentVolumeSpec>;

const RECLAIM_POLICIES = ["Delete", "Recycle", "Retain"];
const MOUNT_OPTIONS_ANNOTATION = "volume.beta.kubernetes.io/mount-options";

function completeVolume(volume: Read<PersistentVolume>): Read<PersistentVolume> {
  const completed = change(volume, "spec", (spec) =>
    completeSource(fill(spec, { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" })),
  );
  return completeStatus(completed);
}

export const completeSource = (spec: Spec): Spec =>
  change(spec, "hostPath", (hostPath) => fill(hostPath, { type: "" }));

const completeStatus = (volume: Read<PersistentVolume>): Read<PersistentVolume> =>
  change(volume, "status", (status) => fill(status, { phase: "Pending" }));

function checkSpec(spec: Spec, name: string): FieldError[] {
  const {
    accessModes = [],
    capacity,
    persistentVolumeReclaimPolicy: policy,
    nodeAffinity,
    hostPath,
    storageClassName,
    volumeMode,
    volumeAttributesClassName: attributesClass,
  } = spec;
  const errors: FieldError[] = accessModes.length === 0 ? [field.required("spec.accessModes")] : [];
  errors.push(...checkAccessModes("spec.accessModes", accessModes), ...checkCapacity(capacity));
  if (policy && !RECLAIM_POLICIES.includes(policy))
    errors.push(field.notSupported("spec.persistentVolumeReclaimPolicy", policy, RECLAIM_POLICIES));
  if (nodeAffinity)
    errors.push(
      ...(nodeAffinity.required
        ? checkNodeSelector("spec.nodeAffinity.required", nodeAffinity.required)
        : [field.required("spec.nodeAffinity.required", "must specify required node constraints")]),
    );
  errors.push(...checkSources("spec", spec, name));
  if (hostPath?.path && posix.normalize(hostPath.path) === "/" && policy === "Recycle")
    errors.push(
      field.forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'"),
    );
  if (storageClassName) errors.push(...checkText("spec.storageClassName", storageClassName, dnsSubdomainProblems));
  errors.push(...checkVolumeMode("spec.volumeMode", volumeMode));
  if (attributesClass !== undefined) {
    const at = "spec.volumeAttributesClassName";
    errors.push(
      ...(attributesClass === ""
        ? [field.required(at, "an empty string is disallowed")]
        : checkText(at, attributesClass, dnsSubdomainProblems)),
    );
    if (!spec.csi) errors.push(field.required("spec.csi", "has to be specified when using volumeAttributesClassName"));
  }
  return errors;
}

function checkCapacity(capacity: Spec["capacity"]): FieldError[] {
  const at = "spec.capacity";
  const entries = Object.entries(capacity ?? {});
  const errors = entries.length === 0 ? [field.required(at)] : [];
  if (entries.length > 1 || capacity?.["storage"] === undefined)
    errors.push(field.notSupported(at, capacity, ["storage"]));
  for (const [name, text] of entries) {
    const quantity = tryParseQuantity(text);
    if (!quantity) continue;
    const value = quantityValue(quantity);
    if (value < 0n) errors.push(field.invalid(`${at}[${name}]`, Number(value), "must be a valid resource quantity"));
    if (quantity.mantissa <= 0n) errors.push(field.invalid(`${at}[${name}]`, text, "must be greater than zero"));
  }
  return errors;
}

/** Volume types that support mount options, in the annotation or in the field that replaced it. */
const MOUNTABLE = [
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "nfs",
  "rbd",
  "quobyte",
  "iscsi",
  "cinder",
  "cephfs",
  "azureFile",
  "vsphereVolume",
  "azureDisk",
  "photonPersistentDisk",
];

function checkMountOptions({ metadata, spec = {} }: Read<PersistentVolume>): FieldError[] {
  if (
    metadata.annotations?.[MOUNT_OPTIONS_ANNOTATION] === undefined ||
    sourcesOf(spec).some((source) => MOUNTABLE.includes(source))
  )
    return [];
  return [
    field.forbidden(
      `metadata.annotations.${MOUNT_OPTIONS_ANNOTATION}`,
      "may not specify mount options for this volume type",
    ),
  ];
}

function checkUpdate(spec: Spec, old: Spec): FieldError[] {
  const errors: FieldError[] = [];
  // The secret for expanding the volume may be added later.
  const { controllerExpandSecretRef: added, ...csi } = spec.csi ?? { driver: "", volumeHandle: "" };
  const compared = spec.csi && old.csi && added && !old.csi.controllerExpandSecretRef ? { ...spec, csi } : spec;
  if (!equalJson(sourcePart(compared), sourcePart(old))) {
    errors.push(
      field.forbidden(
        "spec.persistentvolumesource",
        `spec.persistentvolumesource is immutable after creation${changedFields(sourcePart(old), sourcePart(compared), "spec")}`,
      ),
    );
  }
  errors.push(...checkUnchanged("volumeMode", spec.volumeMode, old.volumeMode));
  if (old.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined)
    errors.push(field.forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden"));
  return errors;
}

const UNUSED_SOURCES = [
  ["cephfs", "spec.cephfs: deprecated in v1.28, non-functional in v1.31+"],
  ["photonPersistentDisk", "spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"],
  ["scaleIO", "spec.scaleIO: deprecated in v1.16, non-functional in v1.22+"],
  ["storageos", "spec.storageOS: deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+"],
  ["rbd", "spec.rbd: deprecated in v1.28, non-functional in v1.31+"],
] as const;

function volumeWarnings({ metadata: { annotations = {} }, spec = {} }: Read<PersistentVolume>): string[] {
  const warnings: string[] = [];
  if (annotations[STORAGE_CLASS_ANNOTATION] !== undefined)
    warnings.push(
      `metadata.annotations[${STORAGE_CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`,
    );
  if (annotations[MOUNT_OPTIONS_ANNOTATION] !== undefined)
    warnings.push(
      `metadata.annotations[${MOUNT_OPTIONS_ANNOTATION}]: deprecated since v1.31; use "mountOptions" attribute instead`,
    );
  if (spec.persistentVolumeReclaimPolicy === "Recycle")
    warnings.push(
      "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
    );
  for (const [index, { matchExpressions = [] }] of (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries()) {
    for (const [place, { key }] of matchExpressions.entries()) {
      const message = deprecatedNodeLabel(key);
      if (message !== undefined)
        warnings.push(
          `spec.nodeAffinity.required.nodeSelectorTerms[${index}].matchExpressions[${place}].key: ${key} is ${message}`,
        );
    }
  }
  return [...warnings, ...UNUSED_SOURCES.flatMap(([source, text]) => (spec[source] ? [text] : []))];
}

export const rules: AnyAdmission[] = [
  builtInAdmission(PersistentVolume, "core-v1", {
    complete: completeVolume,
    completeStatus,
    validate({ object, oldObject }) {
      const { metadata, spec = {} } = object;
      const errors = [...checkSpec(spec, metadata.name), ...checkMountOptions(object)];
      // Upstream checks twice on an update, so clients receive each warning twice.
      return oldObject
        ? [...errors, ...checkSpec(spec, metadata.name), ...checkUpdate(spec, oldObject.spec ?? {})]
        : errors;
    },
    warnings: ({ object, subresource }) => (subresource === undefined ? volumeWarnings(object) : []),
  }),
];
