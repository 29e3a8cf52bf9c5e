/**
 * Leader election with a Lease: one of several candidate processes leads.
 *
 * Wall clocks are not used, neither another process's nor our own. A leader measures from before it requested its last
 * renewal and stops after the renew deadline; all other candidates measure from when they observed that renewal, and
 * wait for the longer lease duration. So the old leader has stopped before the next one starts, as long as no clock
 * runs half as fast again as another. Both use timers, which a corrected wall clock does not affect.
 *
 * A process that was stopped (SIGSTOP, a paused machine) wakes up as leader: its timers fire late, and in any order with
 * the writes that it had begun. So a leader also measures how long ago its last renewal was before every write
 * (`Leadership.check`).
 *
 * Reads and writes: the Lease, through `election-lease.ts`.
 */
import { defined, invariant, sleep, type Clock, type Log, type Random, type Timer } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { isAlreadyExists, isConflict } from "@flotilla/apimachinery";
import { createElectionLease } from "./election-lease.ts";
import type { EventRecorder } from "./events.ts";

interface LeaderElectionTimes {
  /** How long other candidates wait after the last renewal they observed. */
  leaseDurationMs: number;
  /** How long a leader continues without a renewal. */
  renewDeadlineMs: number;
  /** Between renewals, and between attempts to become leader. */
  retryMs: number;
}

/** The defaults of Kubernetes' own components. */
const DEFAULT_LEASE_TIMES: LeaderElectionTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };
/**
 * Candidates wait between half and all of the time between renewals, at random, so that their requests are not
 * synchronized and none notices a release later than a renewal takes.
 */
const JITTER = 0.5;

export interface LeaderElectionOptions {
  client: Client;
  clock: Clock;
  /** Milliseconds on a clock that is never corrected, as `elapsedMs` of `base`. */
  elapsedMs(): number;
  random: Random;
  log: Log;
  lease: Required<ObjectKey>;
  /** Unique to this process, also among earlier ones; a host name with a random suffix is sufficient. */
  identity: string;
  times?: Partial<LeaderElectionTimes>;
  /** Receives an event when a candidate becomes leader and when it stops. */
  events?: EventRecorder;
}

/** One term of a leader, for what it writes. */
export interface Leadership {
  /**
   * Call it before every write. Throws when the renew deadline has passed, also before the timer that ends the term has
   * fired, and ends the term.
   */
  check(): void;
  /**
   * What a write names so that the API server rejects it when another process leads by then:
   * `NAMESPACE/NAME/HOLDER/TRANSITIONS` of the Lease. Unset without a Lease.
   */
  readonly fence?: string;
}

export interface LeaderElection {
  readonly isLeader: boolean;
  /** The leader when last observed; empty when there was none. */
  readonly leader: string;
  /**
   * Runs for election, and calls `lead` when it is won. The signal of `lead` is aborted when the lease is lost or
   * `signal` is aborted. The lease is held until `lead` has ended and then released, so that the next leader need not
   * wait.
   *
   * Resolves with `lost` when another candidate may lead now, otherwise with `ended`. Rejects with the error of `lead`.
   * One call at a time.
   */
  run(lead: Lead, signal: AbortSignal): Promise<"ended" | "lost">;
}

type Lead = (signal: AbortSignal, leadership: Leadership) => Promise<void>;

/** The time from winning an election to its end. Before it is won, only `lost` is meaningful. */
interface Term {
  readonly lost: AbortController;
  /** Set when the election is won. */
  deadline?: Timer;
  /** When the deadline is due, on the clock that is never corrected. */
  endsAtMs: number;
}

export function createLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const { client, clock, random, lease: key, identity, events } = options;
  const { leaseDurationMs, renewDeadlineMs, retryMs } = { ...DEFAULT_LEASE_TIMES, ...defined(options.times) };
  invariant(identity !== "", "a candidate must have an identity");
  invariant(
    leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryMs,
    "leaseDurationMs must be greater than renewDeadlineMs, and that greater than retryMs",
  );
  const log = options.log.with({ lease: `${key.cluster}/${key.namespace}/${key.name}`, identity });
  const lease = createElectionLease({ client, clock, log, key, identity, durationMs: leaseDurationMs });
  let current: Term | undefined;
  let isRunning = false;
  /** The error of the last attempt, if it failed. */
  let lastFailure: unknown;

  /**
   * Makes one attempt within a term; the deadline counts from before the request, because the time of its execution is
   * unknown.
   */
  const hold = async (term: Term, signal: AbortSignal): Promise<void> => {
    const isLeading = term.deadline !== undefined;
    const endsAtMs = options.elapsedMs() + renewDeadlineMs;
    const deadline = clock.after(renewDeadlineMs, () => term.lost.abort());
    let held = false;
    try {
      const outcome = await lease.attempt(isLeading, signal);
      held = outcome === "held" && !term.lost.signal.aborted;
      if (isLeading && outcome === "taken") term.lost.abort();
    } catch (error) {
      if (!signal.aborted) lastFailure = error;
      if (!isAlreadyExists(error) && !isConflict(error)) log.debug("lease not written, retrying", { error });
    }
    if (!held) return deadline.cancel();
    lastFailure = undefined;
    term.deadline?.cancel();
    term.deadline = deadline;
    term.endsAtMs = endsAtMs;
  };

  const check = (term: Term): void => {
    if (options.elapsedMs() >= term.endsAtMs) term.lost.abort();
    term.lost.signal.throwIfAborted();
  };

  const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
    try {
      await sleep(clock, ms, signal);
    } catch (error) {
      if (!signal.aborted) throw error; // Ended earlier, which the waiting caller detects itself.
    }
  };

  const win = async (signal: AbortSignal): Promise<Term | undefined> => {
    while (!signal.aborted) {
      const term: Term = { lost: new AbortController(), endsAtMs: 0 };
      await hold(term, AbortSignal.any([signal, term.lost.signal]));
      if (term.deadline) return term;
      await pause(retryMs * (JITTER + random.next() * (1 - JITTER)), signal);
    }
    return undefined;
  };

  const emitEvent = (message: string): void => {
    if (lease.observed)
      events?.record(key.cluster, lease.observed, {
        type: "Normal",
        reason: "LeaderElection",
        message: `${identity} ${message}`,
      });
  };

  /** Leads until the work has ended, and renews the lease in the meantime. */
  const serve = async (term: Term, lead: Lead, signal: AbortSignal): Promise<void> => {
    const fence = `${key.namespace}/${key.name}/${identity}/${lease.observed?.spec?.leaseTransitions ?? 0}`;
    const finished = new AbortController();
    const work = Promise.resolve()
      .then(() => lead(AbortSignal.any([signal, term.lost.signal]), { check: () => check(term), fence }))
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
      return lease.holder;
    },
    async run(lead, signal) {
      invariant(!isRunning, `${identity} is already running for election`);
      isRunning = true;
      lease.reset();
      const term = await win(signal);
      if (!term) {
        lease.close();
        isRunning = false;
        return "ended";
      }
      current = term;
      log.info("became leader");
      emitEvent("became leader");
      try {
        await serve(term, lead, signal);
      } finally {
        const isLost = term.lost.signal.aborted;
        current = undefined;
        if (isLost) {
          const leader = lease.holder === identity ? undefined : lease.holder;
          log.warn("leadership lost", { leader, error: lastFailure });
        } else await lease.release(term.lost.signal);
        emitEvent("stopped leading");
        term.deadline?.cancel();
        lease.close();
        isRunning = false;
      }
      return term.lost.signal.aborted ? "lost" : "ended";
    },
  };
}
