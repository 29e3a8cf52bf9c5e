/** The memory of a Spark pod: the requested heap in Java's notation (`512m`, `2.5g`), plus Spark's overhead. */

/** Java's units are powers of 1024, like the quantity suffixes at the same index. */
const JAVA_UNITS = ["k", "m", "g", "t", "p"];
const SUFFIXES = ["Ki", "Mi", "Gi", "Ti", "Pi"];
/** Spark's minimum overhead. */
const LEAST_OVERHEAD: Size = { value: 384, unit: SUFFIXES.indexOf("Mi") };

interface Size {
  value: number;
  /** An index into the units. */
  unit: number;
}

/** Undefined for a string without one of the units: Spark's default unit depends on the field. */
export function parseJavaSize(text: string): Size | undefined {
  const [, digits = "", letter = ""] = /^(\d+(?:\.\d*)?)([kmgtp])b?$/.exec(text.toLowerCase()) ?? [];
  return letter === "" ? undefined : { value: Number(digits), unit: JAVA_UNITS.indexOf(letter) };
}

/** Heap plus overhead as a quantity string. Without an explicit overhead, a pod gets a fraction of its heap. */
export function totalMemory(heap: Size, overhead: Size | undefined, factor: number): string {
  const beside = overhead ?? larger({ value: heap.value * factor, unit: heap.unit }, LEAST_OVERHEAD);
  const unit = Math.min(heap.unit, beside.unit);
  // Six digits, as upstream: more digits would be a different quantity.
  return `${(inUnit(heap, unit) + inUnit(beside, unit)).toFixed(6)}${SUFFIXES[unit]}`;
}

const inUnit = ({ value, unit }: Size, other: number): number => value * 1024 ** (unit - other);

function larger(a: Size, b: Size): Size {
  const unit = Math.min(a.unit, b.unit);
  return { value: Math.max(inUnit(a, unit), inUnit(b, unit)), unit };
}
