/** VolumeAttributesClass: properties that can be changed while a volume is in use. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import {
  ageColumn,
  builtInAdmission,
  builtInKind,
  checkText,
  column,
  field,
  labelKeyProblems,
  nameColumn,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Kind, Sent } from "@flotilla/apimachinery";
import type { VolumeAttributesClass as VolumeAttributesClassFacts } from "@flotilla/apimachinery/facts/storage-v1.ts";
import { checkParameters } from "../storageclass/storageclass-rules.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type VolumeAttributesClass = VolumeAttributesClassFacts;

export const VolumeAttributesClass: Kind<VolumeAttributesClass> = builtInKind<VolumeAttributesClass>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "VolumeAttributesClass",
  plural: "volumeattributesclasses",
  shortNames: ["vac"],
  scope: "Cluster",
  facts: "storage-v1",
  columns: [nameColumn, column<VolumeAttributesClass>("DriverName", ({ driverName }) => driverName ?? ""), ageColumn],
  traits: { deletionReturnsObject: true, metadataChecks: { update: true, create: true } },
});

function checkClass(
  { driverName = "", parameters = {} }: Sent<VolumeAttributesClass>,
  oldObject: DeepReadonly<VolumeAttributesClass> | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  if (oldObject && driverName !== oldObject.driverName)
    errors.push(field.forbidden("driverName", "updates to driverName are forbidden."));
  if (oldObject && !equalJson(parameters, oldObject.parameters ?? {}))
    errors.push(field.forbidden("parameters", "updates to parameters are forbidden."));
  errors.push(
    ...(driverName === ""
      ? [field.required("driverName")]
      : checkText("driverName", driverName.toLowerCase(), labelKeyProblems)),
  );
  errors.push(...checkParameters(parameters));
  if (Object.keys(parameters).length === 0)
    errors.push(field.required("parameters", "must contain at least one key/value pair"));
  return errors;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(VolumeAttributesClass, "storage-v1", {
    validate: ({ object, oldObject }) => checkClass(object, oldObject),
  }),
];

export const volumeAttributesClass = defineKind({
  kind: VolumeAttributesClass,
  rules,
  example: exampleOf(VolumeAttributesClass, { driverName: "disks.example.com", parameters: { iops: "100" } }),
});
