/**
 * The Lease of a leader election, as one candidate observes and writes it.
 *
 * Reads and writes: the Lease. A write names the version it replaces, so only one of two concurrent candidates
 * succeeds.
 */
import { isConflict, isNotFound } from "@flotilla/apimachinery";
import { equalJson, formatMicroTime, type Clock, type DeepReadonly, type Log, type Timer } from "@flotilla/base";
import { find, type Client, type ObjectKey } from "@flotilla/client";
import { Lease } from "./kinds.ts";

type LeaseSpec = NonNullable<Lease["spec"]>;

export interface ElectionLeaseOptions {
  client: Client;
  clock: Clock;
  log: Log;
  key: Required<ObjectKey>;
  identity: string;
  /** How long other candidates wait after the last renewal they observed. */
  durationMs: number;
}

export interface ElectionLease {
  /** The lease as last observed or written. */
  readonly observed: DeepReadonly<Lease> | undefined;
  /** The leader when last observed; empty when there was none. */
  readonly holder: string;
  /** Discards the observations of an earlier run; only new ones count. */
  reset(): void;
  /** One attempt to acquire or renew the lease. */
  attempt(isLeading: boolean, signal: AbortSignal): Promise<"held" | "taken">;
  release(signal: AbortSignal): Promise<void>;
  /** Stops waiting for the expiry. */
  close(): void;
}

export function createElectionLease(options: ElectionLeaseOptions): ElectionLease {
  const { client, clock, log, key, identity, durationMs } = options;
  let observed: DeepReadonly<Lease> | undefined;
  /** The last requested write; whether the server executed it is not always known. */
  let requestedSpec: Lease["spec"];
  let isExpired = false;
  let expiry: Timer | undefined;

  const observe = (lease: DeepReadonly<Lease>): void => {
    const before = observed;
    observed = lease;
    if (before && equalJson(before.spec, lease.spec)) return;
    expiry?.cancel();
    isExpired = false;
    const seconds = lease.spec?.leaseDurationSeconds;
    expiry = clock.after(seconds === undefined ? durationMs : seconds * 1000, () => (isExpired = true));
    if (before?.spec?.holderIdentity !== lease.spec?.holderIdentity)
      log.debug("leader seen", { leader: holderOf(lease) });
  };

  /** The next content of the lease. */
  const specAfter = (lease: DeepReadonly<Lease> | undefined, isOurs: boolean): LeaseSpec => ({
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    ...termAfter(lease, isOurs, formatMicroTime(clock.now())),
  });
  const update = async (lease: DeepReadonly<Lease>, spec: LeaseSpec, signal: AbortSignal): Promise<void> => {
    requestedSpec = spec;
    observe(await client.update(Lease, key.cluster, { ...lease, spec }, { signal }));
  };
  const create = async (signal: AbortSignal): Promise<void> => {
    requestedSpec = specAfter(undefined, false);
    observe(
      await client.create(
        Lease,
        key.cluster,
        {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { namespace: key.namespace, name: key.name },
          spec: requestedSpec,
        },
        { signal },
      ),
    );
  };

  return {
    get observed() {
      return observed;
    },
    get holder() {
      return observed ? holderOf(observed) : "";
    },
    reset: () => void (observed = undefined),
    close: () => expiry?.cancel(),

    async attempt(isLeading, signal) {
      try {
        if (isLeading && observed) {
          await update(observed, specAfter(observed, true), signal);
          return "held";
        }
      } catch (error) {
        // Another candidate wrote it; its identity is read below.
        if (!isConflict(error) && !isNotFound(error)) throw error;
      }
      const found = await find(client, Lease, key, { signal });
      if (!found) {
        await create(signal);
        return "held";
      }
      observe(found);
      // The lease is ours when it is what we requested, even when the response was lost. Our identity alone proves
      // nothing: a second process may use it.
      const isOurs = holderOf(found) === identity && found.spec?.acquireTime === requestedSpec?.acquireTime;
      if (!isOurs && holderOf(found) !== "" && (isLeading || !isExpired)) return "taken";
      await update(found, specAfter(found, isOurs), signal);
      return "held";
    },

    async release(signal) {
      if (!observed) return;
      const now = formatMicroTime(clock.now());
      const { leaseTransitions = 0 } = observed.spec ?? {};
      try {
        await update(observed, { leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions }, signal);
      } catch (error) {
        // Only time is lost: the lease expires.
        log.info("lease not released, it will expire", { error });
      }
    },
  };
}

/** A renewal when the lease is already ours, otherwise a transition, unless no candidate has held it before. */
function termAfter(lease: DeepReadonly<Lease> | undefined, isOurs: boolean, now: string): LeaseSpec {
  const { acquireTime = now, leaseTransitions = 0 } = lease?.spec ?? {};
  return isOurs
    ? { renewTime: now, acquireTime, leaseTransitions }
    : { renewTime: now, acquireTime: now, leaseTransitions: lease?.spec?.renewTime ? leaseTransitions + 1 : 0 };
}

function holderOf({ spec }: DeepReadonly<Lease>): string {
  return spec?.holderIdentity ?? "";
}
