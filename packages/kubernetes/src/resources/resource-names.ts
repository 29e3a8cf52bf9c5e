/**
 * Names of resources that pods request and quotas count: `cpu`, `requests.memory`, `count/jobs.batch`,
 * `example.com/gpu`.
 */
import {
  checkText,
  compareQuantities,
  field,
  formatQuantity,
  labelKeyProblems,
  parseQuantity,
  quantityMilliValue,
  quantityOfMilli,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";

const COMPUTE = ["cpu", "memory", "ephemeral-storage"];
const COUNTED = [
  "pods",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const CONTAINER = new Set(COMPUTE);
const QUOTA = new Set([
  ...COMPUTE,
  ...COMPUTE.map((name) => `requests.${name}`),
  "requests.storage",
  ...COMPUTE.map((name) => `limits.${name}`),
  ...COUNTED,
]);
const STANDARD = new Set([...QUOTA, "storage"]);
const INTEGER = new Set(COUNTED);

const isHugePages = (name: string): boolean => name.startsWith("hugepages-");
const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith("requests.hugepages-");

export const isStandardQuotaResource = (name: string): boolean => QUOTA.has(name) || isQuotaHugePages(name);

/** A Kubernetes resource, or one without a domain. */
export const isNativeResource = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/");

/** `example.com/gpu`: defined by a vendor, counted in integers. */
export function isExtendedResource(name: string): boolean {
  return !isNativeResource(name) && !name.startsWith("requests.") && labelKeyProblems(`requests.${name}`).length === 0;
}

/** Requests may be less than limits. */
export const mayBeOvercommitted = (name: string): boolean => isNativeResource(name) && !isHugePages(name);

export function checkResourceName(path: string, name: string): FieldError[] {
  const errors = checkText(path, name, labelKeyProblems);
  if (errors.length > 0 || name.includes("/") || STANDARD.has(name) || isQuotaHugePages(name)) return errors;
  return [field.invalid(path, name, "must be a standard resource type or fully qualified")];
}

export function checkContainerResourceName(path: string, name: string): FieldError[] {
  const errors = checkResourceName(path, name);
  if (!name.includes("/"))
    return CONTAINER.has(name) || isHugePages(name)
      ? errors
      : [...errors, field.invalid(path, name, "must be a standard resource for containers")];
  return isNativeResource(name) || isExtendedResource(name)
    ? errors
    : [...errors, field.invalid(path, name, "doesn't follow extended resource name standard")];
}

export function checkQuotaResourceName(path: string, name: string): FieldError[] {
  const errors = checkResourceName(path, name);
  return name.includes("/") || isStandardQuotaResource(name)
    ? errors
    : [...errors, field.invalid(path, name, "must be a standard resource for quota")];
}

const ZERO = parseQuantity("0");

export function checkQuantityNotNegative(path: string, value: string | number): FieldError[] {
  return compareQuantities(parseQuantity(value), ZERO) < 0
    ? [field.invalid(path, value, "must be greater than or equal to 0")]
    : [];
}

/** An amount of a resource: not negative, and an integer where the resource is counted. */
export function checkResourceAmount(path: string, name: string, value: string | number): FieldError[] {
  const errors = checkQuantityNotNegative(path, value);
  if (!INTEGER.has(name) && !isExtendedResource(name)) return errors;
  return quantityMilliValue(parseQuantity(value)) % 1000n === 0n
    ? errors
    : [...errors, field.invalid(path, value, "must be an integer")];
}

/**
 * Rounds amounts finer than a thousandth up; returns the same object when there are none. Amounts are in canonical
 * form.
 */
export function roundAmounts<T extends Readonly<Record<string, string | number>>>(amounts: T): T {
  let result: T = amounts;
  for (const name in amounts) {
    const amount = amounts[name];
    if (typeof amount !== "string" || !/[nu]$|e-/.test(amount)) continue;
    const quantity = parseQuantity(amount);
    result = { ...result, [name]: formatQuantity(quantityOfMilli(quantityMilliValue(quantity), quantity.format)) };
  }
  return result;
}
