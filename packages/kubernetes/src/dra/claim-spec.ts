/** Validates the spec of a claim: device requests, constraints, and driver configuration. */
import type { DeepReadonly } from "@flotilla/base";
import { change, changeItems, checkText, dnsSubdomainProblems, field, fill } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from "@flotilla/apimachinery/facts/resource-v1.ts";
import { checkConfiguration, checkSelectors } from "./device-configuration.ts";
import { checkFullyQualifiedName, checkList, checkSet, checkShortName } from "./device-names.ts";
import { checkTolerations } from "./device-taints.ts";

type Read<T> = DeepReadonly<T>;

/** The maximum number of requests of a claim, and of its allocation results. */
export const MAX_REQUESTS = 32;
const MAX_ALTERNATIVES = 8;
const MAX_CONSTRAINTS = 32;
export const MAX_CONFIGURATIONS = 32;
const MODES = ["All", "ExactCount"];

/** Defaults to one device. */
function completeRequest<T extends Read<ExactDeviceRequest> | Read<DeviceSubRequest>>(request: T): T {
  const typed = fill<Read<ExactDeviceRequest>>(request, { allocationMode: "ExactCount" });
  const counted = typed.allocationMode === "ExactCount" && !typed.count ? { ...typed, count: 1 } : typed;
  return change(counted, "tolerations", (tolerations) =>
    changeItems<DeviceToleration>(tolerations, (toleration) => fill(toleration, { operator: "Equal" })),
  ) as T;
}

export function completeClaimSpec(spec: Read<ResourceClaimSpec>): Read<ResourceClaimSpec> {
  return change(spec, "devices", (devices) =>
    change(devices, "requests", (requests) =>
      changeItems<DeviceRequest>(requests, (request) =>
        change(change(request, "exactly", completeRequest), "firstAvailable", (alternatives) =>
          changeItems<DeviceSubRequest>(alternatives, completeRequest),
        ),
      ),
    ),
  );
}

/** `has` a request, or a request and one of its alternatives: `gpu`, `gpu/large`. */
export interface RequestNames {
  has(name: string): boolean;
}

export function requestNamesOf({ requests = [] }: Sent<DeviceClaim>): RequestNames {
  const alternatives = new Map(
    requests.map(({ name = "", firstAvailable = [] }) => [
      name,
      new Set(firstAvailable.map((alternative) => alternative.name ?? "")),
    ]),
  );
  return {
    has(name) {
      const [request = "", alternative, ...more] = name.split("/");
      if (more.length > 0) return false;
      return alternative === undefined
        ? alternatives.has(request)
        : alternatives.get(request)?.has(alternative) === true;
    },
  };
}

const NO_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** The name of a request, or of an alternative in it. */
export function checkRequestReference(at: string, name: string, names: RequestNames): FieldError[] {
  const parts = name.split("/");
  if (parts.length > 2) return [field.invalid(at, name, NO_REQUEST)];
  return [
    ...parts.flatMap((part) => checkShortName(at, part)),
    ...(names.has(name) ? [] : [field.invalid(at, name, NO_REQUEST)]),
  ];
}

export function checkRequestReferences(at: string, requests: readonly string[], names: RequestNames): FieldError[] {
  return checkSet(
    at,
    requests,
    MAX_REQUESTS,
    (path, name) => checkRequestReference(path, name, names),
    (name) => name,
  );
}

export function checkClaimSpec(at: string, { devices = {} }: Sent<ResourceClaimSpec>): FieldError[] {
  const { requests = [], constraints = [], config = [] } = devices;
  const names = requestNamesOf(devices);
  return [
    ...checkSet(`${at}.devices.requests`, requests, MAX_REQUESTS, checkRequest, nameOf),
    ...checkList(`${at}.devices.constraints`, constraints, MAX_CONSTRAINTS, (path, constraint) =>
      checkConstraint(path, constraint, names),
    ),
    ...checkList(`${at}.devices.config`, config, MAX_CONFIGURATIONS, (path, item) =>
      checkClaimConfiguration(path, item, names),
    ),
  ];
}

const nameOf = ({ name = "" }: { readonly name?: string | undefined }): string => name;

function checkRequest(at: string, { name = "", exactly, firstAvailable = [] }: Sent<DeviceRequest>): FieldError[] {
  const errors = checkShortName(`${at}.name`, name);
  if (!exactly && firstAvailable.length === 0)
    return [...errors, field.required(at, "exactly one of `exactly` or `firstAvailable` is required")];
  if (exactly && firstAvailable.length > 0)
    return [
      ...errors,
      field.invalid(at, null, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"),
    ];
  if (exactly) return [...errors, ...checkDevices(`${at}.exactly`, exactly)];
  const checkAlternative = (path: string, alternative: Sent<DeviceSubRequest>): FieldError[] => [
    ...checkShortName(`${path}.name`, alternative.name ?? ""),
    ...checkDevices(path, alternative),
  ];
  return [...errors, ...checkSet(`${at}.firstAvailable`, firstAvailable, MAX_ALTERNATIVES, checkAlternative, nameOf)];
}

/** Rules for requests and their alternatives. */
function checkDevices(at: string, sent: Sent<ExactDeviceRequest | DeviceSubRequest>): FieldError[] {
  const { deviceClassName = "", selectors = [], allocationMode = "", count = 0, tolerations = [] } = sent;
  const errors =
    deviceClassName === ""
      ? [field.required(`${at}.deviceClassName`)]
      : checkText(`${at}.deviceClassName`, deviceClassName, dnsSubdomainProblems);
  errors.push(...checkSelectors(`${at}.selectors`, selectors));
  if (allocationMode === "All") {
    if (count !== 0)
      errors.push(field.invalid(`${at}.count`, count, "must not be specified when allocationMode is 'All'"));
  } else if (allocationMode === "ExactCount") {
    if (count <= 0) errors.push(field.invalid(`${at}.count`, count, "must be greater than zero"));
  } else errors.push(field.notSupported(`${at}.allocationMode`, allocationMode, MODES));
  return [...errors, ...checkTolerations(`${at}.tolerations`, tolerations)];
}

function checkConstraint(
  at: string,
  { requests = [], matchAttribute, distinctAttribute }: Sent<DeviceConstraint>,
  names: RequestNames,
): FieldError[] {
  const errors = checkRequestReferences(`${at}.requests`, requests, names);
  if (matchAttribute !== undefined)
    return [...errors, ...checkFullyQualifiedName(`${at}.matchAttribute`, matchAttribute)];
  if (distinctAttribute !== undefined)
    return [...errors, ...checkFullyQualifiedName(`${at}.distinctAttribute`, distinctAttribute)];
  return [
    ...errors,
    field.required(
      at,
      'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    ),
  ];
}

function checkClaimConfiguration(
  at: string,
  { requests = [], ...configuration }: Sent<DeviceClaimConfiguration>,
  names: RequestNames,
): FieldError[] {
  return [...checkRequestReferences(`${at}.requests`, requests, names), ...checkConfiguration(at, configuration)];
}
