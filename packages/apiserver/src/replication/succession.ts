/**
 * Which of two hubs is the hub. Every hub has a term; one that was promoted has a higher term than the one before it. A hub
 * that was superseded has a key in its store that says by whom, and every write is guarded by the absence of that key: the
 * decision and all writes have one order, so after it no write of any of its API servers takes effect.
 */
import type { Engine, Entry } from "../store/engine.ts";
import { StoreUnavailableError } from "../store/errors.ts";
import { INTERNAL_PREFIX } from "../store/internal-keys.ts";

/** The state of one hub; it is not part of what another one copies. */
export const SUCCESSION_PREFIX = `${INTERNAL_PREFIX}succession/`;
const TERM = `${SUCCESSION_PREFIX}hub/term`;
const SUPERSEDED = `${SUCCESSION_PREFIX}hub/superseded`;
/** Of a hub that succeeded none. */
const FIRST_TERM = 1;

export interface Successor {
  /** The term of the hub that took over. */
  term: number;
  /** What its operator called it. */
  name: string;
  /** RFC 3339. */
  at: string;
}

/** Every write of this hub is rejected, because another one took over. */
export class SupersededError extends StoreUnavailableError {
  readonly successor: Successor;
  constructor(successor: Successor) {
    super(
      `this hub was replaced by ${successor.name} (term ${successor.term}, ${successor.at}) and takes no more writes; connect to that one`,
    );
    this.successor = successor;
  }
}

export async function readTerm(engine: Engine): Promise<number> {
  const entry = await find(engine, TERM);
  return entry ? (JSON.parse(Buffer.from(entry.value).toString()) as { term: number }).term : FIRST_TERM;
}

export async function writeTerm(engine: Engine, term: number): Promise<void> {
  await engine.commit({ key: TERM, expect: "any", value: Buffer.from(JSON.stringify({ term })) });
}

export async function readSuccessor(engine: Engine): Promise<Successor | undefined> {
  const entry = await find(engine, SUPERSEDED);
  return entry && (JSON.parse(Buffer.from(entry.value).toString()) as Successor);
}

/** Returns the revision after which this hub writes nothing; undefined if another one took over before. */
export async function writeSuccessor(engine: Engine, successor: Successor): Promise<number | undefined> {
  const value = Buffer.from(JSON.stringify(successor));
  const outcome = await engine.commit({ key: SUPERSEDED, expect: "absent", value });
  return outcome.ok ? outcome.revision : undefined;
}

async function find(engine: Engine, key: string): Promise<Entry | undefined> {
  for await (const batch of engine.scan(key)) for (const entry of batch) if (entry.key === key) return entry;
  return undefined;
}

const GUARD = { key: SUPERSEDED, expect: "absent" } as const;

/** The engine of a hub: it writes only while no other hub took over. `onSuperseded` is called when a write finds out. */
export function guardSuccession(engine: Engine, onSuperseded: (successor: Successor) => void): Engine {
  return {
    isShared: engine.isShared,
    async commit(write) {
      if (write.key.startsWith(SUCCESSION_PREFIX)) return engine.commit(write);
      const guards = write.guards ? [...write.guards, GUARD] : [GUARD];
      const outcome = await engine.commit({ ...write, guards });
      if (outcome.ok || outcome.failedGuard !== SUPERSEDED) return outcome;
      const successor = await readSuccessor(engine);
      // The key was deleted by hand: the guard failed, so nothing was written.
      if (!successor) throw new StoreUnavailableError("the store was changed by hand; try again");
      onSuperseded(successor);
      throw new SupersededError(successor);
    },
    scan: (prefix) => engine.scan(prefix),
    changes: (after, signal) => engine.changes(after, signal),
    past: (upTo) => engine.past(upTo),
    revision: () => engine.revision(),
    isReachable: engine.isReachable && (() => engine.isReachable?.() ?? true),
    compact: (revision) => engine.compact(revision),
    snapshot: (path) => engine.snapshot(path),
    isOutdated: engine.isOutdated && ((key) => engine.isOutdated?.(key) ?? false),
    close: () => engine.close(),
  };
}
