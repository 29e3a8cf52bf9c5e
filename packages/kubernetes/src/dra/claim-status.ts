/** Validates the status of a claim: its allocated devices, consumers, and the device status of drivers. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { change, changeItems, checkConditions, checkUnchanged, field, fill } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import { checkNodeSelector } from "../node/node-selector.ts";
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
} from "@flotilla/apimachinery/facts/resource-v1.ts";
import { checkInterfaceAddress } from "../networking/addresses.ts";
import { checkDriverName } from "../storage/driver-names.ts";
import {
  checkRequestReference,
  checkRequestReferences,
  MAX_CONFIGURATIONS,
  MAX_REQUESTS,
  requestNamesOf,
  type RequestNames,
} from "./claim-spec.ts";
import { allocatedIn, deviceKey, type DevicePlace } from "./claim-devices.ts";
import { checkConfiguration, checkRawObject } from "./device-configuration.ts";
import { checkList, checkPoolName, checkSet, checkShareId, checkShortName } from "./device-names.ts";
import { checkBindingConditions } from "./device-taints.ts";

type Read<T> = DeepReadonly<T>;

const MAX_CONSUMERS = 256;
const MAX_CONDITIONS = 8;
const MAX_ADDRESSES = 16;
const MAX_INTERFACE_NAME_BYTES = 256;
const MAX_HARDWARE_ADDRESS_BYTES = 128;
const SOURCES = ["FromClaim", "FromClass"];

/** The form that messages print. */
const placeForm = ({ driver = "", pool = "", device = "", shareID = "" }: DevicePlace): object => ({
  Driver: driver,
  Pool: pool,
  Device: device,
  ShareID: shareID,
});

/**
 * Kubernetes also writes the conditions of a device without any. They are not stored, but the writer of the device owns
 * them.
 */
export const completeClaimStatus = (claim: Read<ResourceClaim>): Read<ResourceClaim> =>
  change(claim, "status", (status) =>
    change(status, "devices", (devices) =>
      changeItems<AllocatedDeviceStatus>(devices, (device) => fill(device, { conditions: [] })),
    ),
  );

export function checkClaimStatus(claim: Read<ResourceClaim>, old: Read<ResourceClaim> | undefined): FieldError[] {
  const at = "status";
  const { status = {} } = claim;
  const { allocation, reservedFor = [], devices = [] } = status;
  const allocated = allocatedIn(status);
  const errors = checkSet(`${at}.reservedFor`, reservedFor, MAX_CONSUMERS, checkConsumer, ({ uid }) => uid ?? "");
  errors.push(
    ...checkSet(
      `${at}.devices`,
      devices,
      Number.POSITIVE_INFINITY,
      (path, device) => checkDeviceStatus(path, device, allocated),
      deviceKey,
      placeForm,
    ),
  );
  if (reservedFor.length > 0)
    errors.push(...checkReservation(`${at}.reservedFor`, claim, old?.status?.reservedFor ?? []));
  const before = old?.status?.allocation;
  // Stored values may predate rules that they would break.
  if (allocation && before) errors.push(...checkUnchanged(`${at}.allocation`, allocation, before));
  else if (allocation)
    errors.push(...checkAllocation(`${at}.allocation`, allocation, requestNamesOf(claim.spec.devices ?? {})));
  return errors;
}

function checkReservation(
  at: string,
  { metadata, status }: Read<ResourceClaim>,
  before: readonly Read<ResourceClaimConsumerReference>[],
): FieldError[] {
  if (!status?.allocation) return [field.forbidden(at, "may not be specified when `allocated` is not set")];
  const isNew = (consumer: Read<ResourceClaimConsumerReference>): boolean =>
    !before.some((known) => equalJson(known, consumer));
  if (metadata.deletionTimestamp === undefined || !status.reservedFor?.some(isNew)) return [];
  return [
    field.forbidden(at, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"),
  ];
}

function checkConsumer(at: string, { resource, name, uid }: Sent<ResourceClaimConsumerReference>): FieldError[] {
  return [
    ...(resource ? [] : [field.required(`${at}.resource`)]),
    ...(name ? [] : [field.required(`${at}.name`)]),
    ...(uid ? [] : [field.required(`${at}.uid`)]),
  ];
}

function checkAllocation(
  at: string,
  { devices = {}, nodeSelector }: Sent<AllocationResult>,
  names: RequestNames,
): FieldError[] {
  const { results = [], config = [] } = devices;
  return [
    ...checkList(`${at}.devices.results`, results, MAX_REQUESTS, (path, result) => checkResult(path, result, names)),
    // Configurations of the class and of the claim.
    ...checkList(`${at}.devices.config`, config, 2 * MAX_CONFIGURATIONS, (path, item) =>
      checkAllocatedConfiguration(path, item, names),
    ),
    ...(nodeSelector ? checkNodeSelector(`${at}.nodeSelector`, nodeSelector) : []),
  ];
}

function checkResult(at: string, result: Sent<DeviceRequestAllocationResult>, names: RequestNames): FieldError[] {
  const {
    request = "",
    driver = "",
    pool = "",
    device = "",
    bindingConditions = [],
    bindingFailureConditions = [],
    shareID,
  } = result;
  return [
    ...checkRequestReference(`${at}.request`, request, names),
    ...checkDriverName(`${at}.driver`, driver),
    ...checkPoolName(`${at}.pool`, pool),
    ...checkShortName(`${at}.device`, device),
    ...checkBindingConditions(at, bindingConditions, bindingFailureConditions),
    ...(shareID === undefined ? [] : checkShareId(`${at}.shareID`, shareID)),
  ];
}

function checkAllocatedConfiguration(
  at: string,
  { source: given, requests = [], ...configuration }: Sent<DeviceAllocationConfiguration>,
  names: RequestNames,
): FieldError[] {
  const errors: FieldError[] = [];
  const source: string = given ?? "";
  if (source === "") errors.push(field.required(`${at}.source`));
  else if (!SOURCES.includes(source)) errors.push(field.notSupported(`${at}.source`, source, SOURCES));
  return [
    ...errors,
    ...checkRequestReferences(`${at}.requests`, requests, names),
    ...checkConfiguration(at, configuration),
  ];
}

function checkDeviceStatus(
  at: string,
  status: Sent<AllocatedDeviceStatus>,
  allocated: ReadonlySet<string>,
): FieldError[] {
  const { driver = "", pool = "", device = "", shareID, conditions = [], data, networkData } = status;
  const errors = [
    ...checkDriverName(`${at}.driver`, driver),
    ...checkPoolName(`${at}.pool`, pool),
    ...checkShortName(`${at}.device`, device),
  ];
  if (shareID !== undefined) errors.push(...checkShareId(`${at}.shareID`, shareID));
  if (!allocated.has(deviceKey(status)))
    errors.push(field.invalid(at, placeForm(status), "must be an allocated device in the claim"));
  if (conditions.length > MAX_CONDITIONS)
    errors.push(field.tooMany(`${at}.conditions`, conditions.length, MAX_CONDITIONS));
  errors.push(...checkConditions(`${at}.conditions`, conditions));
  if (data !== undefined) errors.push(...checkRawObject(`${at}.data`, data));
  return networkData ? [...errors, ...checkNetworkData(`${at}.networkData`, networkData)] : errors;
}

function checkNetworkData(
  at: string,
  { interfaceName = "", hardwareAddress = "", ips = [] }: Sent<NetworkDeviceData>,
): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(interfaceName) > MAX_INTERFACE_NAME_BYTES)
    errors.push(field.tooLong(`${at}.interfaceName`, MAX_INTERFACE_NAME_BYTES));
  if (Buffer.byteLength(hardwareAddress) > MAX_HARDWARE_ADDRESS_BYTES)
    errors.push(field.tooLong(`${at}.hardwareAddress`, MAX_HARDWARE_ADDRESS_BYTES));
  return [...errors, ...checkSet(`${at}.ips`, ips, MAX_ADDRESSES, checkInterfaceAddress, (address) => address)];
}
