/**
 * Pod requests and node capacity as plain numbers: choosing a node compares thousands of them. Every resource is
 * counted in thousandths so that cpu stays an integer; memory is exact up to eight terabytes.
 */
import type { Pod } from "@flotilla/kubernetes";
import type { PodSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { quantityMilliValue, tryParseQuantity } from "@flotilla/apimachinery";

/** Thousandths by resource name (`cpu`, `memory`, `example.com/gpu`). A missing resource is 0. */
export type Amounts = ReadonlyMap<string, number>;

type Quantities = Readonly<Record<string, string | number>> | undefined;

/**
 * Templates repeat a handful of quantities; the limit keeps arbitrary quantities from many clients from filling the
 * memory.
 */
const MAX_KNOWN = 4096;
const known = new Map<string | number, number>();

/** An unparsable quantity counts as 0; the API server has already rejected such objects. */
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

/** The units that kubelets and schedulers report: cpu in thousandths, everything else in whole units. */
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
 * The requests that the scheduler counts. Replicas have equal requests and share one map: a hundred thousand pods need
 * only a handful of maps.
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
 * The sum over the containers that run side by side, or an init container plus the sidecars started before it if that
 * is more; then the pod-level requests; then the overhead.
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
