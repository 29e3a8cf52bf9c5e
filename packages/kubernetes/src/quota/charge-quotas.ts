/**
 * Charges what one write uses to all quotas that count it, or to none. Each charge is a compare-and-set of the quota's
 * status, so two requests can never both take the rest; it is released if the write fails.
 */
import type { ClusterWriter, KindRef, KubernetesObject, Reservation } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Amounts } from "./amounts.ts";

export interface QuotaCharges<Q extends KubernetesObject> {
  kind: KindRef<Q>;
  charges: readonly (readonly [DeepReadonly<Q>, Amounts])[];
  /** The status after the charge. Throws when it exceeds the quota. */
  charged(quota: DeepReadonly<Q>, charge: Amounts): object;
  /** The status after the charge was undone. */
  released(quota: DeepReadonly<Q>, charge: Amounts): object;
}

/** Undefined at once for what no quota counts. */
export function chargeQuotas<Q extends KubernetesObject>(
  charges: QuotaCharges<Q>,
  write: ClusterWriter,
): Promise<Reservation> | undefined {
  return charges.charges.length === 0 ? undefined : charge(charges, write);
}

async function charge<Q extends KubernetesObject>(
  { kind, charges, charged, released }: QuotaCharges<Q>,
  write: ClusterWriter,
): Promise<Reservation> {
  // Rejects before anything is written, where the result is already known.
  for (const [quota, charge] of charges) charged(quota, charge);
  const done: QuotaCharges<Q>["charges"][number][] = [];
  const giveBack = async (): Promise<void> => {
    for (const [{ metadata }, charge] of done)
      await write.changeStatus(kind, metadata.namespace, metadata.name, (stored) => released(stored, charge));
  };
  try {
    for (const [quota, charge] of charges) {
      const { metadata } = quota;
      await write.changeStatus(kind, metadata.namespace, metadata.name, (stored) => charged(stored, charge));
      done.push([quota, charge]);
    }
  } catch (error) {
    await giveBack();
    throw error;
  }
  return { release: giveBack };
}
