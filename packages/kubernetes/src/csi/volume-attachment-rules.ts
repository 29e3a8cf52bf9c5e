/** VolumeAttachment: defaults and validation, loaded when the first object is written. */
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  checkText,
  checkUnchanged,
  dnsSubdomainProblems,
  field,
} from "@flotilla/apimachinery";
import type { FieldError, Review, Sent } from "@flotilla/apimachinery";
import { checkAccessModes } from "../storage/access-modes.ts";
import { checkSources } from "../persistentvolume/persistent-volume-sources.ts";
import { completeSource } from "../persistentvolume/persistentvolume-rules.ts";
import type { PersistentVolumeSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type {
  VolumeAttachmentSource,
  VolumeAttachmentStatus,
  VolumeError,
} from "@flotilla/apimachinery/facts/storage-v1.ts";
import { checkDriverName } from "../storage/driver-names.ts";
import { VolumeAttachment } from "./volume-attachment.ts";

type Read<T> = DeepReadonly<T>;

const MAX_METADATA_BYTES = 256 * 1024;

const MAX_MESSAGE_BYTES = 1024;

function checkAttachment({ object, oldObject }: Review<VolumeAttachment>): FieldError[] {
  const { spec, status = {} } = object as Sent<VolumeAttachment>;
  const { attacher = "", source = {}, nodeName = "" } = spec ?? {};
  const errors = checkDriverName("spec.attacher", attacher);
  errors.push(...checkSource("spec.source", source), ...checkText("spec.nodeName", nodeName, dnsSubdomainProblems));
  errors.push(...checkProgress("status", status));
  if (source.persistentVolumeName !== undefined)
    errors.push(...checkText("spec.source.persistentVolumeName", source.persistentVolumeName, dnsSubdomainProblems));
  if (oldObject) errors.push(...checkUnchanged("spec", spec, oldObject.spec));
  return errors;
}

const EXACTLY_ONE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

function checkSource(
  at: string,
  { persistentVolumeName: name, inlineVolumeSpec: inline }: Sent<VolumeAttachmentSource>,
): FieldError[] {
  if (inline && name !== undefined) return [field.forbidden(at, EXACTLY_ONE)];
  if (inline) return checkInline(`${at}.inlineVolumeSpec`, inline as Read<PersistentVolumeSpec>);
  if (name === undefined) return [field.required(at, EXACTLY_ONE)];
  return name === ""
    ? [field.required(`${at}.persistentVolumeName`, "must specify non empty persistentVolumeName")]
    : [];
}

const NOT_INLINE = "may not be specified in the context of inline volumes";

/** A volume defined inline by a pod. Other drivers were replaced by CSI, so only CSI is supported. */
function checkInline(at: string, spec: Read<PersistentVolumeSpec>): FieldError[] {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy, storageClassName, volumeMode } = spec;
  const errors: FieldError[] = [];
  if (spec.claimRef) errors.push(field.forbidden(`${at}.claimRef`, NOT_INLINE));
  if (Object.keys(spec.capacity ?? {}).length > 0) errors.push(field.forbidden(`${at}.capacity`, NOT_INLINE));
  if (!spec.csi) errors.push(field.required(`${at}.csi`, "has to be specified in the context of inline volumes"));
  if (accessModes.length === 0) errors.push(field.required(`${at}.accessModes`));
  errors.push(...checkAccessModes(`${at}.accessModes`, accessModes));
  if (policy && policy !== "Retain")
    errors.push(
      field.forbidden(`${at}.persistentVolumeReclaimPolicy`, "may only be Retain in the context of inline volumes"),
    );
  if (spec.nodeAffinity) errors.push(field.forbidden(`${at}.nodeAffinity`, NOT_INLINE));
  errors.push(...checkSources(at, spec, ""));
  if (storageClassName) errors.push(field.forbidden(`${at}.storageClassName`, NOT_INLINE));
  if (volumeMode !== undefined && volumeMode !== "Filesystem")
    errors.push(
      field.forbidden(
        `${at}.volumeMode`,
        "may not specify volumeMode other than Filesystem in the context of inline volumes",
      ),
    );
  return errors;
}

function checkProgress(
  at: string,
  { attachmentMetadata = {}, attachError, detachError }: Sent<VolumeAttachmentStatus>,
): FieldError[] {
  let bytes = 0;
  for (const [key, value] of Object.entries(attachmentMetadata))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  const errors = bytes > MAX_METADATA_BYTES ? [field.tooLong(`${at}.attachmentMetadata`, MAX_METADATA_BYTES)] : [];
  for (const [path, error] of [
    ["attachError", attachError],
    ["detachError", detachError],
  ] as const)
    if (error) checkVolumeError(errors, `${at}.${path}`, error);
  return errors;
}

function checkVolumeError(errors: FieldError[], at: string, { message = "", errorCode }: Sent<VolumeError>): void {
  // The limit in the message is that of the metadata; Kubernetes mixes up the two.
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) errors.push(field.tooLong(`${at}.message`, MAX_METADATA_BYTES));
  if (errorCode !== undefined && errorCode < 0)
    errors.push(field.invalid(`${at}.errorCode`, errorCode, "must be between 0 and 2147483647, inclusive"));
}

export const volumeAttachmentRules = builtInAdmission(VolumeAttachment, "storage-v1", {
  complete: (attachment) =>
    change(attachment, "spec", (spec) =>
      change(spec, "source", (source) => change(source, "inlineVolumeSpec", completeSource)),
    ),
  validate: checkAttachment,
  validateStatus: checkAttachment,
});
