/** CSINode: defaults and validation, loaded when the first object is written. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  changeItems,
  checkNotNegative,
  checkText,
  field,
  fill,
  labelKeyProblems,
} from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type { CSINodeDriver } from "@flotilla/apimachinery/facts/storage-v1.ts";
import { checkDriverName } from "../storage/driver-names.ts";
import { CSINode } from "./csi-node.ts";

type Read<T> = DeepReadonly<T>;

const MAX_NODE_ID_BYTES = 256;

function checkDrivers(drivers: readonly Sent<CSINodeDriver>[]): FieldError[] {
  const names = new Set<string>();
  return drivers.flatMap((driver, index) => checkNodeDriver(`spec.drivers[${index}]`, driver, names));
}

function checkNodeDriver(
  at: string,
  { name = "", nodeID = "", topologyKeys = [], allocatable }: Sent<CSINodeDriver>,
  names: Set<string>,
): FieldError[] {
  const errors = checkDriverName(`${at}.name`, name);
  if (nodeID === "") errors.push(field.required(`${at}.nodeID`));
  if (Buffer.byteLength(nodeID) > MAX_NODE_ID_BYTES)
    errors.push(field.invalid(`${at}.nodeID`, nodeID, `must be ${MAX_NODE_ID_BYTES} characters or less`));
  errors.push(...checkNotNegative(`${at}.allocatable.count`, allocatable?.count));
  if (names.has(name)) errors.push(field.duplicate(`${at}.name`, name));
  names.add(name);
  const keys = new Set<string>();
  for (const key of topologyKeys) {
    if (key === "") errors.push(field.required(at));
    if (keys.has(key)) errors.push(field.duplicate(at, key));
    keys.add(key);
    errors.push(...checkText(at, key, labelKeyProblems));
  }
  return errors;
}

/** A driver may be added and removed, and change its volume limit; its other fields are immutable. */
function checkRegistered(
  drivers: readonly Read<CSINodeDriver>[],
  registered: readonly Read<CSINodeDriver>[],
): FieldError[] {
  const known = new Map(registered.map((driver) => [driver.name, driver]));
  const lasting = (driver: Read<CSINodeDriver>): object => {
    const { allocatable: _, ...rest } = driver;
    return rest;
  };
  return drivers.flatMap((driver) => {
    const before = known.get(driver.name);
    return !before || equalJson(lasting(driver), lasting(before))
      ? []
      : [field.invalid("spec.drivers", lasting(driver), "field is immutable")];
  });
}

const withDrivers = (node: Read<CSINode>, edit: (driver: Read<CSINodeDriver>) => Read<CSINodeDriver>): Read<CSINode> =>
  change(node, "spec", (spec) => change(spec, "drivers", (drivers) => changeItems<CSINodeDriver>(drivers, edit)));

/**
 * Kubernetes also writes the topology keys of a driver without any. They are not stored, but the writer of the driver
 * owns them.
 */
const withKeys = (driver: Read<CSINodeDriver>): Read<CSINodeDriver> => fill(driver, { topologyKeys: [] });

function withoutEmptyKeys(driver: Read<CSINodeDriver>): Read<CSINodeDriver> {
  const { topologyKeys, ...rest } = driver;
  return topologyKeys?.length === 0 ? rest : driver;
}

export const csiNodeRules = builtInAdmission(CSINode, "storage-v1", {
  complete: (node) => withDrivers(node, withKeys),
  prepare: (node) => withDrivers(node, withoutEmptyKeys),
  validate({ object: { spec }, oldObject }) {
    const drivers = spec.drivers ?? [];
    return [...checkDrivers(drivers), ...(oldObject ? checkRegistered(drivers, oldObject.spec.drivers ?? []) : [])];
  },
});
