/**
 * Watches over a store whose disk may fill up. That the disk does not take writes is told once and in one line, and so
 * is when it does again; until then `takesWrites` says no. Whoever wrote gets the same answer; nothing that was
 * acknowledged is lost, because a write that fails is undone as a whole.
 *
 * A fleet that has settled writes nothing, so nobody would notice that there is room again: while there is trouble, a
 * small write of our own is tried from time to time, and taken back.
 */
import type { Clock, Log, Timer } from "../base/index.ts";
import { StoreWriteError } from "../store/index.ts";
import type { Engine, Outcome } from "../store/index.ts";

const TRY_EVERY_MS = 5_000;
/** Nobody has such a resource. */
const TRIAL_KEY = "/flotilla.dev/storetrials/hub/trial";
/** More than fits into what a database has spare. */
const TRIAL = new Uint8Array(64 * 1024);

export interface WatchedStore {
  engine: Engine;
  takesWrites(): boolean;
}

export function watchStoreTroubles(
  engine: Engine,
  clock: Clock,
  log: Log,
  tell: (text: string) => unknown,
): WatchedStore {
  /** The newest revision when writes began to fail; undefined while all is well. */
  let stuckAt: number | undefined;
  let timer: Timer | undefined;

  function failed(error: unknown): void {
    if (stuckAt !== undefined || !(error instanceof StoreWriteError)) return;
    stuckAt = Infinity;
    log.error("the store takes no writes", { error });
    tell(error.message);
    timer = clock.after(TRY_EVERY_MS, tryAgain);
    void noteRevision();
  }
  async function noteRevision(): Promise<void> {
    const [revision] = await Promise.allSettled([engine.revision()]);
    // An engine that cannot say it any more is closed or broken, and will not take writes again.
    if (revision.status === "fulfilled") stuckAt = revision.value;
  }
  /** A write that was refused, or that had nothing to do, did not need the disk. */
  function succeeded(outcome: Outcome): void {
    if (stuckAt === undefined || !outcome.ok || outcome.revision <= stuckAt) return;
    stuckAt = undefined;
    timer?.cancel();
    log.info("the store takes writes again");
    tell("the store takes writes again");
  }
  function commit(write: Parameters<Engine["commit"]>[0]): Promise<Outcome> {
    const outcome = engine.commit(write);
    // Beside the writer's way and not in it: every write passes here.
    void outcome.then(stuckAt === undefined ? undefined : succeeded, failed);
    return outcome;
  }
  function tryAgain(): void {
    timer = clock.after(TRY_EVERY_MS, tryAgain);
    // The outcome is looked at where all are, in `commit`.
    void Promise.allSettled([
      commit({ key: TRIAL_KEY, expect: "any", value: TRIAL }),
      commit({ key: TRIAL_KEY, expect: "any", value: null }),
    ]);
  }

  return {
    takesWrites: () => stuckAt === undefined,
    engine: {
      commit,
      scan: (prefix) => engine.scan(prefix),
      changes: (after, signal) => engine.changes(after, signal),
      past: (upTo) => engine.past(upTo),
      revision: () => engine.revision(),
      compact: (revision) => engine.compact(revision),
      snapshot: (path) => engine.snapshot(path),
      close() {
        timer?.cancel();
        return engine.close();
      },
    },
  };
}
