/** A quantity as Prometheus has it: a number. */
import type { Quantity } from "../machinery/index.ts";

export function numberOfQuantity({ mantissa, exponent }: Quantity): number {
  // Dividing is exact where multiplying with a fraction is not.
  return exponent < 0 ? Number(mantissa) / 10 ** -exponent : Number(mantissa) * 10 ** exponent;
}
