/**
 * Functions of Go's `math` that round differently from JavaScript's. A script that prints a result shows every digit,
 * so the same steps are used.
 */

/** The fraction in [0.5, 1) and the exponent of two of a number. */
export function frexp(value: number): [fraction: number, exponent: number] {
  if (value === 0 || !Number.isFinite(value)) return [value, 0];
  let exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(value))) + 1);
  let fraction = value * 2 ** -exponent;
  for (; Math.abs(fraction) < 0.5; exponent--) fraction *= 2;
  for (; Math.abs(fraction) >= 1; exponent++) fraction /= 2;
  return [fraction, exponent];
}

/** Beyond this every number is zero or infinite. */
const FARTHEST_EXPONENT = 2200;

/** In two steps, because 2 to a large exponent alone may be infinite. */
export function ldexp(value: number, exponent: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const bounded = Math.max(-FARTHEST_EXPONENT, Math.min(FARTHEST_EXPONENT, exponent));
  const half = Math.trunc(bounded / 2);
  return value * 2 ** half * 2 ** (bounded - half);
}

/** Exponents from here on are even, and too large for step-by-step squaring. */
const HUGE_EXPONENT = 2 ** 52;
/** With an exponent of two beyond this, the result is zero or infinite in any case. */
const OVERFLOW = 2 ** 12;

/** By squaring, with the exponent of two kept separately. */
export function power(base: number, exponent: number): number {
  if (exponent === 2) return base * base;
  // JavaScript returns NaN where one side is ±1; Go and C return 1.
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1;
  const size = Math.abs(exponent);
  const isPlain = Number.isFinite(base) && base !== 0 && size < HUGE_EXPONENT && size > 0 && size !== 0.5;
  // Squares, roots and limits are the same in both; a fractional power of a negative number is NaN.
  if (!isPlain || (base < 0 && !Number.isInteger(exponent)))
    return size === 0.5 && base >= 0 ? (exponent > 0 ? Math.sqrt(base) : 1 / Math.sqrt(base)) : base ** exponent;
  let whole = Math.trunc(size);
  let rest = size - whole;
  if (rest > 0.5) {
    rest -= 1;
    whole += 1;
  }
  let result = rest === 0 ? 1 : Math.exp(rest * Math.log(base));
  let resultExponent = 0;
  let [square, squareExponent] = frexp(base);
  for (let left = whole; left > 0; left = Math.floor(left / 2)) {
    if (Math.abs(squareExponent) > OVERFLOW) {
      resultExponent += squareExponent;
      break;
    }
    if (left % 2 === 1) {
      result *= square;
      resultExponent += squareExponent;
    }
    square *= square;
    squareExponent *= 2;
    if (square < 0.5) {
      square += square;
      squareExponent -= 1;
    }
  }
  return exponent < 0 ? ldexp(1 / result, -resultExponent) : ldexp(result, resultExponent);
}
