/**
 * The durable engine: SQLite in a worker thread.
 *
 * The event loop batches writes for a tick, sends them in one message, and settles them in order when the worker
 * reports that they are on disk. It keeps the newest changes itself, so following them costs no message; older ones are
 * read from disk.
 */
import { setImmediate } from "node:timers";
import { Worker } from "node:worker_threads";
import { moduleBeside, required } from "@flotilla/base";
import { ChangeLog } from "./change-log.ts";
import type { Change, ChangeBatch, Engine, Entry, Outcome, PastChange, Write } from "./engine.ts";
import { CompactedError, DamagedStoreError, StoreError, StoreWriteError } from "./errors.ts";
import {
  CHANGED,
  packWrites,
  EXPECTATION_FAILED,
  GUARD_FAILED,
  unpackEntries,
  type Answer,
  type Committed,
  type FromWorker,
  type Query,
  type ToWorker,
} from "./sqlite-protocol.ts";
import { writeSnapshot } from "./sqlite-snapshot.ts";
import { checkWrite } from "./write-rules.ts";

/** Copying a message of this size takes well under a millisecond. */
const MESSAGE_WRITES = 1024;
const MESSAGE_BYTES = 1024 * 1024;
/** A message ends with the write that exceeds the limit, so a little more than that fits nearly all. */
const SPARE_BYTES = MESSAGE_BYTES + 64 * 1024;
/** One is being filled and one is at the worker; more accumulate only in bursts. */
const MAX_SPARES = 4;
/** Changes that the event loop keeps for followers. */
const RECENT_LIMIT = 4096;
const CHANGES_PAGE = 256;

export interface SqliteEngineOptions {
  /** The file; created when it is missing, in an existing directory. Beside it are `-wal`, `-shm`, `.lock` and `.acknowledged`. */
  path: string;
  /** How many changes are kept on disk for `changes`. */
  historyLimit?: number;
  /**
   * The limit of bytes that wait for the disk. Beyond it writers outrun the disk and writes are rejected, which limits
   * memory.
   */
  maxWaitingBytes?: number;
}

/** Rejects with `StoreError` when another process uses the file, or when it is damaged or not a store. */
export async function openSqliteEngine(options: SqliteEngineOptions): Promise<Engine> {
  const { path, historyLimit = 10_000, maxWaitingBytes = 256 * 1024 * 1024 } = options;
  const worker = new Worker(moduleBeside(import.meta.url, "./sqlite-worker"), { workerData: { path, historyLimit } });
  return connectSqliteEngine(worker, { path, maxWaitingBytes });
}

/** The engine with a newly started worker. Separate from `openSqliteEngine`, for tests that end the worker. */
export async function connectSqliteEngine(
  worker: Worker,
  options: { path: string; maxWaitingBytes: number },
): Promise<Engine> {
  const { path } = options;
  const first = await new Promise<FromWorker>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", (error) => reject(new StoreError(`cannot use the store ${path}`, { cause: error })));
    worker.once("exit", () => reject(new StoreError(`cannot use the store ${path}: its thread exited`)));
  });
  if (first.type === "unusable") throw storeError(first);
  if (first.type !== "ready") throw new StoreError(`cannot use the store ${path}: its thread replied ${first.type}`);
  return new SqliteEngine(worker, options, first.revision);
}

interface PendingCommit {
  write: Write;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

interface PendingQuery {
  /** Set for a query for changes. */
  after: number | undefined;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

class SqliteEngine implements Engine {
  readonly isShared = false;
  readonly #worker: Worker;
  readonly #path: string;
  readonly #maxWaitingBytes: number;
  readonly #log: ChangeLog;
  readonly #queries = new Map<number, PendingQuery>();
  /** Not sent yet. */
  #queue: PendingCommit[] = [];
  /** Sent, in the order in which the worker will decide them. */
  readonly #sent: PendingCommit[] = [];
  readonly #spares: ArrayBuffer[] = [];
  #waitingBytes = 0;
  #revision: number;
  #querySequence = 0;
  #isScheduled = false;
  #closing: Promise<void> | undefined;
  #failure: StoreError | undefined;
  readonly #exited = Promise.withResolvers<void>();

  constructor(worker: Worker, { path, maxWaitingBytes }: { path: string; maxWaitingBytes: number }, revision: number) {
    this.#worker = worker;
    this.#path = path;
    this.#maxWaitingBytes = maxWaitingBytes;
    this.#revision = revision;
    this.#log = new ChangeLog({ start: revision, limit: RECENT_LIMIT, older: (after) => this.#olderChanges(after) });
    worker.on("message", (message: FromWorker) => this.#receive(message));
    worker.on("error", (error) =>
      this.#fail(new StoreError(`the store ${path} failed; restart to recover what is on disk`, { cause: error })),
    );
    worker.on("exit", () => {
      this.#fail(
        new StoreError(
          this.#closing
            ? `the store ${path} is closed`
            : `the thread of the store ${path} exited; restart to recover what is on disk`,
        ),
      );
      this.#exited.resolve();
    });
  }

  commit(write: Write): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#checkOpen();
      checkWrite(write);
      if (this.#waitingBytes > this.#maxWaitingBytes)
        throw new StoreError(`cannot write ${write.key}: too many writes are waiting for the disk; try again later`);
      this.#waitingBytes += sizeOf(write);
      this.#queue.push({ write, resolve, reject });
      this.#schedule();
    });
  }

  /**
   * The snapshot is taken when the worker receives the message; it includes every write acknowledged before this call.
   */
  scan(prefix: string): AsyncIterable<Entry[]> {
    this.#checkOpen();
    const first = this.#ask({ type: "scan", prefix });
    // An iterating caller gets the error; without iteration it is irrelevant.
    void Promise.allSettled([first]);
    return this.#entries(first);
  }

  changes(after: number, signal: AbortSignal): AsyncIterable<ChangeBatch> {
    return this.#log.follow(after, signal);
  }

  async *past(upTo: number): AsyncGenerator<PastChange[], void, undefined> {
    for (let next = upTo; ;) {
      this.#checkOpen();
      const answer = await this.#ask({ type: "past", upTo: next });
      const page = answer && "past" in answer ? answer.past : [];
      const oldest = page.at(-1);
      if (!oldest) return;
      yield page;
      next = oldest.revision - 1;
    }
  }

  async revision(): Promise<number> {
    this.#checkOpen();
    return this.#revision;
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    await this.#ask({ type: "compact", revision });
    this.#log.forget(Math.min(revision, this.#revision));
  }

  async snapshot(path: string): Promise<void> {
    this.#checkOpen();
    await writeSnapshot(this.#path, path);
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    if (!this.#failure) {
      while (this.#queue.length > 0) this.#send();
      await this.#ask({ type: "close" });
    }
    await this.#exited.promise;
  }

  #checkOpen(): void {
    if (this.#failure) throw this.#failure;
    if (this.#closing) throw new StoreError(`the store ${this.#path} is closed`);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const send = (): void => {
      this.#isScheduled = false;
      this.#send();
      if (this.#queue.length > 0) this.#schedule();
    };
    // An idle worker starts immediately, so that it commits while this thread handles the next requests; a busy one
    // gets the writes of a whole tick.
    if (this.#sent.length === 0) queueMicrotask(send);
    else setImmediate(send);
  }

  /** Sends one message of writes. */
  #send(): void {
    let count = 0;
    for (let bytes = 0; count < this.#queue.length && count < MESSAGE_WRITES && bytes < MESSAGE_BYTES; count++) {
      bytes += sizeOf((this.#queue[count] as PendingCommit).write);
    }
    if (count === 0) return;
    const batch = count === this.#queue.length ? this.#queue : this.#queue.slice(0, count);
    this.#queue = count === this.#queue.length ? [] : this.#queue.slice(count);
    const message = packWrites(
      batch.map(({ write }) => write),
      this.#spares.pop() ?? new ArrayBuffer(SPARE_BYTES),
    );
    for (const pending of batch) this.#sent.push(pending);
    this.#post(message, [message.bytes.buffer]);
  }

  #post(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #ask(query: Query): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      const id = ++this.#querySequence;
      this.#queries.set(id, { after: "after" in query ? query.after : undefined, resolve, reject });
      this.#post({ type: "query", id, query });
    });
  }

  #receive(message: FromWorker): void {
    if (message.type === "committed") return this.#settle(message);
    if (message.type === "rolled-back") {
      const error = new StoreWriteError(message.message);
      for (const pending of this.#takeSent(message.count)) pending.reject(error);
      return;
    }
    if (message.type !== "answer" && message.type !== "refusal") return;
    const query = required(this.#queries.get(message.id), "the query that was answered");
    this.#queries.delete(message.id);
    if (message.type === "answer") query.resolve(message.answer);
    else
      query.reject(
        message.oldest === undefined ? storeError(message) : new CompactedError(query.after ?? 0, message.oldest),
      );
  }

  #settle({ verdicts, revisions, current, failedGuards, spares }: Committed): void {
    for (const spare of spares)
      if (spare.byteLength === SPARE_BYTES && this.#spares.length < MAX_SPARES) this.#spares.push(spare);
    const settled = this.#takeSent(verdicts.length);
    const changes: Change[] = [];
    settled.forEach(({ write }, index) => {
      if (verdicts[index] === CHANGED)
        changes.push({ key: write.key, revision: revisions[index] as number, value: write.value });
    });
    this.#revision = changes.at(-1)?.revision ?? this.#revision;
    if (changes.length > 0) this.#log.append(changes);
    settled.forEach(({ resolve }, index) => {
      const revision = revisions[index] as number;
      if (verdicts[index] === GUARD_FAILED)
        return resolve({
          ok: false,
          failedGuard: required(failedGuards.get(index), "the guard that failed"),
          revision,
        });
      if (verdicts[index] !== EXPECTATION_FAILED) return resolve({ ok: true, revision });
      const found = current.get(index);
      resolve(found ? { ok: false, current: found } : { ok: false });
    });
  }

  #takeSent(count: number): PendingCommit[] {
    const taken = this.#sent.splice(0, count);
    for (const { write } of taken) this.#waitingBytes -= sizeOf(write);
    return taken;
  }

  async #olderChanges(after: number): Promise<Change[]> {
    const answer = await this.#ask({ type: "changes", after, limit: CHANGES_PAGE });
    return answer && "changes" in answer ? answer.changes : [];
  }

  async *#entries(first: Promise<Answer>): AsyncGenerator<Entry[], void, undefined> {
    let scan: number | undefined;
    try {
      for (let answer = await first; answer && "page" in answer;) {
        scan = answer.isLast ? undefined : answer.scan;
        // The worker reads the next page while this one is processed.
        const next = answer.isLast ? undefined : this.#ask({ type: "scan-next", scan: answer.scan });
        if (next) void Promise.allSettled([next]);
        if (answer.page.keys.length > 0) yield unpackEntries(answer.page);
        if (!next) return;
        answer = await next;
      }
    } finally {
      if (scan !== undefined && !this.#failure) await this.#ask({ type: "scan-end", scan });
    }
  }

  /** The result of sent writes is unknown. */
  #fail(error: StoreError): void {
    this.#failure ??= error;
    for (const { reject } of [
      ...this.#takeSent(this.#sent.length),
      ...this.#queue.splice(0),
      ...this.#queries.values(),
    ])
      reject(this.#failure);
    this.#queries.clear();
    this.#log.fail(this.#failure);
  }
}

/** Errors lose their class between the worker and this thread. */
function storeError({ message, isDamaged }: { message: string; isDamaged?: boolean }): StoreError {
  return isDamaged ? new DamagedStoreError(message) : new StoreError(message);
}

/** The object and the key take memory too, also for a deletion. */
function sizeOf({ key, value, guards }: Write): number {
  return 200 + key.length + (value?.byteLength ?? 0) + 100 * (guards?.length ?? 0);
}
