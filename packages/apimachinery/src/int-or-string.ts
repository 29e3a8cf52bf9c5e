/** Values such as `maxUnavailable` that are a number or a percentage of a total. */
import { badRequest } from "./status.ts";

export type IntOrString = number | string;

/** The number that the value represents for `total`. A percentage is rounded as requested. */
export function scaledValue(value: IntOrString, total: number, { roundUp }: { roundUp: boolean }): number {
  if (typeof value === "number") return value;
  const match = /^([+-]?\d{1,9})%$/.exec(value);
  if (!match)
    throw badRequest(
      `invalid value for IntOrString: invalid type: string is not a percentage: ${JSON.stringify(value.slice(0, 100))}`,
    );
  // The product is exact, so that 7 % of 100 is 7 and not 7.000000000000001.
  const scaled = (Number(match[1]) * total) / 100;
  return roundUp ? Math.ceil(scaled) : Math.floor(scaled);
}
