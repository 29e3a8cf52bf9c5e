/** The devices that a claim has, and whose status changed. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type {
  AllocatedDeviceStatus,
  ResourceClaim,
  ResourceClaimStatus,
} from "@flotilla/apimachinery/facts/resource-v1.ts";

type Read<T> = DeepReadonly<T>;
type Status = Read<ResourceClaimStatus>;

export interface DevicePlace {
  readonly driver?: string | undefined;
  readonly pool?: string | undefined;
  readonly device?: string | undefined;
  readonly shareID?: string | undefined;
}

/** A device, or a share of one. */
export const deviceKey = ({ driver = "", pool = "", device = "", shareID = "" }: DevicePlace): string =>
  JSON.stringify([driver, pool, device, shareID]);
export const allocatedIn = ({ allocation }: Status): Set<string> =>
  new Set((allocation?.devices?.results ?? []).map(deviceKey));

/**
 * The stored status: the device status of drivers is removed with the allocation of the device. The writer stays its
 * owner, as on a real server, so this runs after field managers were recorded.
 */
export function prepareClaimStatus(
  claim: Read<ResourceClaim>,
  old: Read<ResourceClaim> | undefined,
): Read<ResourceClaim> {
  const { status = {} } = claim;
  const reported = status.devices ?? [];
  if (reported.length === 0) return claim;
  const now = allocatedIn(status);
  const before = allocatedIn(old?.status ?? {});
  const kept = reported
    .filter((device) => !before.has(deviceKey(device)) || now.has(deviceKey(device)))
    .map(withoutEmptyConditions);
  const { devices: _, ...rest } = status;
  return { ...claim, status: { ...rest, devices: kept.length > 0 ? kept : undefined } };
}

/** The stored form does not distinguish an empty list from an absent one. */
function withoutEmptyConditions(device: Read<AllocatedDeviceStatus>): Read<AllocatedDeviceStatus> {
  const { conditions, ...rest } = device;
  return conditions?.length === 0 ? rest : device;
}

/** The drivers whose status of a device of the claim changed. */
export function changedDrivers(status: Status, old: Status): string[] {
  const before = new Map((old.devices ?? []).map((device) => [deviceKey(device), device]));
  const drivers = new Set<string>();
  for (const device of status.devices ?? []) {
    const place = deviceKey(device);
    if (!equalJson(device, before.get(place))) drivers.add(device.driver);
    before.delete(place);
  }
  for (const { driver } of before.values()) drivers.add(driver);
  return [...drivers].sort();
}

/** The only node of an allocation; empty when it can be used on others as well. */
export function nodeOfAllocation(allocation: Status["allocation"]): string {
  const [term, ...others] = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  const [field, ...more] = term?.matchFields ?? [];
  if (!field || others.length > 0 || more.length > 0 || term?.matchExpressions?.length) return "";
  const [name = "", ...names] = field.values ?? [];
  return field.key === "metadata.name" && field.operator === "In" && names.length === 0 ? name : "";
}
