/** Converts a quantity to a number, for Prometheus. */
import type { Quantity } from "@flotilla/apimachinery";

export function numberOfQuantity({ mantissa, exponent }: Quantity): number {
  // Division is exact where multiplication by a fraction is not.
  return exponent < 0 ? Number(mantissa) / 10 ** -exponent : Number(mantissa) * 10 ** exponent;
}
