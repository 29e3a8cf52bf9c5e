/** DeviceClass: a class of devices, selected by CEL expressions, with driver configuration. */
import { equalJson } from "@flotilla/base";
import { ageColumn, builtInAdmission, builtInKind, field, nameColumn } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Kind, Review } from "@flotilla/apimachinery";
import { isExtendedResource } from "../resources/resource-names.ts";
import type { DeviceClass as DeviceClassFacts } from "@flotilla/apimachinery/facts/resource-v1.ts";
import { MAX_CONFIGURATIONS } from "./claim-spec.ts";
import { checkConfiguration, checkSelectors } from "./device-configuration.ts";
import { checkList } from "./device-names.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type DeviceClass = DeviceClassFacts;

export const DeviceClass: Kind<DeviceClass> = builtInKind<DeviceClass>({
  group: "resource.k8s.io",
  version: "v1",
  kind: "DeviceClass",
  plural: "deviceclasses",
  scope: "Cluster",
  facts: "resource-v1",
  columns: [nameColumn, ageColumn],
  hasGeneration: true,
  traits: { deletionReturnsObject: true, metadataChecks: { update: true, create: true } },
});

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

export const rules: AnyAdmission[] = [builtInAdmission(DeviceClass, "resource-v1", { validate: checkClass })];

export const deviceClass = defineKind({
  kind: DeviceClass,
  rules,
  example: exampleOf(DeviceClass, { spec: {} }),
});
