/** One controller at work: its queue, its sources and its workers. The manager owns it. */
import { FlotillaError, TerminalError, type Clock, type Log } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import { abortable } from "./abortable.ts";
import type { Controller, Informer, Result, RunContext, Source } from "./controller.ts";
import type { SharedInformers } from "./informers.ts";
import { createQueue, type Queue } from "./queue.ts";
import { informerSource } from "./sources.ts";

/** With the back-off of the queue this is about a third of a second. */
const FAILURES_BEFORE_WARNING = 7;
/** And this about twenty seconds. */
const FAILURES_BEFORE_ERROR = 13;
/** How many keys an answer about what is busy names. */
const MAX_NAMED_KEYS = 5;

/** Counts since the start, and what is there now. */
export interface ControllerMetrics {
  reconciles: number;
  /** Reconciles that threw, terminal ones included. */
  failures: number;
  queueLength: number;
  running: number;
  delayed: number;
}

export interface RunnerOptions<K> {
  controller: Controller<K>;
  client: Client;
  informers: SharedInformers;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}

export class ControllerRunner<K> {
  readonly #controller: Controller<K>;
  readonly #options: RunnerOptions<K>;
  readonly #log: Log;
  readonly #queue: Queue<K>;
  readonly #sources: Source<K>[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;
  #pumping = false;
  #reconciles = 0;
  #failures = 0;

  constructor(options: RunnerOptions<K>) {
    this.#options = options;
    this.#controller = options.controller;
    this.#log = options.log.with({ controller: options.controller.name });
    this.#queue = createQueue({ clock: options.clock, idOf: (key) => this.#controller.idOf(key), onReady: () => this.#pumpSoon() });
  }

  start(): void {
    const { signal } = this.#options;
    const informers: Informer<never>[] = [];
    for (const request of this.#controller.sources) {
      if ("source" in request) {
        this.#sources.push(request.source);
        continue;
      }
      const informer = (request.informers ?? this.#options.informers).of(request.kind);
      informers.push(informer as Informer<never>);
      this.#sources.push(informerSource(informer, (event) => request.map(event)));
    }
    for (const source of this.#sources) source.start((key, lane) => this.#queue.add(key, lane), signal);
    void this.#begin(informers);
  }

  /** Waits for what the controller watches, and for what is open besides, because a reconcile may read that too. */
  async #begin(informers: readonly Informer<never>[]): Promise<void> {
    const { signal } = this.#options;
    try {
      for (const informer of informers) await informer.whenSynced(signal);
      await this.#options.informers.whenSynced(signal);
    } catch (error) {
      if (!signal.aborted) this.#log.error("controller cannot start, what it watches was closed", { error });
      return;
    }
    this.#isReady = true;
    this.#ready.resolve();
    this.#pumpSoon();
  }

  whenReady(signal: AbortSignal): Promise<void> {
    return abortable(this.#ready.promise, signal);
  }

  async stop(): Promise<void> {
    this.#queue.close();
    await Promise.all(this.#running.values());
  }

  runningIds(): string[] {
    return Array.from(this.#running.keys(), (id) => `${this.#controller.name} ${id}`);
  }

  isQuiet(): boolean {
    // Before it is ready, keys only gather; what it waits for is the informers' to tell.
    return this.#running.size === 0 && (!this.#isReady || this.#queue.isIdle()) && this.#sources.every((source) => source.isQuiet());
  }

  busy(): string[] {
    if (this.isQuiet()) return [];
    const ids = [...this.#running.keys().take(MAX_NAMED_KEYS)].join(", ");
    return [`${this.#controller.name}: ${this.#queue.length} queued, ${this.#running.size} running${ids && ` (${ids})`}, ${this.#reconciles} reconciles, ${this.#failures} failures so far`];
  }

  metrics(): ControllerMetrics {
    return { reconciles: this.#reconciles, failures: this.#failures, queueLength: this.#queue.length, running: this.#running.size, delayed: this.#queue.delayed };
  }

  /** In the next turn of the event loop: what arrives in this one is joined, and other work gets its chance. */
  #pumpSoon(): void {
    if (this.#pumping || !this.#isReady) return;
    this.#pumping = true;
    setImmediate(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#running.size < this.#controller.concurrency && !this.#options.signal.aborted) {
      const key = this.#queue.take();
      if (key === undefined) return;
      const id = this.#controller.idOf(key);
      this.#running.set(id, this.#work(key, id));
    }
  }

  async #work(key: K, id: string): Promise<void> {
    const { client, informers, signal } = this.#options;
    const log = this.#log.with({ key: id });
    this.#reconciles++;
    try {
      this.#succeed(key, log, await this.#call(key, { client, informers, log, signal }));
    } catch (error) {
      // What a stopping manager interrupts is no failure.
      if (!signal.aborted) this.#fail(key, log, error);
    }
    this.#queue.finish(key);
    this.#running.delete(id);
    this.#pumpSoon();
  }

  /** Separate, so that a reconcile that throws before its first await rejects like any other. */
  async #call(key: K, context: RunContext): Promise<Result> {
    return this.#controller.reconcile(key, context);
  }

  #succeed(key: K, log: Log, { requeueAfterMs }: Result): void {
    if (requeueAfterMs !== undefined) this.#queue.addAfter(key, requeueAfterMs);
    const failures = this.#queue.succeeded(key);
    if (failures >= FAILURES_BEFORE_WARNING) log.info("reconcile works again", { failures });
  }

  #fail(key: K, log: Log, error: unknown): void {
    this.#failures++;
    if (error instanceof TerminalError) {
      this.#queue.succeeded(key);
      log.warn("reconcile failed until something changes", { error });
      return;
    }
    const failures = this.#queue.addFailed(key);
    // What a second or third try mends (a namespace that is on its way, a race) is not worth a line; what lasts needs a person.
    if (error instanceof FlotillaError) {
      if (failures === FAILURES_BEFORE_WARNING) log.warn("reconcile keeps failing, trying again", { failures, error });
      else if (failures === FAILURES_BEFORE_ERROR) log.error("reconcile fails again and again", { failures, error });
      else log.debug("reconcile failed", { failures, error });
    } else if (failures > 1) log.debug("reconcile failed again", { failures, error });
    // Not one of the errors we know, so probably a mistake of ours: where it happened matters more than what it says.
    else log.error("reconcile failed unexpectedly, trying again", { failures, error, stack: error instanceof Error ? error.stack : undefined });
  }
}
