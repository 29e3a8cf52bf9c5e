/**
 * An engine whose revisions are those of another one plus an offset. A store in etcd that was restored from a snapshot
 * continues above the revisions of the snapshot, although etcd itself counts from the beginning.
 */
import type { Engine, Entry, Outcome, PastChange, Write } from "./engine.ts";
import { CompactedError } from "./errors.ts";
import { checkWrite } from "./write-rules.ts";

export interface RevisionShift {
  offset: number;
  /** Changes up to and including this revision, with the offset, are not available. */
  compacted: number;
}

/** No entry ever has this revision. */
const UNUSED = Number.MAX_SAFE_INTEGER;

export function shiftRevisions(engine: Engine, { offset, compacted }: RevisionShift): Engine {
  const shown = (entry: Entry): Entry => ({ ...entry, revision: entry.revision + offset });
  const meant = <T extends number | string>(expect: T): T =>
    (typeof expect !== "number" ? expect : expect > offset ? expect - offset : UNUSED) as T;
  return {
    isShared: engine.isShared,
    async commit(write) {
      checkWrite(write);
      return shownOutcome(await engine.commit(meantWrite(write)));
    },
    async *scan(prefix) {
      for await (const batch of engine.scan(prefix)) yield batch.map(shown);
    },
    async *changes(after, signal) {
      if (after < compacted) throw new CompactedError(after, compacted + 1);
      try {
        for await (const { changes, revision } of engine.changes(after - offset, signal))
          yield {
            changes: changes.map((change) => ({ ...change, revision: change.revision + offset })),
            revision: revision + offset,
          };
      } catch (error) {
        throw error instanceof CompactedError ? new CompactedError(after, error.oldest + offset) : error;
      }
    },
    async *past(upTo) {
      if (upTo <= compacted) return;
      for await (const batch of engine.past(upTo - offset)) {
        const available = batch.map(shownPast).filter(({ revision }) => revision > compacted);
        if (available.length > 0) yield available;
        if (available.length < batch.length) return;
      }
    },
    revision: async () => (await engine.revision()) + offset,
    isReachable: () => engine.isReachable?.() ?? true,
    compact: (revision) => engine.compact(Math.max(0, revision - offset)),
    snapshot: (path) => engine.snapshot(path),
    isOutdated: (key) => engine.isOutdated?.(key) ?? false,
    close: () => engine.close(),
  };

  function meantWrite(write: Write): Write {
    const guards = write.guards?.map(({ key, expect }) => ({ key, expect: meant(expect) }));
    return { ...write, expect: meant(write.expect), guards };
  }

  function shownOutcome(outcome: Outcome): Outcome {
    if (outcome.ok || outcome.failedGuard !== undefined) return { ...outcome, revision: outcome.revision + offset };
    return outcome.current ? { ok: false, current: shown(outcome.current) } : outcome;
  }

  function shownPast({ key, revision, previous }: PastChange): PastChange {
    return { key, revision: revision + offset, previous: previous && shown(previous) };
  }
}
