/** The Lease that the active controllers process of a hub holds. */
import { HUB, isNotFound } from "@flotilla/apimachinery";
import { formatMicroTime, sleep } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { CONTROLLERS_LEASE } from "@flotilla/flotilla";
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";
import { Lease } from "@flotilla/kubernetes";

export const CONTROLLERS_LEASE_KEY = { cluster: HUB, namespace: KARMADA_SYSTEM_NAMESPACE, name: CONTROLLERS_LEASE };

/** As often as a leader renews, and for as long. */
const RENEW_MS = 2_000;
const DURATION_SECONDS = 15;

export interface UnelectedOptions {
  client: Client;
  clock: Clock;
  log: Log;
  identity: string;
}

/** Leads without an election, and renews the Lease meanwhile. */
export async function renewingWhile(
  options: UnelectedOptions,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const renewal = renewUnelected(options, AbortSignal.any([signal, ended.signal]));
  try {
    await lead(signal);
  } finally {
    ended.abort();
    await renewal;
  }
}

/** Renews the Lease of controllers that run without an election, so that clients know that they run. */
export async function renewUnelected(
  { client, clock, log, identity }: UnelectedOptions,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, namespace, name } = CONTROLLERS_LEASE_KEY;
  while (!signal.aborted) {
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: DURATION_SECONDS,
      renewTime: formatMicroTime(clock.now()),
    };
    try {
      await client.patch(Lease, CONTROLLERS_LEASE_KEY, { spec }, { type: "merge", signal }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return client.create(
          Lease,
          cluster,
          { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { namespace, name }, spec },
          { signal },
        );
      });
    } catch (error) {
      if (!signal.aborted) log.debug("lease not renewed, retrying", { error });
    }
    await sleep(clock, RENEW_MS, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
