/**
 * The `StatusWriter` of one kind. Per object it batches the changes of all owners for a short window, applies them to
 * the newest known version, and writes once, or not at all when nothing changes.
 *
 * With a write-through client the lister already has its own last write, so a burst of changes does not conflict with
 * itself; without one, a conflict costs a read.
 */
import { channel } from "node:diagnostics_channel";
import { isConflict, isNotFound } from "@flotilla/apimachinery";
import type { ApiError, Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, messageOf, type Clock, type DeepReadonly, type Log, type Timer } from "@flotilla/base";
import { find, type Client, type ObjectKey } from "@flotilla/client";
import { isRejectedWrite } from "./rejected-write.ts";
import type { Lister } from "./runtime-controller.ts";
import { idOfKey, keyOf } from "./define-controller.ts";
import { isStatusChange } from "./status-change.ts";
import type { StatusWriter } from "./status-writer.ts";

/** Each conflict means that another writer made progress; after this many in a row the write waits for its backoff. */
const MAX_ATTEMPTS = 5;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 60_000;
/**
 * With more objects than this waiting, progress is gathered longer: a hub on which everything changes at once would
 * spend its writes on intermediate states.
 */
const MANY_OBJECTS = 100;
/** Likewise when for half a second more objects than this progress per second: a tenth of a core writes that often. */
const MANY_PER_SECOND = 100;
/**
 * Progress after a pause is gathered only this long: enough for what one event of a member causes in several
 * controllers. What follows waits for `everyMs`, so a busy object costs no more writes.
 */
const LEADING_MS = 20;
/** The diagnostics channel on which every `StatusChange` is published, for tests. */
export const STATUS_CHANGES = "flotilla:status-changes";
const statusChanges = channel(STATUS_CHANGES);
/** Events about an object are limited, and users look for recent ones. */
const REPORT_AGAIN_MS = 5 * 60_000;
/** How long the time of a write is remembered; longer than any `everyMs`. */
const REMEMBERED_MS = 5_000;

export interface StatusWriterOptions<T extends KubernetesObject> {
  client: Client;
  kind: Kind<T>;
  lister: Pick<Lister<T>, "get">;
  clock: Clock;
  /** How long changes of one object are batched; 0 writes in the next turn of the event loop. */
  windowMs: number;
  /**
   * Called for each object whose status is rejected, with the server's message, and again after five minutes; the write is
   * still retried.
   */
  onRejected?(object: DeepReadonly<T>, error: ApiError): void;
  /** Called when a status is written, or is no longer to be written, after a failure. */
  onRecovered?(object: DeepReadonly<T>): void;
  log: Log;
}

/** What one owner changed in a status. */
export interface StatusChange {
  kind: string;
  owner: string;
  before: unknown;
  after: unknown;
}

/** A write whose answer is awaited. Its event comes before the answer does, or with it. */
interface Sent<T> {
  base: DeepReadonly<T>;
  next: DeepReadonly<T>;
  owners: ReadonlySet<string>;
}

type ChangeOf<T> = (object: DeepReadonly<T>) => DeepReadonly<T>;

interface Pending<T> {
  key: ObjectKey;
  /** The UID of the object to change: a new object of the same name must not get the changes. */
  uid: string | undefined;
  byOwner: Map<string, ChangeOf<T>>;
  failures: number;
  /** When a rejection was reported last. */
  reportedAt?: number;
  /** The scheduled time of the write. */
  due?: number;
  timer?: Timer;
}

export function createStatusWriter<T extends KubernetesObject>(options: StatusWriterOptions<T>): StatusWriter<T> {
  const { client, kind, lister, clock, windowMs, log } = options;
  const gathering = new Map<string, Pending<T>>();
  const writing = new Map<string, Promise<void>>();
  const sent = new Map<string, Sent<T>>();
  /** When an object was last written; the oldest first, and only the last few seconds. */
  const lastWrites = new Map<string, number>();
  /** Rises by one with every object whose progress waits for a write, and falls with `MANY_PER_SECOND`. */
  let progressing = 0;
  let progressingAt = 0;
  let closed = false;

  const progressingNow = (): number =>
    Math.max(0, progressing - ((clock.now() - progressingAt) * MANY_PER_SECOND) / 1000);
  const noteProgress = (): void => {
    // Limited, so that half a second after the load it is over.
    progressing = Math.min(progressingNow() + 1, MANY_PER_SECOND);
    progressingAt = clock.now();
  };
  const noteWrite = (id: string): void => {
    const now = clock.now();
    lastWrites.delete(id);
    lastWrites.set(id, now);
    for (const [oldest, at] of lastWrites) {
      if (now - at <= REMEMBERED_MS) break;
      lastWrites.delete(oldest);
    }
  };
  const progressDelay = (id: string, everyMs: number, debounceMs: number): number => {
    if (gathering.size > MANY_OBJECTS || progressingNow() > MANY_PER_SECOND / 2) return debounceMs;
    const last = lastWrites.get(id);
    const waitMs = last === undefined ? 0 : last + everyMs - clock.now();
    return waitMs > 0 ? Math.max(windowMs, waitMs) : Math.min(windowMs, LEADING_MS);
  };

  /** Schedules a write after a delay, or keeps an earlier one. */
  const schedule = (id: string, pending: Pending<T>, delayMs: number): void => {
    const due = clock.now() + delayMs;
    if (pending.due !== undefined && pending.due <= due) return;
    pending.timer?.cancel();
    pending.due = due;
    const flush = (): void => {
      if (closed || gathering.get(id) !== pending) return;
      gathering.delete(id);
      writing.set(id, flushOne(id, pending));
    };
    delete pending.timer;
    if (delayMs > 0) pending.timer = clock.after(delayMs, flush);
    else setImmediate(flush);
  };
  const flushOne = async (id: string, pending: Pending<T>): Promise<void> => {
    let failed = false;
    try {
      await write(id, pending);
      const object = pending.failures > 0 ? lister.get(pending.key) : undefined;
      if (object) options.onRecovered?.(object);
    } catch (error) {
      failed = true;
      pending.failures++;
      // Once per object: repeated failures for the same reason are not logged again.
      if (pending.failures === 1) {
        log.warn("status not written, will retry", { kind: kind.kind, key: id, error: messageOf(error) });
      }
      const isDue = clock.now() - (pending.reportedAt ?? -Infinity) >= REPORT_AGAIN_MS;
      const object = isDue && isRejectedWrite(error) ? lister.get(pending.key) : undefined;
      if (object && isRejectedWrite(error)) {
        pending.reportedAt = clock.now();
        options.onRejected?.(object, error);
      }
    }
    writing.delete(id);
    if (closed) return;
    const next = gathering.get(id);
    if (failed) {
      // Changes that arrived in the meantime are newer than the failed ones.
      const isOtherObject = next !== undefined && next.uid !== pending.uid;
      const joined: Pending<T> = isOtherObject
        ? next
        : { ...pending, byOwner: new Map([...pending.byOwner, ...(next?.byOwner ?? [])]) };
      delete joined.due;
      delete joined.timer;
      gathering.set(id, joined);
      schedule(id, joined, Math.min(FIRST_BACKOFF_MS * 2 ** (pending.failures - 1), MAX_BACKOFF_MS));
    } else if (next) schedule(id, next, windowMs);
  };

  const write = async (id: string, { key, uid, byOwner }: Pending<T>): Promise<void> => {
    let object = lister.get(key) ?? (await find(client, kind, key));
    for (let attempt = 1; object; attempt++) {
      if (uid !== undefined && object.metadata.uid !== uid) return;
      const { next, owners } = applyAll(id, object, byOwner);
      if (equalJson(statusOf(next), statusOf(object))) return;
      sent.set(id, { base: object, next, owners });
      try {
        await client.updateStatus(kind, key.cluster, next);
        noteWrite(id);
        return;
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
        log.debug("status changed concurrently, retrying", { kind: kind.kind, key: id, attempt });
      } finally {
        sent.delete(id);
      }
      object = await find(client, kind, key);
    }
  };
  /**
   * All pending changes in the order of their owners' names, and who changed something. A change that throws is a bug of
   * its owner; only that change is dropped.
   */
  const applyAll = (
    id: string,
    object: DeepReadonly<T>,
    byOwner: Map<string, ChangeOf<T>>,
  ): { next: DeepReadonly<T>; owners: ReadonlySet<string> } => {
    const owners = new Set<string>();
    let next = object;
    for (const [owner, change] of [...byOwner].sort(([a], [b]) => (a < b ? -1 : 1))) {
      try {
        const before = next;
        next = change(before);
        if (next !== before) owners.add(owner);
        if (statusChanges.hasSubscribers && next !== before)
          statusChanges.publish({ kind: kind.kind, owner, before, after: next } satisfies StatusChange);
      } catch (error) {
        byOwner.delete(owner);
        log.error("status change failed", { kind: kind.kind, key: id, owner, error: messageOf(error) });
      }
    }
    return { next, owners };
  };

  return {
    set(key, owner, change, { debounceMs = windowMs, busyMs = debounceMs, everyMs } = {}) {
      if (closed) return;
      const id = idOfKey(key);
      const { uid } = lister.get(key)?.metadata ?? {};
      let pending = gathering.get(id);
      if (pending && pending.uid !== uid) pending.timer?.cancel();
      if (!pending || pending.uid !== uid) {
        gathering.set(id, (pending = { key, uid, byOwner: new Map<string, ChangeOf<T>>(), failures: 0 }));
        if (everyMs !== undefined && debounceMs > windowMs) noteProgress();
      }
      pending.byOwner.set(owner, change);
      // A second write of the same object waits for the first, which schedules it when it ends. A failed one keeps its
      // backoff.
      if (writing.has(id) || pending.failures > 0) return;
      const delayMs = gathering.size > MANY_OBJECTS ? busyMs : debounceMs;
      schedule(id, pending, everyMs === undefined ? delayMs : progressDelay(id, everyMs, debounceMs));
    },
    wrote({ cluster, object, old, deleted }, owner) {
      const write = deleted || sent.size === 0 ? undefined : sent.get(idOfKey(keyOf(cluster, object)));
      if (!write || write.base !== old || (owner !== undefined && !write.owners.has(owner))) return false;
      // Until the answer is there, another client's write of the same version may have been the one that succeeded.
      return equalJson(statusOf(object), statusOf(write.next)) && isStatusChange(old, object);
    },
    isQuiet() {
      if (writing.size > 0) return false;
      for (const { timer } of gathering.values()) if (timer === undefined) return false;
      return true;
    },
    async close() {
      closed = true;
      for (const { timer } of gathering.values()) timer?.cancel();
      gathering.clear();
      await Promise.all(writing.values());
    },
  };
}

function statusOf(object: unknown): unknown {
  return (object as { status?: unknown }).status;
}
