/** Storage: sets the default class of claims that name none, and checks which claims may be expanded. */
import {
  PersistentVolumeClaim,
  STORAGE_CLASS_ANNOTATION,
  StorageClass,
  isDefaultStorageClass,
} from "@flotilla/kubernetes";
import { compareQuantities, parseQuantity, refusal } from "@flotilla/apimachinery";
import type { AdmissionStep } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { defaultClass } from "./default-class.ts";
import { writesObject } from "./writes-object.ts";

export const defaultStorageClass: AdmissionStep<PersistentVolumeClaim> = {
  name: "DefaultStorageClass",
  for: PersistentVolumeClaim,
  on: ["CREATE"],
  matches: writesObject,
  complete({ object, read }) {
    const { metadata, spec } = object;
    if (spec?.storageClassName !== undefined || metadata.annotations?.[STORAGE_CLASS_ANNOTATION] !== undefined)
      return object;
    const name = defaultClass(read.list(StorageClass), isDefaultStorageClass);
    return name === undefined ? object : { ...object, spec: { ...spec, storageClassName: name } };
  },
};

const classOf = ({ metadata, spec }: DeepReadonly<PersistentVolumeClaim>): string =>
  metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";

export const claimResize: AdmissionStep<PersistentVolumeClaim> = {
  name: "PersistentVolumeClaimResize",
  for: PersistentVolumeClaim,
  on: ["UPDATE"],
  matches: writesObject,
  check(review) {
    const { object: claim, oldObject: old = claim, read } = review;
    const sizeOf = ({ spec }: DeepReadonly<PersistentVolumeClaim>) =>
      parseQuantity(spec?.resources?.requests?.["storage"] ?? "0");
    if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
    if (old.status?.phase !== "Bound") throw refusal(review, "Only bound persistent volume claims can be expanded");
    const name = classOf(claim);
    const storageClass = name && name === classOf(old) ? read.get(StorageClass, undefined, name) : undefined;
    if (!storageClass?.allowVolumeExpansion)
      throw refusal(
        review,
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
      );
  },
};
