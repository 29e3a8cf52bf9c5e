/**
 * Watches a store whose disk may fill up, or which is on other machines. A store that takes no writes is reported once
 * in one line, and so is its recovery; in between `takesWrites` is false. Writers get the same error. No acknowledged
 * write is lost, because a failed write is rolled back as a whole.
 *
 * An idle fleet writes nothing, so it would not notice that there is space again: while the disk is full, a small trial
 * write is made periodically, and removed. Followers of the store see it: an engine that encrypts is inside this one.
 */
import type { Clock, Log, Timer } from "@flotilla/base";
import { StoreUnavailableError, StoreWriteError } from "@flotilla/apiserver";
import type { Engine, Outcome } from "@flotilla/apiserver";

const TRY_EVERY_MS = 5_000;
/** No real resource has this key. */
const TRIAL_KEY = "/flotilla.dev/storetrials/hub/trial";
/** More than fits into the spare pages of a database. */
const TRIAL = new Uint8Array(64 * 1024);

const isProblem = (error: unknown): error is Error =>
  error instanceof StoreWriteError || error instanceof StoreUnavailableError;

export interface WatchedStore {
  engine: Engine;
  takesWrites(): boolean;
}

export function watchStoreProblems(
  engine: Engine,
  clock: Clock,
  log: Log,
  report: (text: string) => unknown,
): WatchedStore {
  /** The newest revision when writes started to fail; undefined while they succeed. */
  let stuckAt: number | undefined;
  let timer: Timer | undefined;

  function failed(error: unknown): void {
    if (stuckAt !== undefined || !isProblem(error)) return;
    stuckAt = Infinity;
    log.error("store rejects writes", { error });
    report(error.message);
    timer = clock.after(TRY_EVERY_MS, tryAgain);
    void noteRevision();
  }
  async function noteRevision(): Promise<void> {
    const [revision] = await Promise.allSettled([engine.revision()]);
    // An engine that cannot return it is closed or broken, and will not accept writes again.
    if (revision.status === "fulfilled") stuckAt = revision.value;
  }
  /** A write that was rejected, or that was a no-op, did not need the disk. */
  function succeeded(outcome: Outcome): void {
    if (stuckAt === undefined || !outcome.ok || outcome.revision <= stuckAt) return;
    stuckAt = undefined;
    timer?.cancel();
    log.info("the store accepts writes again");
    report("the store accepts writes again");
  }
  function commit(write: Parameters<Engine["commit"]>[0]): Promise<Outcome> {
    const outcome = engine.commit(write);
    // Not awaited by the writer, because every write passes here.
    void outcome.then(stuckAt === undefined ? undefined : succeeded, failed);
    return outcome;
  }
  function tryAgain(): void {
    timer = clock.after(TRY_EVERY_MS, tryAgain);
    // The outcome is handled for all writes in `commit`.
    void Promise.allSettled([
      commit({ key: TRIAL_KEY, expect: "any", value: TRIAL }),
      commit({ key: TRIAL_KEY, expect: "any", value: null }),
    ]);
  }

  return {
    takesWrites: () => stuckAt === undefined && (engine.isReachable?.() ?? true),
    engine: {
      isShared: engine.isShared,
      commit,
      scan: (prefix) => engine.scan(prefix),
      changes: (after, signal) => engine.changes(after, signal),
      past: (upTo) => engine.past(upTo),
      revision: () => engine.revision(),
      isReachable: () => engine.isReachable?.() ?? true,
      compact: (revision) => engine.compact(revision),
      snapshot: (path) => engine.snapshot(path),
      isOutdated: (key) => engine.isOutdated?.(key) ?? false,
      close() {
        timer?.cancel();
        return engine.close();
      },
    },
  };
}
