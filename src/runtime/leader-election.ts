/**
 * Leader election on a Lease: of several processes that stand for it, one leads.
 *
 * Nobody's wall clock counts, neither another's nor our own. A leader counts from the moment before it asked for its
 * last renewal and gives up after the renew deadline; everybody else counts from the moment at which they saw that
 * renewal, and waits for the longer lease duration. So the old leader has stopped before the next one starts, as long
 * as no clock runs half as fast again as another. Both are timers, which a corrected wall clock does not move.
 *
 * Reads and writes: the Lease. A write names the version that it replaces, so of two that want it one gets it.
 */
import { Lease } from "../api/index.ts";
import {
  defined,
  equalJson,
  formatMicroTime,
  invariant,
  sleep,
  type Clock,
  type DeepReadonly,
  type Log,
  type Random,
  type Timer,
} from "../base/index.ts";
import { find, type Client, type ObjectKey } from "../client/index.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../machinery/index.ts";
import type { EventRecorder } from "./events.ts";

export interface LeaderElectionTimes {
  /** How long others wait after the last renewal that they saw. */
  leaseDurationMs: number;
  /** How long a leader goes on without a renewal. */
  renewDeadlineMs: number;
  /** Between renewals, and between tries to become leader. */
  retryMs: number;
}

/** What Kubernetes' own components use. */
const USUAL_TIMES: LeaderElectionTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };
/** Candidates wait up to this much longer by chance, so that they do not ask in step. */
const JITTER = 1.2;

export interface LeaderElectionOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  lease: Required<ObjectKey>;
  /** Of this process and no other, now or earlier; a host name with something random does. */
  identity: string;
  times?: Partial<LeaderElectionTimes>;
  /** Told when somebody becomes leader and when they stop. */
  events?: EventRecorder;
}

export interface LeaderElection {
  readonly isLeader: boolean;
  /** Who led when we last looked; empty when nobody did. */
  readonly leader: string;
  /**
   * Stands for election, and calls `lead` when it is won. The signal of `lead` is aborted when the lease is lost or
   * `signal` is aborted; the lease is kept until `lead` has ended and then given back, so that the next leader need not
   * wait.
   *
   * Resolves with `lost` when somebody else may lead now, else with `ended`. Rejects with what `lead` throws. One call
   * at a time.
   */
  run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<"ended" | "lost">;
}

/** The time from one election to its end. Before it is won, only `lost` means something. */
interface Term {
  readonly lost: AbortController;
  /** Set when it is won. */
  deadline?: Timer;
}

export function createLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const { client, clock, random, lease: key, identity, events } = options;
  const { leaseDurationMs, renewDeadlineMs, retryMs } = { ...USUAL_TIMES, ...defined(options.times) };
  invariant(identity !== "", "a candidate has an identity");
  invariant(
    leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryMs * JITTER,
    "a lease lasts longer than the renew deadline, and that longer than the wait between tries",
  );
  const log = options.log.with({ lease: `${key.cluster}/${key.namespace}/${key.name}`, identity });
  /** The lease as we last saw or wrote it. */
  let observed: DeepReadonly<Lease> | undefined;
  /** What we last asked the server to write; whether it did is not always known. */
  let asked: Lease["spec"];
  let isExpired = false;
  let expiry: Timer | undefined;
  let current: Term | undefined;
  let isStanding = false;
  /** Why the last try failed, if it did. */
  let lastFailure: unknown;

  const observe = (lease: DeepReadonly<Lease>): void => {
    const before = observed;
    observed = lease;
    if (before && equalJson(before.spec, lease.spec)) return;
    expiry?.cancel();
    isExpired = false;
    const seconds = lease.spec?.leaseDurationSeconds;
    expiry = clock.after(seconds === undefined ? leaseDurationMs : seconds * 1000, () => (isExpired = true));
    if (before?.spec?.holderIdentity !== lease.spec?.holderIdentity)
      log.debug("leader seen", { leader: holderOf(lease) });
  };

  /** The next content of the lease: a renewal when it is ours already, else one that says that it changes hands. */
  const specAfter = (lease: DeepReadonly<Lease> | undefined, isOurs: boolean): NonNullable<Lease["spec"]> => {
    const now = formatMicroTime(clock.now());
    const { acquireTime = now, leaseTransitions = 0 } = lease?.spec ?? {};
    const term = isOurs
      ? { acquireTime, leaseTransitions }
      : { acquireTime: now, leaseTransitions: lease ? leaseTransitions + 1 : 0 };
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      renewTime: now,
      ...term,
    };
  };
  const update = async (
    lease: DeepReadonly<Lease>,
    spec: NonNullable<Lease["spec"]>,
    signal: AbortSignal,
  ): Promise<void> => {
    asked = spec;
    observe(await client.update(Lease, key.cluster, { ...lease, spec }, { signal }));
  };
  const create = async (signal: AbortSignal): Promise<void> => {
    asked = specAfter(undefined, false);
    observe(
      await client.create(
        Lease,
        key.cluster,
        {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { namespace: key.namespace, name: key.name },
          spec: asked,
        },
        { signal },
      ),
    );
  };

  /** One try to get the lease, or to keep it. */
  const attempt = async (isLeading: boolean, signal: AbortSignal): Promise<"held" | "taken"> => {
    try {
      if (isLeading && observed) {
        await update(observed, specAfter(observed, true), signal);
        return "held";
      }
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error; // Somebody wrote it: who, is read below.
    }
    const found = await find(client, Lease, key, { signal });
    if (!found) {
      await create(signal);
      return "held";
    }
    observe(found);
    // Ours is what we asked for, also when the answer was lost. Our identity alone proves nothing: a second process may
    // be using it.
    const isOurs = holderOf(found) === identity && found.spec?.acquireTime === asked?.acquireTime;
    if (!isOurs && holderOf(found) !== "" && (isLeading || !isExpired)) return "taken";
    await update(found, specAfter(found, isOurs), signal);
    return "held";
  };

  /**
   * Tries once within a term; the deadline counts from before the request, because nobody knows when in between it was
   * carried out.
   */
  const hold = async (term: Term, signal: AbortSignal): Promise<void> => {
    const isLeading = term.deadline !== undefined;
    const deadline = clock.after(renewDeadlineMs, () => term.lost.abort());
    let held = false;
    try {
      const outcome = await attempt(isLeading, signal);
      held = outcome === "held" && !term.lost.signal.aborted;
      if (isLeading && outcome === "taken") term.lost.abort();
    } catch (error) {
      if (!signal.aborted) lastFailure = error;
      if (!isAlreadyExists(error) && !isConflict(error))
        log.debug("lease could not be written, trying again", { error });
    }
    if (!held) return deadline.cancel();
    lastFailure = undefined;
    term.deadline?.cancel();
    term.deadline = deadline;
  };

  const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
    try {
      await sleep(clock, ms, signal);
    } catch (error) {
      if (!signal.aborted) throw error; // It is over sooner, which whoever waits sees by itself.
    }
  };

  const win = async (signal: AbortSignal): Promise<Term | undefined> => {
    while (!signal.aborted) {
      const term: Term = { lost: new AbortController() };
      await hold(term, AbortSignal.any([signal, term.lost.signal]));
      if (term.deadline) return term;
      await pause(retryMs * (1 + random.next() * JITTER), signal);
    }
    return undefined;
  };

  const release = async (term: Term): Promise<void> => {
    if (!observed) return;
    const now = formatMicroTime(clock.now());
    const { leaseTransitions = 0 } = observed.spec ?? {};
    try {
      await update(
        observed,
        { leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions },
        term.lost.signal,
      );
    } catch (error) {
      // Nothing is lost but time: the lease runs out.
      log.info("lease could not be given back, it will run out", { error });
    }
  };

  const tell = (message: string): void => {
    if (observed)
      events?.record(key.cluster, observed, {
        type: "Normal",
        reason: "LeaderElection",
        message: `${identity} ${message}`,
      });
  };

  /** Leads until the work has ended, and renews meanwhile. */
  const serve = async (
    term: Term,
    lead: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> => {
    const finished = new AbortController();
    const work = Promise.resolve()
      .then(() => lead(AbortSignal.any([signal, term.lost.signal])))
      .finally(() => finished.abort());
    const over = AbortSignal.any([term.lost.signal, finished.signal]);
    const renewing = (async (): Promise<void> => {
      for (;;) {
        await pause(retryMs, over);
        if (over.aborted) return;
        await hold(term, term.lost.signal);
      }
    })();
    await Promise.allSettled([work, renewing]);
    return work;
  };

  return {
    get isLeader() {
      return current?.deadline !== undefined && !current.lost.signal.aborted;
    },
    get leader() {
      return observed ? holderOf(observed) : "";
    },
    async run(lead, signal) {
      invariant(!isStanding, `${identity} stands for election once at a time`);
      isStanding = true;
      // What an earlier run saw was counted then; only what is seen from now on is.
      observed = undefined;
      const term = await win(signal);
      if (!term) {
        expiry?.cancel();
        isStanding = false;
        return "ended";
      }
      current = term;
      log.info("became leader");
      tell("became leader");
      try {
        await serve(term, lead, signal);
      } finally {
        const isLost = term.lost.signal.aborted;
        current = undefined;
        if (isLost) log.warn("leadership lost", { leader: observed && holderOf(observed), error: lastFailure });
        else await release(term);
        tell("stopped leading");
        term.deadline?.cancel();
        expiry?.cancel();
        isStanding = false;
      }
      return term.lost.signal.aborted ? "lost" : "ended";
    },
  };
}

function holderOf({ spec }: DeepReadonly<Lease>): string {
  return spec?.holderIdentity ?? "";
}
