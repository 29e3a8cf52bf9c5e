/** ControllerRevision: an earlier version of a template, so that a workload can distinguish its pods and roll back. */
import { isObject } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { ageColumn, column, nameColumn } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { ControllerRevision as ControllerRevisionFacts } from "@flotilla/apimachinery/facts/apps-v1.ts";
import { checkNotNegative, checkUnchanged } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { controllerOf, parseApiVersion } from "@flotilla/apimachinery";

export type ControllerRevision = ControllerRevisionFacts;

export const ControllerRevision: Kind<ControllerRevision> = builtInKind<ControllerRevision>({
  group: "apps",
  version: "v1",
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  scope: "Namespaced",
  facts: "apps-v1",
  columns: [
    nameColumn,
    column<ControllerRevision>("Controller", (revision) => {
      const owner = controllerOf(revision);
      if (!owner) return "<none>";
      const { group } = parseApiVersion(owner.apiVersion);
      return `${owner.kind.toLowerCase()}${group ? `.${group}` : ""}/${owner.name}`;
    }),
    column<ControllerRevision>("Revision", ({ revision }) => revision ?? 0),
    ageColumn,
  ],
});

/** The data is immutable; only the revision number may increase. */
export const admissions: AnyAdmission[] = [
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
