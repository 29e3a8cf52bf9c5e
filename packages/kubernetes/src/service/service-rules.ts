/** Defaults and validation of Service. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { builtInAdmission } from "@flotilla/apimachinery";
import { completeService, completeServiceStatus } from "./service-defaults.ts";
import { checkService, checkServiceStatus, serviceStatusWarnings, serviceWarnings } from "./service-validation.ts";
import { Service } from "./service-kind.ts";

export const rules: AnyAdmission[] = [
  builtInAdmission(Service, "core-v1", {
    complete: completeService,
    completeStatus: completeServiceStatus,
    validate: ({ object, oldObject }) => checkService(object, oldObject),
    validateStatus: ({ object, oldObject }) => checkServiceStatus(object, oldObject),
    warnings: ({ object, subresource }) =>
      subresource === "status" ? serviceStatusWarnings(object) : serviceWarnings(object),
  }),
];
