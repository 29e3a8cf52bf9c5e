/**
 * The `StatusWriter` of one kind. Per object it gathers the changes of all owners for a short window, applies them to the
 * newest version it knows, and writes once, or not at all when nothing differs.
 *
 * The newest version is the lister's, or what this writer got back from its own last write when the lister has not seen
 * that yet; so a burst of changes does not run into conflicts with itself.
 */
import type { Kind, KubernetesObject } from "../api/index.ts";
import { equalJson, type Clock, type DeepReadonly, type Log } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import { isConflict, isNotFound } from "../machinery/index.ts";
import { abortable } from "./abortable.ts";
import type { Lister } from "./controller.ts";
import { idOfKey } from "./define-controller.ts";
import { isNewer } from "./resource-version.ts";
import type { StatusWriter } from "./status-writer.ts";

/** Each conflict means that somebody else made progress; after this many in a row the caller's back-off takes over. */
const MAX_ATTEMPTS = 5;
/** Remembered answers that are looked at again with every write; more than one, so that they shrink faster than they grow. */
const FORGET_PER_WRITE = 2;

export interface StatusWriterOptions<T extends KubernetesObject> {
  client: Client;
  kind: Kind<T>;
  lister: Pick<Lister<T>, "get">;
  clock: Clock;
  /** How long changes of one object are gathered; 0 writes in the next turn of the event loop. */
  windowMs: number;
  log: Log;
}

type ChangeOf<T> = (object: DeepReadonly<T>) => DeepReadonly<T>;

/** One owner's waiting change, and the promise of everybody who asked for it or for one that it replaced. */
interface Waiting<T> {
  change: ChangeOf<T>;
  askers: number;
  written: PromiseWithResolvers<void>;
}

interface Pending<T> {
  key: ObjectKey;
  byOwner: Map<string, Waiting<T>>;
}

export function createStatusWriter<T extends KubernetesObject>(options: StatusWriterOptions<T>): StatusWriter<T> {
  const { client, kind, lister, clock, windowMs, log } = options;
  const gathering = new Map<string, Pending<T>>();
  const writing = new Set<string>();
  /** Answers that the lister may not have seen yet, oldest first. */
  const answers = new Map<string, { key: ObjectKey; object: DeepReadonly<T> }>();

  const schedule = (id: string): void => {
    const flush = (): void => void flushOne(id);
    if (windowMs > 0) clock.after(windowMs, flush);
    else setImmediate(flush);
  };
  const flushOne = async (id: string): Promise<void> => {
    const pending = gathering.get(id);
    if (!pending) return;
    gathering.delete(id);
    writing.add(id);
    try {
      await write(id, pending);
      for (const { written } of pending.byOwner.values()) written.resolve();
    } catch (error) {
      for (const { written } of pending.byOwner.values()) written.reject(error);
    }
    writing.delete(id);
    if (gathering.has(id)) schedule(id);
  };

  const write = async (id: string, { key, byOwner }: Pending<T>): Promise<void> => {
    let object = newestOf(id, key) ?? (await read(key));
    for (let attempt = 1; object; attempt++) {
      const next = applyAll(object, byOwner);
      if (equalJson(statusOf(next), statusOf(object))) return;
      try {
        remember(id, key, await client.updateStatus(kind, key.cluster, next));
        return;
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
        log.debug("status changed meanwhile, trying again", { kind: kind.kind, key: id, attempt });
      }
      object = await read(key);
    }
  };
  const read = async (key: ObjectKey): Promise<DeepReadonly<T> | undefined> => {
    try {
      return await client.get(kind, key);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  const newestOf = (id: string, key: ObjectKey): DeepReadonly<T> | undefined => {
    const listed = lister.get(key);
    const answer = answers.get(id)?.object;
    return answer && listed && isNewer(answer, listed) ? answer : listed;
  };
  const remember = (id: string, key: ObjectKey, object: DeepReadonly<T>): void => {
    answers.delete(id);
    answers.set(id, { key, object });
    let looked = 0;
    for (const [otherId, other] of answers) {
      if (looked++ === FORGET_PER_WRITE) break;
      const listed = lister.get(other.key);
      if (!listed || !isNewer(other.object, listed)) answers.delete(otherId);
    }
  };

  return {
    async set(key, owner, change, signal) {
      signal.throwIfAborted();
      const id = idOfKey(key);
      let pending = gathering.get(id);
      if (!pending) {
        gathering.set(id, (pending = { key, byOwner: new Map() }));
        // A second write of the same object waits for the first, which schedules it when it ends.
        if (!writing.has(id)) schedule(id);
      }
      const waiting = pending.byOwner.get(owner) ?? { change, askers: 0, written: Promise.withResolvers<void>() };
      waiting.change = change;
      waiting.askers++;
      pending.byOwner.set(owner, waiting);
      try {
        await abortable(waiting.written.promise, signal);
      } catch (error) {
        // A change that nobody waits for any more is not written, unless it is on its way already.
        if (signal.aborted && --waiting.askers === 0 && pending.byOwner.get(owner) === waiting && gathering.get(id) === pending) pending.byOwner.delete(owner);
        throw error;
      }
    },
    // Changes that wait for the clock do not count, like the delayed keys of a queue.
    isQuiet: () => writing.size === 0 && (windowMs > 0 || gathering.size === 0),
  };
}

/** All waiting changes in the order of their owners' names. A change that throws fails its own owner and no other. */
function applyAll<T>(object: DeepReadonly<T>, byOwner: Map<string, Waiting<T>>): DeepReadonly<T> {
  let next = object;
  for (const owner of [...byOwner.keys()].sort()) {
    const waiting = byOwner.get(owner);
    if (!waiting) continue;
    try {
      next = waiting.change(next);
    } catch (error) {
      byOwner.delete(owner);
      waiting.written.reject(error);
    }
  }
  return next;
}

function statusOf(object: unknown): unknown {
  return (object as { status?: unknown }).status;
}
