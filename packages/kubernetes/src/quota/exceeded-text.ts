/** What Kubernetes says of a charge that a ResourceQuota has no room for. Pure. */
import { addAmounts, exceeding, onlyAmounts, writeAmounts } from "./amounts.ts";
import type { Amounts } from "./amounts.ts";

/** Undefined if the quota has room. */
export function exceededText(
  quota: string,
  { charge, used, hard }: { charge: Amounts; used: Amounts; hard: Amounts },
): string | undefined {
  const names = exceeding(onlyAmounts(addAmounts(used, charge), new Set(charge.keys())), hard);
  if (names.size === 0) return undefined;
  const shown = (amounts: Amounts): string =>
    Object.entries(writeAmounts(onlyAmounts(amounts, names)))
      .map(([name, amount]) => `${name}=${amount}`)
      .join(",");
  return `exceeded quota: ${quota}, requested: ${shown(charge)}, used: ${shown(used)}, limited: ${shown(hard)}`;
}
