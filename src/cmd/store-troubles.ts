/**
 * Tells people that the disk does not take writes, once and in one line, and when it does again. Whoever wrote gets the same answer; nothing
 * that was acknowledged is lost, because a write that fails is undone as a whole.
 */
import type { Log } from "../base/index.ts";
import { StoreWriteError } from "../store/index.ts";
import type { Engine } from "../store/index.ts";

export function tellStoreTroubles(engine: Engine, log: Log, tell: (text: string) => unknown): Engine {
  let isTroubled = false;

  function failed(error: unknown): void {
    if (isTroubled || !(error instanceof StoreWriteError)) return;
    isTroubled = true;
    log.error("the store takes no writes", { error });
    tell(error.message);
  }
  function succeeded(): void {
    if (!isTroubled) return;
    isTroubled = false;
    log.info("the store takes writes again");
    tell("the store takes writes again");
  }

  return {
    commit(write) {
      const outcome = engine.commit(write);
      // Beside the writer's way and not in it: every write passes here.
      void outcome.then(isTroubled ? succeeded : undefined, failed);
      return outcome;
    },
    scan: (prefix) => engine.scan(prefix),
    changes: (after, signal) => engine.changes(after, signal),
    past: (upTo) => engine.past(upTo),
    revision: () => engine.revision(),
    compact: (revision) => engine.compact(revision),
    snapshot: (path) => engine.snapshot(path),
    close: () => engine.close(),
  };
}
