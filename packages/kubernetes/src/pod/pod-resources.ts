/** Validates the resources of a container or of a pod as a whole: names, amounts, and device claims. */
import type { DeepReadonly } from "@flotilla/base";
import {
  addQuantities,
  checkText,
  compareQuantities,
  dnsLabelProblems,
  field,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
  tryParseQuantity,
} from "@flotilla/apimachinery";
import type { FieldError, Quantity } from "@flotilla/apimachinery";
import type { Container, PodSpec, ResourceRequirements } from "@flotilla/apimachinery/facts/core-v1.ts";
import {
  checkContainerResourceName,
  checkResourceAmount,
  checkResourceName,
  mayBeOvercommitted,
} from "../resources/resource-names.ts";

type Read<T> = DeepReadonly<T>;
type Amounts = Readonly<Record<string, string | number>>;

const HUGE_PAGES = "hugepages-";
/** The most common resources. Their names are valid, so only the sign of the amount is checked. */
const COMPUTE = new Set(["cpu", "memory", "ephemeral-storage"]);

const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);
/** Resources that can be requested at the pod level. */
export const isPodLevelResource = (name: string): boolean => name === "cpu" || name === "memory" || isHugePages(name);

/** An amount whose form was already checked. */
export const amountOf = (amount: string | number): Quantity => tryParseQuantity(amount) ?? parseQuantity("0");

function checkPodResourceName(path: string, name: string): FieldError[] {
  const errors = checkResourceName(path, name);
  return errors.length > 0 || isPodLevelResource(name) ? errors : [field.notSupported(path, name, ["cpu", "memory"])];
}

function checkHugePages(errors: FieldError[], at: string, name: string, amount: string): void {
  const page = tryParseQuantity(name.slice(HUGE_PAGES.length));
  const fits =
    page !== undefined &&
    page.mantissa > 0n &&
    quantityMilliValue(page) % 1000n === 0n &&
    quantityValue(amountOf(amount)) % quantityValue(page) === 0n;
  if (!fits) errors.push(field.invalid(at, amount, `${amount} is not positive integer multiple of ${name}`));
}

const isCpuOrMemory = (name: string): boolean => name === "cpu" || name === "memory";

/** Requests and limits of a container; `claimNames` are the resource claims that the pod declares. */
export function checkContainerResources(
  errors: FieldError[],
  at: string,
  resources: Read<ResourceRequirements> | undefined,
  claimNames: ReadonlySet<string>,
): void {
  if (resources && (resources.limits || resources.requests || resources.claims))
    checkRequirements(errors, at, resources, claimNames, checkContainerResourceName);
}

function checkRequirements(
  errors: FieldError[],
  at: string,
  { limits = {}, requests = {}, claims }: Read<ResourceRequirements>,
  claimNames: ReadonlySet<string>,
  checkName: (field: string, name: string) => FieldError[],
): void {
  const isPod = checkName === checkPodResourceName;
  let hasCpuOrMemory = false;
  let hasHugePages = false;
  for (const name of Object.keys(limits)) {
    const path = `${at}.limits[${name}]`;
    const limit = String(limits[name]);
    if (!COMPUTE.has(name) || isPod) errors.push(...checkName(path, name));
    if (!COMPUTE.has(name) || limit.startsWith("-")) errors.push(...checkResourceAmount(path, name, limit));
    if (isHugePages(name)) checkHugePages(errors, path, name, limit);
    hasHugePages ||= isHugePages(name);
    hasCpuOrMemory ||= isCpuOrMemory(name);
  }
  for (const name of Object.keys(requests)) {
    const fieldPath = `${at}.requests[${name}]`;
    const request = String(requests[name]);
    if (!COMPUTE.has(name) || isPod) errors.push(...checkName(fieldPath, name));
    if (!COMPUTE.has(name) || request.startsWith("-")) errors.push(...checkResourceAmount(fieldPath, name, request));
    checkAgainstLimit(errors, at, name, request, limits[name]);
    if (isHugePages(name)) checkHugePages(errors, fieldPath, name, request);
    hasHugePages ||= isHugePages(name);
    hasCpuOrMemory ||= isCpuOrMemory(name);
  }
  if (hasHugePages && !hasCpuOrMemory) errors.push(field.forbidden(at, "HugePages require cpu or memory"));
  if (claims) checkClaims(errors, `${at}.claims`, claims, claimNames);
}

function checkAgainstLimit(
  errors: FieldError[],
  at: string,
  name: string,
  request: string,
  limit: string | number | undefined,
): void {
  if (limit === undefined) {
    if (!mayBeOvercommitted(name))
      errors.push(field.required(`${at}.limits`, "Limit must be set for non overcommitable resources"));
    return;
  }
  if (limit === request) return;
  const order = compareQuantities(amountOf(request), amountOf(limit));
  if (order !== 0 && !mayBeOvercommitted(name))
    errors.push(field.invalid(`${at}.requests`, request, `must be equal to ${name} limit of ${limit}`));
  else if (order > 0)
    errors.push(field.invalid(`${at}.requests`, request, `must be less than or equal to ${name} limit of ${limit}`));
}

function checkClaims(
  errors: FieldError[],
  at: string,
  claims: NonNullable<Read<ResourceRequirements>["claims"]>,
  claimNames: ReadonlySet<string>,
): void {
  const seen = new Set<string>();
  for (const [index, { name = "", request = "" }] of claims.entries()) {
    const path = `${at}[${index}]`;
    if (name === "") {
      errors.push(field.required(path));
      continue;
    }
    if (seen.has(name)) errors.push(field.duplicate(path, name));
    else {
      if (request !== "") errors.push(...checkText(`${path}.request`, request, dnsLabelProblems));
      const key = request === "" ? name : `${name}/${request}`;
      if (seen.has(key)) errors.push(field.duplicate(path, key));
      else if (request === "")
        for (const other of seen) if (other.startsWith(`${name}/`)) errors.push(field.duplicate(path, name));
      seen.add(key);
    }
    if (!claimNames.has(name)) {
      const known = claimNames.size === 0 ? " which is empty" : `: ${[...claimNames].sort().join(", ")}`;
      errors.push(field.notFound(path, name, `must be one of the names in pod.spec.resourceClaims${known}`));
    }
  }
}

/** Pod-level requests must cover the requests of the containers. */
export function checkPodResources(
  errors: FieldError[],
  at: string,
  spec: Read<PodSpec>,
  claimNames: ReadonlySet<string>,
): void {
  const { resources } = spec;
  if (!resources) return;
  const path = `${at}.resources`;
  if (spec.os?.name === "windows") {
    errors.push(field.forbidden(path, "may not be set for a windows pod"));
    return;
  }
  if (resources.claims)
    errors.push(field.forbidden(`${path}.claims`, "claims may not be set for Resources at pod-level"));
  checkRequirements(errors, path, resources, claimNames, checkPodResourceName);
  const { requests = {}, limits = {} } = resources;
  const needed = containerTotals(spec, "requests");
  for (const name of Object.keys(needed)) {
    const own = requests[name];
    const total = needed[name];
    if (own !== undefined && total && compareQuantities(total, amountOf(own)) > 0)
      errors.push(
        field.invalid(
          `${path}.requests[${name}]`,
          own,
          `must be greater than or equal to aggregate container requests of ${formatQuantity(total)}`,
        ),
      );
  }
  const allowed = containerTotals(spec, "limits");
  for (const name of Object.keys(allowed).filter(isHugePages)) {
    const own = limits[name];
    const total = allowed[name];
    if (own !== undefined && total && compareQuantities(total, amountOf(own)) > 0)
      errors.push(
        field.invalid(
          `${path}.limits[${name}]`,
          own,
          `must be greater than or equal to aggregate container limits of ${formatQuantity(total)}`,
        ),
      );
  }
  for (const [index, container] of (spec.containers ?? []).entries()) {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const own = limits[name];
      if (own !== undefined && compareQuantities(amountOf(limit), amountOf(own)) > 0)
        errors.push(
          field.invalid(
            `${path}.containers[${index}][${name}].limits`,
            limit,
            `must be less than or equal to pod limits of ${own}`,
          ),
        );
    }
  }
}

/**
 * The total of all containers of a pod: the sum of those that run in parallel, or the need of an init container
 * together with the sidecars started before it, whichever is greater.
 */
export function containerTotals(spec: Read<PodSpec>, part: "requests" | "limits"): Record<string, Quantity> {
  const totals: Record<string, Quantity> = {};
  const sidecars: Record<string, Quantity> = {};
  const initial: Record<string, Quantity> = {};
  for (const container of spec.containers ?? []) add(totals, container.resources?.[part]);
  for (const container of spec.initContainers ?? []) {
    const amounts = container.resources?.[part];
    if (isSidecar(container)) {
      add(totals, amounts);
      add(sidecars, amounts);
      raise(initial, sidecars);
    } else {
      const together = { ...sidecars };
      add(together, amounts);
      raise(initial, together);
    }
  }
  raise(totals, initial);
  return totals;
}

/** An init container with restartPolicy Always keeps running beside the others. */
export const isSidecar = ({ restartPolicy }: Read<Container>): boolean => restartPolicy === "Always";

function add(totals: Record<string, Quantity>, amounts: Amounts = {}): void {
  for (const [name, amount] of Object.entries(amounts)) {
    const before = totals[name];
    totals[name] = before ? addQuantities(before, amountOf(amount)) : amountOf(amount);
  }
}

function raise(totals: Record<string, Quantity>, others: Readonly<Record<string, Quantity>>): void {
  for (const [name, amount] of Object.entries(others)) {
    const before = totals[name];
    if (!before || compareQuantities(amount, before) > 0) totals[name] = amount;
  }
}
