/** Quantities such as `100m` and `1.5Gi`. */
import {
  addQuantities,
  compareQuantities,
  DECIMAL_EXPONENTS,
  type Quantity,
  subtractQuantities,
  tryParseQuantity,
} from "@flotilla/apimachinery";
import type { Row } from "../types/functions.ts";
import { intOf, MAX_INT, MIN_INT } from "../values/numbers.ts";
import { CelDouble, CelError, type CelInt, CelOpaque, type CelValue, NO_SUCH_OVERLOAD } from "../values/values.ts";

class CelQuantity extends CelOpaque {
  readonly typeName = "kubernetes.Quantity";
  readonly quantity: Quantity;
  /** The power of ten in which it was written: `1000m` is in thousandths, and therefore not an integer. */
  readonly scale: number;
  constructor(quantity: Quantity, scale: number) {
    super();
    this.quantity = quantity;
    this.scale = scale;
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof CelQuantity ? compareQuantities(this.quantity, other.quantity) === 0 : NO_SUCH_OVERLOAD;
  }

  /** The amount in units of 10^scale. */
  get units(): bigint {
    const { mantissa, exponent } = this.quantity;
    return exponent >= this.scale ? mantissa * 10n ** BigInt(exponent - this.scale) : mantissa;
  }

  get integer(): bigint | undefined {
    if (this.scale < 0) return undefined;
    const value = this.units * 10n ** BigInt(this.scale);
    return value < MIN_INT || value > MAX_INT ? undefined : value;
  }
}

const WRONG_FORMAT = new CelError(
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
);
const WRONG_SUFFIX = new CelError("unable to parse quantity's suffix");
/** Adjacent digits have a single possible match, so that matching a long text takes linear time. */
const SHAPE = /^[+-]?\d*(?:\.\d*)?(?:(?:[eEinumkKMGTP]+[-+]?|[-+])\d*)?$/;

function parse(text: string): CelQuantity | CelError {
  const quantity = tryParseQuantity(text);
  if (quantity) return new CelQuantity(quantity, scaleOf(text, quantity));
  return SHAPE.test(text) && /\d/.test(text.split(/[a-zA-Z]/)[0] ?? "") ? WRONG_SUFFIX : WRONG_FORMAT;
}

function scaleOf(text: string, { exponent }: Quantity): number {
  const [, fraction = "", suffix = ""] = /^[+-]?\d*(?:\.(\d*))?(.*)$/.exec(text) ?? [];
  if (suffix.endsWith("i")) return fraction === "" ? 0 : Math.min(-1, exponent);
  const power = DECIMAL_EXPONENTS.get(suffix) ?? Number(suffix.slice(1));
  return power - fraction.length;
}

/** A sum has the finer of the two scales, unless one operand is zero. */
function combine(a: CelQuantity, b: CelQuantity, run: typeof addQuantities): CelQuantity {
  const scale =
    b.quantity.mantissa === 0n ? a.scale : a.quantity.mantissa === 0n ? b.scale : Math.min(a.scale, b.scale);
  return new CelQuantity(run(a.quantity, b.quantity), scale);
}

const ofInt = (value: CelInt): CelQuantity =>
  new CelQuantity(
    addQuantities(
      { mantissa: BigInt(value), exponent: 0, format: "DecimalExponent" },
      { mantissa: 0n, exponent: 0, format: "DecimalExponent" },
    ),
    0,
  );
const compareTo = (a: CelQuantity, b: CelQuantity): number => compareQuantities(a.quantity, b.quantity);

function asInteger(value: CelQuantity): CelValue {
  const { integer } = value;
  return integer === undefined ? new CelError("cannot convert value to integer") : intOf(integer);
}

const asFloat = (value: CelQuantity): CelValue =>
  new CelDouble(value.scale === 0 ? Number(value.units) : Number(`${value.units}e${value.scale}`));

export const quantities: readonly Row[] = [
  ["quantity", "string_to_quantity", "(string) -> Quantity", parse],
  ["isQuantity", "is_quantity_string", "(string) -> bool", (text: string) => tryParseQuantity(text) !== undefined],
  [
    "sign",
    "quantity_sign",
    "(Quantity) -> int",
    ({ quantity }: CelQuantity) => (quantity.mantissa > 0n ? 1 : quantity.mantissa < 0n ? -1 : 0),
  ],
  [
    "isGreaterThan",
    "quantity_is_greater_than",
    "Quantity.(Quantity) -> bool",
    (a: CelQuantity, b: CelQuantity) => compareTo(a, b) > 0,
  ],
  [
    "isLessThan",
    "quantity_is_less_than",
    "Quantity.(Quantity) -> bool",
    (a: CelQuantity, b: CelQuantity) => compareTo(a, b) < 0,
  ],
  ["compareTo", "quantity_compare_to", "Quantity.(Quantity) -> int", compareTo],
  ["asApproximateFloat", "quantity_get_float", "Quantity.() -> double", asFloat],
  ["asInteger", "quantity_get_int", "Quantity.() -> int", asInteger],
  ["isInteger", "quantity_is_integer", "Quantity.() -> bool", (value: CelQuantity) => value.integer !== undefined],
  [
    "add",
    "quantity_add",
    "Quantity.(Quantity) -> Quantity",
    (a: CelQuantity, b: CelQuantity) => combine(a, b, addQuantities),
  ],
  [
    "add",
    "quantity_add_int",
    "Quantity.(int) -> Quantity",
    (a: CelQuantity, b: CelInt) => combine(a, ofInt(b), addQuantities),
  ],
  [
    "sub",
    "quantity_sub",
    "Quantity.(Quantity) -> Quantity",
    (a: CelQuantity, b: CelQuantity) => combine(a, b, subtractQuantities),
  ],
  [
    "sub",
    "quantity_sub_int",
    "Quantity.(int) -> Quantity",
    (a: CelQuantity, b: CelInt) => combine(a, ofInt(b), subtractQuantities),
  ],
];
