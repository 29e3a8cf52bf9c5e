/**
 * `status.overallUsed` of a FederatedResourceQuota. Pure.
 *
 * Admission adds to it before a binding is stored, so a sum over the stored bindings may lack what was just reserved.
 * The sum is adopted at once where it is higher. Where it is lower, only what bindings are known to have given back is
 * subtracted at once; the rest when nothing was reserved for a while, because a reservation is followed by its write.
 */
import type { DeepReadonly } from "@flotilla/base";
import { addAmounts, onlyAmounts, readAmounts, subtractAmounts } from "@flotilla/kubernetes";
import type { Amounts } from "@flotilla/kubernetes";
import type { FederatedResourceQuota, ResourceBinding } from "@flotilla/karmada";
import { compareQuantities } from "@flotilla/apimachinery";
import { usageOfBinding } from "./binding-usage.ts";

type Quota = DeepReadonly<FederatedResourceQuota>;

export interface UsagePlan {
  used: Amounts;
  /** More is reserved than bindings use: it is released when this stays so. */
  isAbove: boolean;
}

export function planQuotaUsage(
  { spec, status }: Quota,
  bindings: readonly DeepReadonly<ResourceBinding>[],
  givenBack: Amounts,
  isQuiet: boolean,
): UsagePlan {
  const names = new Set(Object.keys(spec.overall));
  const zero = new Map([...readAmounts(spec.overall)].map(([name, amount]) => [name, { ...amount, mantissa: 0n }]));
  const sum = addAmounts(zero, onlyAmounts(bindings.map(usageOfBinding).reduce(addAmounts, new Map()), names));
  if (!status?.overallUsed || isQuiet) return { used: sum, isAbove: false };
  const reserved = onlyAmounts(subtractAmounts(readAmounts(status.overallUsed), onlyAmounts(givenBack, names)), names);
  const used = new Map(
    [...sum].map(([name, amount]) => {
      const other = reserved.get(name);
      return [name, other && compareQuantities(other, amount) > 0 ? other : amount];
    }),
  );
  return { used, isAbove: [...used].some(([name, amount]) => isMore(amount, sum.get(name))) };
}

const isMore = (a: Parameters<typeof compareQuantities>[0], b: typeof a | undefined): boolean =>
  b === undefined || compareQuantities(a, b) > 0;
