/** Validates the devices in a slice: attributes, capacities, consumed counters and nodes. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { checkText, dnsSubdomainProblems, field } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import { checkNodeSelector } from "../node/node-selector.ts";
import type {
  CounterSet,
  Device,
  DeviceAttribute,
  DeviceCounterConsumption,
} from "@flotilla/apimachinery/facts/resource-v1.ts";
import { checkCapacity } from "./device-capacity.ts";
import { checkList, checkQualifiedName, checkSet, checkShortName, entryPath } from "./device-names.ts";
import { checkBindingConditions, checkTaint } from "./device-taints.ts";

const MAX_PROPERTIES = 32;
const MAX_ATTRIBUTE_VALUES = 48;
const MAX_VALUE_BYTES = 64;
const MAX_TAINTS = 16;
const MAX_CONSUMPTIONS = 2;
const MAX_COUNTERS = 32;
/** A domain, a slash and a name. */
const MAX_SHOWN_PROPERTY = 63 + 1 + 32;
const MAX_SHOWN_COUNTER = 63;

/** `old` is the stored device of the same name; `choosesNode`: every device of the slice selects its nodes. */
export function checkDevice(
  at: string,
  device: Sent<Device>,
  old: DeepReadonly<Device> | undefined,
  choosesNode: boolean,
): FieldError[] {
  const {
    name = "",
    attributes = {},
    capacity = {},
    taints = [],
    consumesCounters = [],
    bindingConditions = [],
    bindingFailureConditions = [],
  } = device;
  const errors = checkShortName(`${at}.name`, name);
  const properties = Object.keys(attributes).length + Object.keys(capacity).length;
  if (properties > MAX_PROPERTIES)
    errors.push(
      field.invalid(at, properties, `the total number of attributes and capacities must not exceed ${MAX_PROPERTIES}`),
    );
  const values = Object.keys(attributes).length;
  if (values > MAX_ATTRIBUTE_VALUES)
    errors.push(
      field.invalid(at, values, `the total number of attribute values must not exceed ${MAX_ATTRIBUTE_VALUES}`),
    );
  errors.push(...checkEntries(`${at}.attributes`, attributes, MAX_SHOWN_PROPERTY, checkQualifiedName, checkAttribute));
  errors.push(
    ...checkEntries(`${at}.capacity`, capacity, MAX_SHOWN_PROPERTY, checkQualifiedName, (path, item) =>
      checkCapacity(path, item, device.allowMultipleAllocations === true),
    ),
  );
  // Unchanged stored taints are accepted, although the server has set their time.
  if (!old || !equalJson(taints, old.taints ?? []))
    errors.push(...checkList(`${at}.taints`, taints, MAX_TAINTS, checkTaint));
  errors.push(
    ...checkSet(
      `${at}.consumesCounters`,
      consumesCounters,
      MAX_CONSUMPTIONS,
      checkConsumption,
      ({ counterSet = "" }) => counterSet,
    ),
  );
  errors.push(...checkPlace(at, device, choosesNode));
  return [...errors, ...checkBindingConditions(at, bindingConditions, bindingFailureConditions)];
}

function checkEntries<T>(
  at: string,
  entries: Readonly<Record<string, T>>,
  shownKey: number,
  checkKey: (at: string, key: string) => FieldError[],
  checkValue: (at: string, value: T) => FieldError[],
): FieldError[] {
  return Object.entries(entries).flatMap(([key, value]) => [
    ...checkKey(at, key),
    ...checkValue(entryPath(at, key, shownKey), value),
  ]);
}

const NUMBER = String.raw`(0|[1-9]\d*)`;
const BEFORE_RELEASE = String.raw`(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)`;
const SEMANTIC_VERSION = new RegExp(
  String.raw`^${NUMBER}\.${NUMBER}\.${NUMBER}(-${BEFORE_RELEASE}(\.${BEFORE_RELEASE})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`,
);

function checkAttribute(at: string, attribute: Sent<DeviceAttribute>): FieldError[] {
  const { string: text, version } = attribute;
  const errors: FieldError[] = [];
  if (text !== undefined && Buffer.byteLength(text) > MAX_VALUE_BYTES)
    errors.push(field.tooLong(`${at}.string`, MAX_VALUE_BYTES));
  if (version !== undefined) {
    const isTooLong = Buffer.byteLength(version) > MAX_VALUE_BYTES;
    if (!SEMANTIC_VERSION.test(version))
      errors.push(field.invalid(`${at}.version`, version, "must be a string compatible with semver.org spec 2.0.0"));
    if (isTooLong) errors.push(field.tooLong(`${at}.version`, MAX_VALUE_BYTES));
  }
  const count = (["int", "bool", "string", "version"] as const).filter((kind) => attribute[kind] !== undefined).length;
  if (count !== 1) errors.push(field.invalid(at, count === 0 ? "" : attribute, "exactly one value must be specified"));
  return errors;
}

function checkConsumption(
  at: string,
  { counterSet = "", counters = {} }: Sent<DeviceCounterConsumption>,
): FieldError[] {
  return [...checkCounterName(`${at}.counterSet`, counterSet), ...checkCounters(`${at}.counters`, counters)];
}

/** Counters shared by the devices of a pool. */
export function checkCounterSet(at: string, { name = "", counters = {} }: Sent<CounterSet>): FieldError[] {
  return [...checkCounterName(`${at}.name`, name), ...checkCounters(`${at}.counters`, counters)];
}

const checkCounterName = (at: string, name: string): FieldError[] =>
  name === "" ? [field.required(at)] : checkShortName(at, name);

function checkCounters(at: string, counters: Readonly<Record<string, unknown>>): FieldError[] {
  const count = Object.keys(counters).length;
  if (count === 0) return [field.required(at)];
  return count > MAX_COUNTERS
    ? [field.tooMany(at, count, MAX_COUNTERS)]
    : checkEntries(at, counters, MAX_SHOWN_COUNTER, checkShortName, () => []);
}

const ONE_PLACE =
  "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

function checkPlace(
  at: string,
  { nodeName, nodeSelector, allNodes }: Sent<Device>,
  choosesNode: boolean,
): FieldError[] {
  if (!choosesNode) {
    const isPlaced = nodeName !== undefined || nodeSelector !== undefined || allNodes !== undefined;
    return isPlaced
      ? [
          field.invalid(
            at,
            null,
            "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
          ),
        ]
      : [];
  }
  const places: string[] = [];
  const errors: FieldError[] = [];
  if (nodeName === "") errors.push(field.invalid(`${at}.nodeName`, "", "must not be empty"));
  else if (nodeName !== undefined) {
    places.push("`nodeName`");
    errors.push(...checkText(`${at}.nodeName`, nodeName, dnsSubdomainProblems));
  }
  if (nodeSelector) {
    places.push("`nodeSelector`");
    errors.push(...checkNodeSelector(`${at}.nodeSelector`, nodeSelector));
  }
  if (allNodes === true) places.push("`allNodes`");
  else if (allNodes === false)
    errors.push(field.invalid(`${at}.allNodes`, false, "must be either unset or set to true"));
  if (places.length === 0) errors.push(field.required(at, ONE_PLACE));
  else if (places.length > 1) errors.push(field.invalid(at, `{${places.join(", ")}}`, ONE_PLACE));
  return errors;
}
