/** Amounts of several resources, as quotas count them. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
  type Quantity,
} from "@flotilla/apimachinery";

export type Amounts = ReadonlyMap<string, Quantity>;
type Written = Readonly<Record<string, string | number>>;

const ZERO = parseQuantity("0");
export const ONE = parseQuantity("1");

export function readAmounts(written: Written = {}): Amounts {
  return new Map(Object.entries(written).map(([name, amount]) => [name, parseQuantity(amount)]));
}

export function writeAmounts(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(
    [...amounts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, amount]) => [name, formatQuantity(amount)]),
  );
}

function combine(a: Amounts, b: Amounts, join: (a: Quantity, b: Quantity) => Quantity): Amounts {
  const joined = new Map(a);
  for (const [name, amount] of b) joined.set(name, join(a.get(name) ?? ZERO, amount));
  return joined;
}

export const addAmounts = (a: Amounts, b: Amounts): Amounts => combine(a, b, addQuantities);

/** Never below zero: releasing an amount twice by mistake must not increase the quota. */
export const subtractAmounts = (a: Amounts, b: Amounts): Amounts =>
  combine(a, b, (x, y) => {
    const rest = subtractQuantities(x, y);
    return compareQuantities(rest, ZERO) < 0 ? ZERO : rest;
  });

/** Only the given resources. */
export function onlyAmounts(amounts: Amounts, names: ReadonlySet<string>): Amounts {
  return new Map([...amounts].filter(([name]) => names.has(name)));
}

export const withoutZeros = (amounts: Amounts): Amounts =>
  new Map([...amounts].filter(([, { mantissa }]) => mantissa !== 0n));

/** The names of resources above their limit; resources without a limit are not included. */
export function exceeding(amounts: Amounts, bounds: Amounts): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, amount] of amounts) {
    const bound = bounds.get(name);
    if (bound && compareQuantities(amount, bound) > 0) names.add(name);
  }
  return names;
}

export function sameAmounts(a: Amounts, b: Amounts): boolean {
  if (a.size !== b.size) return false;
  for (const [name, amount] of a) {
    const other = b.get(name);
    if (!other || compareQuantities(amount, other) !== 0) return false;
  }
  return true;
}
