/**
 * The engine on etcd, for several API servers. A write is one transaction: its expectation and guards are compared in the
 * same decision. A key is stored below a prefix, its value as it was written, so `etcdctl get` shows the object. Revisions
 * are etcd's own.
 */
import { createSemaphore, sleep } from "@flotilla/base";
import type { Clock, Log, Semaphore, Timer } from "@flotilla/base";
import type { Change, ChangeBatch, Engine, Entry, Outcome, PastChange, Write } from "../engine.ts";
import { CompactedError, StoreError } from "../errors.ts";
import { checkWrite } from "../write-rules.ts";
import { createEtcdClient, storeErrorOf } from "./etcd-client.ts";
import type { EtcdClient, EtcdClientOptions } from "./etcd-client.ts";
import {
  readRange,
  readTransaction,
  readVersion,
  readWatch,
  renderCompaction,
  renderRange,
  renderTransaction,
  renderWatchCreate,
  renderWatchProgress,
} from "./etcd-messages.ts";
import type { KeyValue, Operation, RangeAnswer, WatchAnswer, WatchEvent } from "./etcd-messages.ts";
import { GrpcError, grpcStatus } from "../grpc/grpc-channel.ts";
import type { GrpcStream } from "../grpc/grpc-channel.ts";
import { comparesOf, outcomeOf } from "./transactions.ts";
import { WriteOrder } from "./write-order.ts";

/** More requests than this do not make etcd faster, only later. */
const MAX_IN_FLIGHT = 256;
/** A page of a scan has about this many bytes; its number of entries follows from the page before. */
const PAGE_BYTES = 4 * 1024 * 1024;
const PAGE_ENTRIES = { first: 250, most: 2_000 };
/** The first window of the past that is read; each older one is twice as large. */
const FIRST_PAST_WINDOW = 1_000;
const PAST_BATCH = 512;
/** etcd does not answer a request for progress while a watch is catching up, so it is asked again. */
const ASK_PROGRESS_EVERY_MS = 100;
/** As kube-apiserver: a watch that was interrupted for less than this continues, also at a server that has just started. */
const COMPACT_EVERY_MS = 5 * 60_000;
const RECONNECT_AFTER_MS = { first: 50, most: 2_000 };

const RANGE = "/etcdserverpb.KV/Range";
const TRANSACTION = "/etcdserverpb.KV/Txn";
const COMPACT = "/etcdserverpb.KV/Compact";
const WATCH = "/etcdserverpb.Watch/Watch";
const STATUS = "/etcdserverpb.Maintenance/Status";

export interface EtcdEngineOptions extends EtcdClientOptions {
  /** Before every key, without a slash at its end. No other program may write there. */
  prefix: string;
}

/** Rejects with `StoreError` when no endpoint answers. */
export async function openEtcdEngine(options: EtcdEngineOptions): Promise<Engine> {
  const engine = new EtcdEngine(createEtcdClient(options), options);
  try {
    await engine.checkVersion();
    engine.keepCompacting(await engine.revision());
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}

/** The data of etcd is not the one that this process read. */
class ReplacedStoreError extends StoreError {}

/** A reader of changes. */
interface Follower {
  /** Whether its watch is open; it is opened again as long as the reader reads. */
  isOpen: boolean;
  /** Everything up to here was delivered. */
  revision: number;
  /** What a reader waits for. */
  wanted: number;
  askProgress(): void;
}

class EtcdEngine implements Engine {
  readonly isShared = true;
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #prefix: string;
  readonly #order = new WriteOrder();
  readonly #turns: Semaphore = createSemaphore(MAX_IN_FLIGHT);
  readonly #writing = new Set<Promise<unknown>>();
  readonly #followers = new Set<Follower>();
  readonly #closing = new AbortController();
  #asking: Timer | undefined;
  #compacting: Timer | undefined;

  constructor(client: EtcdClient, { clock, log, prefix }: EtcdEngineOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
    this.#prefix = prefix;
  }

  commit(write: Write): Promise<Outcome> {
    const committing = this.#commit(write);
    this.#writing.add(committing);
    const forget = (): unknown => this.#writing.delete(committing);
    committing.then(forget, forget);
    return committing;
  }

  async #commit(write: Write): Promise<Outcome> {
    this.#refuseClosed();
    checkWrite(write);
    this.#checkPath(write.key);
    const guards = write.guards?.map(({ key }) => key) ?? [];
    return this.#order.run(write.key, guards, async () => {
      const release = await this.#turns.acquire(1);
      try {
        const message = renderTransaction(
          comparesOf(write, this.#bytes),
          [this.#operationOf(write)],
          this.#looksOf(write),
        );
        const answer = readTransaction(await this.#client.call(TRANSACTION, message, false));
        return outcomeOf(write, answer, (entry) => this.#entry(entry));
      } finally {
        release();
      }
    });
  }

  scan(prefix: string): AsyncIterable<Entry[]> {
    this.#refuseClosed();
    const key = this.#bytes(prefix === "" ? "/" : prefix);
    const end = endOf(key);
    const page = async (start: Uint8Array, limit: number, revision: number): Promise<RangeAnswer> =>
      readRange(await this.#client.call(RANGE, renderRange({ key: start, end, limit, revision }), true));
    // Begun now: the scan is as of the time of the call. The reader gets its error, if there is a reader.
    const first = page(key, PAGE_ENTRIES.first, 0);
    void Promise.allSettled([first]);
    return this.#pages(first, page);
  }

  async *#pages(
    first: Promise<RangeAnswer>,
    page: (start: Uint8Array, limit: number, revision: number) => Promise<RangeAnswer>,
  ): AsyncGenerator<Entry[], void, undefined> {
    const { revision } = await first;
    for (let answer = await first; ;) {
      const { entries, hasMore } = answer;
      if (entries.length > 0) yield entries.map((entry) => this.#entry(entry));
      const last = entries.at(-1);
      if (!hasMore || !last) return;
      answer = await page(Buffer.concat([last.key, Buffer.of(0)]), nextPageSize(entries), revision);
    }
  }

  async *changes(after: number, signal: AbortSignal): AsyncGenerator<ChangeBatch, void, undefined> {
    const follower: Follower = { isOpen: false, revision: after, wanted: 0, askProgress: () => {} };
    const stop = AbortSignal.any([signal, this.#closing.signal]);
    this.#followers.add(follower);
    try {
      for (let waitMs = RECONNECT_AFTER_MS.first; !signal.aborted;) {
        this.#refuseClosed();
        try {
          for await (const batch of this.#follow(follower, stop)) {
            waitMs = RECONNECT_AFTER_MS.first;
            yield batch;
          }
        } catch (error) {
          if (signal.aborted) return;
          if (!isWorthAnotherTry(error)) throw error;
          this.#log.warn("the watch of etcd broke; continuing at another endpoint", { error });
        }
        if (signal.aborted) return;
        this.#refuseClosed();
        await Promise.allSettled([sleep(this.#clock, waitMs, stop)]);
        waitMs = Math.min(2 * waitMs, RECONNECT_AFTER_MS.most);
      }
    } finally {
      this.#followers.delete(follower);
    }
  }

  /** One watch. Ends, or throws, when it breaks. */
  async *#follow(follower: Follower, stop: AbortSignal): AsyncGenerator<ChangeBatch, void, undefined> {
    const compacted = await this.#compactedAfter(follower.revision);
    if (compacted > 0) throw new CompactedError(follower.revision, compacted + 1);
    const stream = await this.#client.stream(WATCH);
    const close = (): void => stream.close();
    stop.addEventListener("abort", close, { once: true });
    if (stop.aborted) close(); // While the stream was opened.
    follower.askProgress = () => stream.send(renderWatchProgress());
    try {
      stream.send(this.#watchOf(follower.revision + 1, false));
      if (follower.wanted > follower.revision) this.#askProgress();
      for await (const { revision, events } of answersOf(stream, follower.revision, () => (follower.isOpen = true))) {
        const fresh = events.filter(({ entry }) => entry.modRevision > follower.revision);
        const upTo = fresh.at(-1)?.entry.modRevision ?? (events.length > 0 ? 0 : revision);
        if (upTo <= follower.revision) continue;
        follower.revision = upTo;
        yield { changes: fresh.map((event) => this.#change(event)), revision: upTo };
      }
    } finally {
      follower.isOpen = false;
      follower.askProgress = () => {};
      stop.removeEventListener("abort", close);
      stream.close();
    }
  }

  async *past(upTo: number): AsyncGenerator<PastChange[], void, undefined> {
    this.#refuseClosed();
    for (let end = upTo, size = FIRST_PAST_WINDOW; end > 0; size *= 2) {
      const wanted = Math.max(0, end - size);
      const compacted = await this.#compactedAfter(wanted);
      if (compacted >= end) return;
      const start = Math.max(wanted, compacted);
      const window = (await this.#readWindow(start, end)).reverse();
      for (let from = 0; from < window.length; from += PAST_BATCH)
        yield window.slice(from, from + PAST_BATCH).map((event) => this.#pastChange(event));
      end = compacted > 0 ? 0 : start;
    }
  }

  /** The events after one revision up to and including another, in order. */
  async #readWindow(after: number, upTo: number): Promise<WatchEvent[]> {
    const found: WatchEvent[] = [];
    const stream = await this.#client.stream(WATCH);
    try {
      stream.send(this.#watchOf(after + 1, true));
      // A quiet store sends nothing, so the end is asked for.
      stream.send(renderWatchProgress());
      const asking = this.#every(ASK_PROGRESS_EVERY_MS, () => stream.send(renderWatchProgress()));
      try {
        for await (const { revision, events } of answersOf(stream, after)) {
          found.push(...events.filter(({ entry }) => entry.modRevision <= upTo));
          const reached = events.at(-1)?.entry.modRevision ?? revision;
          if (reached >= upTo) break;
        }
      } finally {
        asking.cancel();
      }
    } catch (error) {
      if (error instanceof GrpcError) throw storeErrorOf(error);
      throw error;
    } finally {
      stream.close();
    }
    return found;
  }

  #every(delayMs: number, run: () => void): Timer {
    let timer: Timer;
    const next = (): void => {
      timer = this.#clock.after(delayMs, () => {
        run();
        next();
      });
    };
    next();
    return { cancel: () => timer.cancel() };
  }

  /** Older releases report progress before the events that it includes, and changes would be lost. */
  async checkVersion(): Promise<void> {
    const version = readVersion(await this.#client.call(STATUS, new Uint8Array(), true));
    if (!isRecent(version))
      throw new StoreError(`etcd ${version} is too old: use 3.5.13 or later, because earlier ones may lose changes`);
  }

  isReachable(): boolean {
    return [...this.#followers].every(({ isOpen }) => isOpen);
  }

  async revision(): Promise<number> {
    this.#refuseClosed();
    const key = this.#bytes("/");
    const { revision } = readRange(await this.#client.call(RANGE, renderRange({ key, countOnly: true }), true));
    // The revision may be of a key outside the prefix, of which followers receive no change.
    for (const follower of this.#followers) follower.wanted = Math.max(follower.wanted, revision);
    this.#askProgress();
    return revision;
  }

  /** Asks for progress until every follower has reached what its readers wait for. */
  #askProgress(): void {
    const behind = [...this.#followers].filter(({ revision, wanted }) => revision < wanted);
    for (const follower of behind) follower.askProgress();
    this.#asking?.cancel();
    this.#asking = undefined;
    if (behind.length > 0 && !this.#closing.signal.aborted)
      this.#asking = this.#clock.after(ASK_PROGRESS_EVERY_MS, () => this.#askProgress());
  }

  async compact(revision: number): Promise<void> {
    const newest = await this.revision();
    const upTo = Math.min(revision, newest);
    if (upTo < 1) return;
    try {
      await this.#client.call(COMPACT, renderCompaction(upTo), true);
    } catch (error) {
      // It is compacted already, perhaps by another API server.
      if (!(error instanceof StoreError && error.cause instanceof GrpcError && isCompacted(error.cause))) throw error;
    }
  }

  /** Compacts, again and again, what is older than one interval. Every API server does; those that come later change nothing. */
  keepCompacting(seen: number): void {
    this.#compacting = this.#clock.after(COMPACT_EVERY_MS, () => {
      const next = async (): Promise<number> => {
        const newest = await this.revision();
        await this.compact(seen);
        return newest;
      };
      next().then(
        (newest) => this.#closing.signal.aborted || this.keepCompacting(newest),
        (error: unknown) => {
          if (this.#closing.signal.aborted) return;
          this.#log.warn("etcd was not compacted; trying again later", { error });
          this.keepCompacting(seen);
        },
      );
    });
  }

  /** The newest compacted revision, if this one is older; otherwise 0. */
  async #compactedAfter(revision: number): Promise<number> {
    const oldest = Math.max(1, revision); // 0 would mean the current state.
    try {
      await this.#client.call(RANGE, renderRange({ key: this.#bytes("/"), revision: oldest, countOnly: true }), true);
      return 0;
    } catch (error) {
      const cause = error instanceof StoreError ? error.cause : undefined;
      if (!(cause instanceof GrpcError) || cause.status !== grpcStatus.outOfRange) throw error;
      if (isCompacted(cause)) return this.#readCompacted(oldest);
      throw new ReplacedStoreError(
        `etcd is behind revision ${revision}, which it had: it was restored from a backup; restart this process`,
      );
    }
  }

  /** Only a watch of a compacted revision reports which one is the newest. */
  async #readCompacted(revision: number): Promise<number> {
    const stream = await this.#client.stream(WATCH);
    try {
      stream.send(this.#watchOf(revision, false));
      for await (const message of stream.messages()) {
        const { compactRevision } = readWatch(message);
        if (compactRevision > 0) return compactRevision;
      }
    } catch (error) {
      throw error instanceof GrpcError ? storeErrorOf(error) : error;
    } finally {
      stream.close();
    }
    throw new StoreError("etcd ended a watch without a reason");
  }

  snapshot(): Promise<void> {
    return Promise.reject(
      new StoreError(
        "a store in etcd is backed up with 'etcdctl snapshot save', and restored with 'etcdutl snapshot restore'",
      ),
    );
  }

  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) this.#closing.abort(new StoreError("the etcd store is closed"));
    this.#asking?.cancel();
    this.#compacting?.cancel();
    await Promise.allSettled(this.#writing);
    this.#client.close();
  }

  #refuseClosed(): void {
    if (this.#closing.signal.aborted) throw this.#closing.signal.reason as StoreError;
  }

  #checkPath(key: string): void {
    if (!key.startsWith("/")) throw new StoreError(`cannot write ${key}: a key in etcd begins with a slash`);
  }

  readonly #bytes = (key: string): Uint8Array => Buffer.from(this.#prefix + key);

  #key(bytes: Uint8Array): string {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().slice(this.#prefix.length);
  }

  #entry({ key, modRevision, value }: KeyValue): Entry {
    return { key: this.#key(key), revision: modRevision, value };
  }

  #change({ isDeletion, entry: { key, modRevision, value } }: WatchEvent): Change {
    return { key: this.#key(key), revision: modRevision, value: isDeletion ? null : value };
  }

  #pastChange({ entry: { key, modRevision }, previous }: WatchEvent): PastChange {
    return { key: this.#key(key), revision: modRevision, previous: previous && this.#entry(previous) };
  }

  #watchOf(startRevision: number, withPrevious: boolean): Uint8Array {
    const key = this.#bytes("/");
    return renderWatchCreate({ key, end: endOf(key), startRevision, withPrevious });
  }

  #operationOf({ key, value }: Write): Operation {
    const bytes = this.#bytes(key);
    return value === null ? { type: "delete", key: bytes } : { type: "put", key: bytes, value };
  }

  /** What a failed write reads: the entry that failed it, and the revisions of the guards. */
  #looksOf({ key, guards = [] }: Write): Operation[] {
    const look = (each: string, keysOnly: boolean): Operation => ({ type: "get", key: this.#bytes(each), keysOnly });
    return [look(key, false), ...guards.map((guard) => look(guard.key, true))];
  }
}

/** The first key that does not begin with this one. */
function endOf(key: Uint8Array): Uint8Array {
  const end = Buffer.from(key);
  for (let at = end.length - 1; at >= 0; at--) {
    const byte = end[at] as number;
    if (byte === 0xff) continue;
    end[at] = byte + 1;
    return end.subarray(0, at + 1);
  }
  return Buffer.of(0); // Every key, in etcd's notation.
}

function nextPageSize(entries: readonly KeyValue[]): number {
  const bytes = entries.reduce((sum, { value }) => sum + value.byteLength, 0);
  const fitting = Math.floor(PAGE_BYTES / Math.max(1, bytes / entries.length));
  return Math.max(1, Math.min(PAGE_ENTRIES.most, fitting));
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  return major > 3 || (major === 3 && (minor > 5 || (minor === 5 && patch >= 13)));
}

/** Events and progress of a watch; the events of one revision stay together. */
async function* answersOf(
  stream: GrpcStream,
  after: number,
  onOpen?: () => void,
): AsyncGenerator<{ revision: number; events: WatchEvent[] }, void, undefined> {
  let events: WatchEvent[] = [];
  for await (const message of stream.messages()) {
    const answer = readWatch(message);
    if (answer.compactRevision > 0) throw new CompactedError(after, answer.compactRevision + 1);
    if (answer.isCanceled) throw new GrpcError(grpcStatus.unavailable, reasonOf(answer), true);
    if (answer.isCreated) {
      onOpen?.();
      continue;
    }
    events = events.length > 0 ? [...events, ...answer.events] : answer.events;
    if (answer.isFragment) continue;
    yield { revision: answer.revision, events };
    events = [];
  }
}

const reasonOf = ({ cancelReason }: WatchAnswer): string =>
  cancelReason === "" ? "etcd canceled the watch" : `etcd canceled the watch: ${cancelReason}`;

const isCompacted = ({ status, message }: GrpcError): boolean =>
  status === grpcStatus.outOfRange && message.includes("compacted");

/** Credentials that etcd rejects and history that is gone do not come back by waiting; everything else may. */
function isWorthAnotherTry(error: unknown): boolean {
  if (error instanceof CompactedError || error instanceof ReplacedStoreError) return false;
  const cause = error instanceof StoreError ? error.cause : error;
  return !(
    cause instanceof GrpcError &&
    (cause.status === grpcStatus.unauthenticated || cause.status === grpcStatus.permissionDenied)
  );
}
