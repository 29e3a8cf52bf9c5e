/** DeviceClass: defaults and validation, loaded when the first object is written. */
import { equalJson } from "@flotilla/base";
import { builtInAdmission, field } from "@flotilla/apimachinery";
import type { FieldError, Review } from "@flotilla/apimachinery";
import { isExtendedResource } from "../resources/resource-names.ts";
import { MAX_CONFIGURATIONS } from "./claim-spec.ts";
import { checkConfiguration, checkSelectors } from "./device-configuration.ts";
import { checkList } from "./device-names.ts";
import { DeviceClass } from "./device-class.ts";

function checkClass({ object: { spec }, oldObject }: Review<DeviceClass>): FieldError[] {
  const { selectors = [], config = [], extendedResourceName: name } = spec ?? {};
  const isStored = oldObject !== undefined && equalJson(config, oldObject.spec.config ?? []);
  return [
    ...checkSelectors("spec.selectors", selectors),
    ...checkList("spec.config", config, MAX_CONFIGURATIONS, (at, configuration) =>
      checkConfiguration(at, configuration, isStored),
    ),
    ...(name === undefined || isExtendedResource(name)
      ? []
      : [field.invalid("spec.extendedResourceName", name, "must be a valid extended resource name")]),
  ];
}

export const deviceClassRules = builtInAdmission(DeviceClass, "resource-v1", { validate: checkClass });
