/** What resource claims count for: the claim itself, and the devices that it may get of each class. */
import type { DeepReadonly } from "@flotilla/base";
import { parseQuantity, type Quantity } from "@flotilla/apimachinery";
import type {
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaim,
} from "@flotilla/apimachinery/facts/resource-v1.ts";
import { ONE, type Amounts } from "./amounts.ts";

const DEVICE_CLAIM_COUNT = "count/resourceclaims.resource.k8s.io";
const CLASS_SUFFIX = ".deviceclass.resource.k8s.io/devices";
/** The maximum number of devices in a claim, and the count for a request of all devices. */
const MAX_DEVICES_PER_CLAIM = 32;

export const countsDevices = (name: string): boolean => name === DEVICE_CLAIM_COUNT || name.endsWith(CLASS_SUFFIX);

export function deviceClaimUsage({ spec }: DeepReadonly<ResourceClaim>): Amounts {
  const devices = new Map<string, number>();
  for (const request of spec.devices?.requests ?? [])
    for (const [name, count] of devicesOf(request)) devices.set(name, (devices.get(name) ?? 0) + count);
  return new Map<string, Quantity>([
    [DEVICE_CLAIM_COUNT, ONE],
    ...[...devices].map(([name, count]): [string, Quantity] => [name + CLASS_SUFFIX, parseQuantity(count)]),
  ]);
}

/** Alternatives count with the maximum of each class. */
function devicesOf({ exactly, firstAvailable = [] }: DeepReadonly<DeviceRequest>): Map<string, number> {
  const most = new Map<string, number>();
  const alternatives: readonly DeepReadonly<DeviceSubRequest | ExactDeviceRequest>[] =
    firstAvailable.length > 0 ? firstAvailable : exactly ? [exactly] : [];
  for (const { deviceClassName, allocationMode, count = 0 } of alternatives) {
    most.set(
      deviceClassName,
      Math.max(most.get(deviceClassName) ?? 0, allocationMode === "All" ? MAX_DEVICES_PER_CLAIM : count),
    );
  }
  return most;
}
