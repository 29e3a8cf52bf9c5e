/** The Leases of the processes that run the hub's controllers. */
import { HUB, isNotFound } from "@flotilla/apimachinery";
import { formatMicroTime, sleep } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { CONTROLLERS_LEASE } from "@flotilla/flotilla";
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";
import { Lease } from "@flotilla/kubernetes";

/** Of the group `propagation`; its existence says that the controllers are processes of their own. */
export const CONTROLLERS_LEASE_KEY = { cluster: HUB, namespace: KARMADA_SYSTEM_NAMESPACE, name: CONTROLLERS_LEASE };

/**
 * Shorter than Kubernetes' defaults: a standby is warm, so a take-over costs little, and one that was not necessary, too.
 * After the end of a process another one leads within the duration, one retry and the time of a few requests.
 */
export const CONTROLLER_LEASE_TIMES = { leaseDurationMs: 7_000, renewDeadlineMs: 5_500, retryMs: 1_000 };

export interface UnelectedOptions {
  client: Client;
  clock: Clock;
  log: Log;
  identity: string;
  lease: Required<ObjectKey>;
}

/** Renews the Lease of controllers that run without an election, so that clients know that they run. */
export async function renewUnelected(options: UnelectedOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, log, identity, lease } = options;
  const { cluster, namespace, name } = lease;
  while (!signal.aborted) {
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: CONTROLLER_LEASE_TIMES.leaseDurationMs / 1000,
      renewTime: formatMicroTime(clock.now()),
    };
    try {
      await client.patch(Lease, lease, { spec }, { type: "merge", signal }).catch((error: unknown) => {
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
    await sleep(clock, CONTROLLER_LEASE_TIMES.retryMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
