/**
 * Sums resources as Karmada does: cpu in thousandths, everything else in whole units; besides cpu, memory, storage and
 * pods only extended resources, huge pages and attachable volumes. Pure.
 */
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import {
  formatQuantity,
  quantityMilliValue,
  quantityOfMilli,
  quantityValue,
  tryParseQuantity,
} from "@flotilla/apimachinery";

type ResourceList = Readonly<Record<string, string | number>>;

/** By resource: thousandths of cpu, units of the others. */
export type Totals = Map<string, bigint>;

const PLAIN: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage", "pods"]);

/**
 * Which resource names count: `kubernetes.io/` prefixes, quota requests and names without a domain mean something else.
 */
function isCounted(name: string): boolean {
  if (PLAIN.has(name)) return true;
  if (name.startsWith("hugepages-") || name.startsWith("attachable-volumes-")) return true;
  return name.includes("/") && !name.startsWith("requests.");
}

/** An unparsable quantity counts as zero: member data is untrusted, and nodes may report anything. */
export function amountOf(name: string, quantity: string | number): bigint {
  const parsed = tryParseQuantity(quantity);
  if (!parsed) return 0n;
  return name === "cpu" ? quantityMilliValue(parsed) : quantityValue(parsed);
}

export function addTo(totals: Totals, name: string, amount: bigint): void {
  totals.set(name, (totals.get(name) ?? 0n) + amount);
}

export function addTotals(totals: Totals, more: Totals): void {
  for (const [name, amount] of more) addTo(totals, name, amount);
}

/** A pod's request: the sum over its containers, or the largest init container if that is more, plus the overhead. */
export function requestOf({ spec }: DeepReadonly<Pod>): Totals {
  const request: Totals = new Map();
  for (const { resources } of spec.containers ?? [])
    for (const [name, amount] of counted(resources?.requests)) addTo(request, name, amount);
  for (const { resources } of spec.initContainers ?? []) {
    for (const [name, amount] of counted(resources?.requests))
      if (amount > (request.get(name) ?? 0n)) request.set(name, amount);
  }
  for (const [name, amount] of counted(spec.overhead)) addTo(request, name, amount);
  return request;
}

function* counted(list: ResourceList | undefined): Generator<[string, bigint]> {
  for (const [name, quantity] of Object.entries(list ?? {}))
    if (isCounted(name)) yield [name, amountOf(name, quantity)];
}

/** In the status format; zero amounts are omitted. */
export function resourceListOf(totals: Totals): Record<string, string> | undefined {
  const shown = Array.from(totals)
    .filter(([, amount]) => amount > 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return shown.length === 0
    ? undefined
    : Object.fromEntries(shown.map(([name, amount]) => [name, formatAmount(name, amount)]));
}

const BINARY: ReadonlySet<string> = new Set(["memory", "ephemeral-storage"]);

function formatAmount(name: string, amount: bigint): string {
  if (name === "cpu") return formatQuantity(quantityOfMilli(amount));
  return formatQuantity(
    quantityOfMilli(amount * 1000n, BINARY.has(name) || name.startsWith("hugepages-") ? "BinarySI" : "DecimalSI"),
  );
}
