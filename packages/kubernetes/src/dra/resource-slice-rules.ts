/** ResourceSlice: defaults and validation, loaded when the first object is written. */
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  changeItems,
  checkText,
  checkUnchanged,
  dnsSubdomainProblems,
  field,
} from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import { checkNodeSelector } from "../node/node-selector.ts";
import type {
  Device,
  DeviceAttribute,
  ResourcePool,
  ResourceSliceSpec,
} from "@flotilla/apimachinery/facts/resource-v1.ts";
import { checkDriverName } from "../storage/driver-names.ts";
import { checkPoolName, checkSet } from "./device-names.ts";
import { checkCounterSet, checkDevice } from "./slice-devices.ts";
import { ResourceSlice } from "./resource-slice.ts";

type Read<T> = DeepReadonly<T>;

type Spec = Sent<ResourceSliceSpec>;

const MAX_DEVICES = 128;

/** Taints and counters make a device larger, so the limit is lower. */
const MAX_RICH_DEVICES = 64;

const MAX_COUNTER_SETS = 8;

/** List attributes and node allocatable resources are off in a stock server, which drops their fields. */
function dropUnused(slice: Read<ResourceSlice>): Read<ResourceSlice> {
  return change(slice, "spec", (spec) =>
    change(spec, "devices", (devices) => changeItems<Device>(devices, dropUnusedFields)),
  );
}

function dropUnusedFields(device: Read<Device>): Read<Device> {
  const { nodeAllocatableResourceMappings: mappings, ...kept } = device;
  const plain = mappings === undefined ? device : kept;
  const { attributes } = plain;
  if (!attributes || !Object.values(attributes).some(hasLists)) return plain;
  return {
    ...plain,
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([name, { ints: _i, bools: _b, strings: _s, versions: _v, ...single }]) => [
        name,
        single,
      ]),
    ),
  };
}

const hasLists = ({ ints, bools, strings, versions }: Read<DeviceAttribute>): boolean =>
  ints !== undefined || bools !== undefined || strings !== undefined || versions !== undefined;

function checkSpec(spec: Spec, old: Read<ResourceSliceSpec> | undefined): FieldError[] {
  const { driver = "", pool = {}, devices, sharedCounters } = spec;
  const errors = [...checkDriverName("spec.driver", driver), ...checkPool("spec.pool", pool)];
  if (old) {
    errors.push(
      ...checkUnchanged("spec.pool.name", pool.name ?? "", old.pool.name),
      ...checkUnchanged("spec.driver", driver, old.driver),
    );
    errors.push(...checkUnchanged("spec.nodeName", spec.nodeName ?? null, old.nodeName ?? null));
  }
  checkPlace(errors, spec);
  if (sharedCounters && devices)
    errors.push(field.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"));
  const known = new Map((old?.devices ?? []).map((device) => [device.name, device]));
  const isRich =
    devices?.some(({ taints = [], consumesCounters = [] }) => taints.length + consumesCounters.length > 0) === true;
  const choosesNode = spec.perDeviceNodeSelection === true;
  errors.push(
    ...checkSet(
      "spec.devices",
      devices ?? [],
      isRich ? MAX_RICH_DEVICES : MAX_DEVICES,
      (at, device) => checkDevice(at, device, known.get(device.name ?? ""), choosesNode),
      nameOf,
    ),
  );
  return [
    ...errors,
    ...checkSet("spec.sharedCounters", sharedCounters ?? [], MAX_COUNTER_SETS, checkCounterSet, nameOf),
  ];
}

const nameOf = ({ name = "" }: { readonly name?: string | undefined }): string => name;

function checkPool(
  at: string,
  { name = "", resourceSliceCount = 0, generation = 0 }: Sent<ResourcePool>,
): FieldError[] {
  return [
    ...checkPoolName(`${at}.name`, name),
    ...(resourceSliceCount <= 0
      ? [field.invalid(`${at}.resourceSliceCount`, resourceSliceCount, "must be greater than zero")]
      : []),
    ...(generation < 0 ? [field.invalid(`${at}.generation`, generation, "must be greater than or equal to zero")] : []),
  ];
}

const ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

/** The nodes that have the devices. */
function checkPlace(errors: FieldError[], { nodeName, nodeSelector, ...flags }: Spec): void {
  const places: string[] = [];
  if (nodeName === "")
    errors.push(field.invalid("spec.nodeName", "", "must be either unset or set to a non-empty string"));
  else if (nodeName !== undefined) {
    places.push("`nodeName`");
    errors.push(...checkText("spec.nodeName", nodeName, dnsSubdomainProblems));
  }
  if (nodeSelector) {
    const { nodeSelectorTerms = [] } = nodeSelector;
    places.push("`nodeSelector`");
    errors.push(...checkNodeSelector("spec.nodeSelector", nodeSelector));
    // A single term can be combined with that of another slice.
    if (nodeSelectorTerms.length !== 1)
      errors.push(
        field.invalid(
          "spec.nodeSelector.nodeSelectorTerms",
          nodeSelectorTerms,
          "must have exactly one node selector term",
        ),
      );
  }
  for (const flag of ["allNodes", "perDeviceNodeSelection"] as const) {
    if (flags[flag] === true) places.push(`\`${flag}\``);
    else if (flags[flag] === false)
      errors.push(field.invalid(`spec.${flag}`, false, "must be either unset or set to true"));
  }
  if (places.length === 0) errors.push(field.required("spec", ONE_PLACE));
  else if (places.length > 1)
    errors.push(field.invalid("spec", `{${places.join(", ")}}`, `${ONE_PLACE}, but multiple fields are set`));
}

function driverWarning({ spec }: Sent<ResourceSlice>): string[] {
  const { driver = "" } = spec ?? {};
  return driver === driver.toLowerCase()
    ? []
    : [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`];
}

export const resourceSliceRules = builtInAdmission(ResourceSlice, "resource-v1", {
  prepare: dropUnused,
  validate: ({ object: { spec }, oldObject }) => checkSpec(spec, oldObject?.spec),
  warnings: ({ object }) => driverWarning(object),
});
