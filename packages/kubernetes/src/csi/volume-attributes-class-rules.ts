/** VolumeAttributesClass: defaults and validation, loaded when the first object is written. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { builtInAdmission, checkText, field, labelKeyProblems } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import { checkParameters } from "../storageclass/storageclass-rules.ts";
import { VolumeAttributesClass } from "./volume-attributes-class.ts";

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

export const volumeAttributesClassRules = builtInAdmission(VolumeAttributesClass, "storage-v1", {
  validate: ({ object, oldObject }) => checkClass(object, oldObject),
});
