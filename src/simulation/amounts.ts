/**
 * How much pods ask for and nodes have, as plain numbers: choosing a node compares thousands of them. Every resource
 * counts in thousandths, so that cpu stays whole; of memory that is exact up to eight terabytes.
 */
import type { Pod, PodSpec } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { quantityMilliValue, tryParseQuantity } from "../machinery/index.ts";

/** Thousandths by resource name (`cpu`, `memory`, `example.com/gpu`). What is not there is 0. */
export type Amounts = ReadonlyMap<string, number>;

type Quantities = Readonly<Record<string, string | number>> | undefined;

/** Templates repeat a handful of texts; what many different clients make up must not fill the memory. */
const MAX_KNOWN = 4096;
const known = new Map<string | number, number>();

/** What cannot be read asks for nothing; the API server has already refused such objects. */
export function milli(text: string | number | undefined): number {
  if (text === undefined) return 0;
  let value = known.get(text);
  if (value === undefined) {
    const quantity = tryParseQuantity(text);
    value = quantity ? Number(quantityMilliValue(quantity)) : 0;
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, value);
  }
  return value;
}

/** As kubelets and schedulers tell people: cpu in thousandths, everything else whole. */
export function inUnits(name: string, milliAmount: number): number {
  return name === "cpu" ? milliAmount : Math.round(milliAmount / 1000);
}

export function amountsOf(quantities: Quantities): Map<string, number> {
  const amounts = new Map<string, number>();
  for (const name in quantities) amounts.set(name, milli(quantities[name]));
  return amounts;
}

export function addAmounts(target: Map<string, number>, amounts: Amounts, sign: 1 | -1 = 1): void {
  for (const [name, amount] of amounts) target.set(name, (target.get(name) ?? 0) + sign * amount);
}

function raise(target: Map<string, number>, amounts: Amounts): void {
  for (const [name, amount] of amounts) if (amount > (target.get(name) ?? 0)) target.set(name, amount);
}

const requestsKnown = new Map<string, Amounts>();

/**
 * What the scheduler counts. Replicas ask for the same, so they share the answer: a hundred thousand pods hold a
 * handful of them.
 */
export function requestsOf({ spec }: DeepReadonly<Pick<Pod, "spec">>): Amounts {
  const { containers, initContainers, resources, overhead } = spec;
  const key = JSON.stringify([
    containers.map((container) => container.resources?.requests),
    initContainers?.map((container) => [container.restartPolicy, container.resources?.requests]),
    resources?.requests,
    overhead,
  ]);
  let requests = requestsKnown.get(key);
  if (!requests) {
    requests = countRequests(spec);
    if (requestsKnown.size >= MAX_KNOWN) requestsKnown.clear();
    requestsKnown.set(key, requests);
  }
  return requests;
}

/**
 * The containers that run side by side, or an init container together with the sidecars that were
 * started before it where that is more; then what the pod states as a whole; then its overhead.
 */
function countRequests(spec: DeepReadonly<PodSpec>): Amounts {
  const total = new Map<string, number>();
  for (const { resources } of spec.containers)
    if (resources?.requests) addAmounts(total, amountsOf(resources.requests));
  if (spec.initContainers?.length) addInit(total, spec.initContainers);
  for (const name in spec.resources?.requests) total.set(name, milli(spec.resources.requests[name]));
  if (spec.overhead) addAmounts(total, amountsOf(spec.overhead));
  return total;
}

function addInit(total: Map<string, number>, containers: NonNullable<DeepReadonly<PodSpec>["initContainers"]>): void {
  const sidecars = new Map<string, number>();
  const most = new Map<string, number>();
  for (const { resources, restartPolicy } of containers) {
    const amounts = amountsOf(resources?.requests);
    if (restartPolicy === "Always") {
      addAmounts(total, amounts);
      addAmounts(sidecars, amounts);
      raise(most, sidecars);
    } else {
      const together = new Map(sidecars);
      addAmounts(together, amounts);
      raise(most, together);
    }
  }
  raise(total, most);
}
