/**
 * Resource amounts as plain numbers: thousandths of a CPU, and whole units of everything else. Quantities are exact and
 * slow; they are parsed once, when a cluster or a binding changes, and then compared with a thousand others.
 */
import type { Quantity as QuantityText } from "@flotilla/apimachinery/facts/scalars.ts";
import {
  addQuantities,
  quantityMilliValue,
  quantityValue,
  subtractQuantities,
  tryParseQuantity,
  type Quantity,
} from "@flotilla/apimachinery";

/** Resource name to quantity, as in API objects. */
export type ResourceList = Readonly<Record<string, QuantityText>>;
export type Amounts = ReadonlyMap<string, number>;

export const PODS = "pods";
const CPU = "cpu";

/**
 * Rounded up, so that a fraction of a byte is a byte. Beyond 2^53 the last digits are lost, which is irrelevant for
 * estimates.
 */
function amountOf(name: string, quantity: Quantity): number {
  return Number(name === CPU ? quantityMilliValue(quantity) : quantityValue(quantity));
}

/** An invalid quantity counts as zero: admission rejects it, and one broken entry must not hide a cluster. */
function quantityOf(text: QuantityText | undefined): Quantity {
  return (text === undefined ? undefined : tryParseQuantity(text)) ?? NOTHING;
}
const NOTHING: Quantity = { mantissa: 0n, exponent: 0, format: "DecimalSI" };

export function readAmounts(list: ResourceList | undefined): Amounts {
  return readAmountsOf(Object.entries(list ?? {}));
}

export function readAmountsOf(entries: Iterable<readonly [string, QuantityText]>): Map<string, number> {
  const amounts = new Map<string, number>();
  for (const [name, text] of entries) amounts.set(name, amountOf(name, quantityOf(text)));
  return amounts;
}

/** The rest of `total` for every resource that it names; negative where usage exceeds it. */
export function readFree(total: ResourceList | undefined, ...used: (ResourceList | undefined)[]): Amounts {
  const free = new Map<string, number>();
  for (const [name, text] of Object.entries(total ?? {})) {
    const taken = used.reduce((sum, list) => addQuantities(sum, quantityOf(list?.[name])), NOTHING);
    free.set(name, amountOf(name, subtractQuantities(quantityOf(text), taken)));
  }
  return free;
}
