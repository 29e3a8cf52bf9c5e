/** Defaults and validation of ControllerRevision. */
import { isObject } from "@flotilla/base";
import { builtInAdmission, checkNotNegative, checkUnchanged, field } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import { ControllerRevision } from "./controllerrevision-kind.ts";

/** The data is immutable; only the revision number may increase. */
export const rules: AnyAdmission[] = [
  builtInAdmission(ControllerRevision, "apps-v1", {
    validate({ object, oldObject }) {
      const errors: FieldError[] = checkNotNegative("revision", object.revision);
      const data: unknown = object.data;
      if (oldObject) return [...errors, ...checkUnchanged("data", data, oldObject.data)];
      if (data === undefined || data === null) errors.push(field.required("data", "data is mandatory"));
      else if (!isObject(data)) errors.push(field.required("data", "data must be a valid JSON object"));
      return errors;
    },
  }),
];
