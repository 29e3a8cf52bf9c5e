/** Runs one controller: its queue, its sources and its workers. The manager owns it. */
import {
  abortable,
  exponentialBuckets,
  FlotillaError,
  Histogram,
  TerminalError,
  type Clock,
  type Log,
  type LogFields,
} from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { isNamespaceTerminating } from "@flotilla/apimachinery";
import type { Controller, Informer, Result, RunContext, Source } from "./runtime-controller.ts";
import type { SharedInformers } from "./informers.ts";
import { createQueue, type Queue } from "./queue.ts";
import { informerSource } from "./sources.ts";

/** With the queue's backoff this is about a third of a second. */
const FAILURES_BEFORE_WARNING = 7;
/** With the queue's backoff this is about twenty seconds. */
const FAILURES_BEFORE_ERROR = 13;
/**
 * How many keys of the initial list are started per turn of the event loop. Small, because after a restart all
 * controllers process thousands of keys that mostly need nothing, and fresh changes must not wait for them.
 */
const RESYNCS_PER_TURN = 4;
/**
 * The resync share of concurrent keys. The rest is for fresh changes: keys of the initial list may all wait for the
 * same member.
 */
const RESYNC_SHARE = 3 / 4;
/** How many keys a report about busy controllers names. */
const MAX_NAMED_KEYS = 5;

/** A reconcile, or a ready key, of this age means that the controller is stuck: requests time out after a minute. */
const STUCK_AFTER_MS = 10 * 60_000;
/** Without a single success for this long, a controller is broken. */
const FAILING_AFTER_MS = 10 * 60_000;
/**
 * One object that fails to reconcile is its owner's problem; several failing objects, and no success, are the
 * controller's.
 */
const FAILING_KEYS = 3;

/**
 * Upper limits in seconds, those of controller-runtime and of client-go's workqueues, so that their dashboards work.
 */
export const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
export const QUEUE_BUCKETS = exponentialBuckets(1e-8, 10, 12);

/** Counts since the start, and current values. */
export interface ControllerMetrics {
  reconciles: number;
  /** Reconciles that threw, terminal ones included. */
  failures: number;
  /** Of these, those that are not retried automatically. */
  terminalFailures: number;
  /** Reconciles that returned a requeue delay. */
  requeues: number;
  queueLength: number;
  running: number;
  delayed: number;
  concurrency: number;
  /** How often a key became ready, and how often because of a retry. */
  adds: number;
  retries: number;
  /** How long the oldest ready key has waited; 0 when none is ready. */
  oldestQueuedMs: number;
  /** How long the running reconciles have been running: the longest, and the sum. */
  longestRunningMs: number;
  allRunningMs: number;
  /** In seconds. */
  reconcileTime: Histogram;
  /** The same times in the buckets of workqueues. */
  workTime: Histogram;
  queueTime: Histogram;
}

/** The log of one reconcile. Most reconciles log nothing, so the log with the key is made for the first line. */
class KeyLog implements Log {
  readonly #base: Log;
  readonly #key: string;
  #own: Log | undefined;

  constructor(base: Log, key: string) {
    this.#base = base;
    this.#key = key;
  }

  get #log(): Log {
    return (this.#own ??= this.#base.with({ key: this.#key }));
  }

  debug(message: string, fields?: LogFields): void {
    this.#log.debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log.info(message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log.warn(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log.error(message, fields);
  }

  with(fields: LogFields): Log {
    return this.#log.with(fields);
  }
}

export interface RunnerOptions<K> {
  controller: Controller<K>;
  client: Client;
  informers: SharedInformers;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  /** Called when there is work. Without such a call a runner stays quiet, apart from `otherSources`. */
  onBusy: () => void;
}

export class ControllerRunner<K> {
  readonly #controller: Controller<K>;
  readonly #options: RunnerOptions<K>;
  readonly #log: Log;
  readonly #queue: Queue<K>;
  readonly #sources: Source<K>[] = [];
  /** The sources that may be busy while the manager's informers are quiet. */
  readonly otherSources: Source<K>[] = [];
  readonly #running = new Map<string, { sinceMs: number; work: Promise<void> }>();
  readonly #reconcileTime = new Histogram(RECONCILE_BUCKETS);
  readonly #workTime = new Histogram(QUEUE_BUCKETS);
  readonly #queueTime = new Histogram(QUEUE_BUCKETS);
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;
  #pumping = false;
  #reconciles = 0;
  #failures = 0;
  #terminalFailures = 0;
  #requeues = 0;
  /** The time of the first failure since the last success. */
  #failingSinceMs: number | undefined;

  constructor(options: RunnerOptions<K>) {
    this.#options = options;
    this.#controller = options.controller;
    this.#log = options.log.with({ controller: options.controller.name });
    const { priorityOf } = options.controller;
    this.#queue = createQueue({
      clock: options.clock,
      idOf: (key) => this.#controller.idOf(key),
      priorityOf: priorityOf && ((key) => priorityOf(key)),
      onReady: () => this.#pumpSoon(),
      onTake: (waitedMs) => this.#queueTime.observe(waitedMs / 1000),
    });
  }

  start(): void {
    const { signal } = this.#options;
    const informers: Informer<never>[] = [];
    for (const request of this.#controller.sources) {
      if ("source" in request) {
        this.#sources.push(request.source);
        this.otherSources.push(request.source);
        continue;
      }
      const from = request.informers ?? this.#options.informers;
      const informer = from.of(request.kind);
      informers.push(informer as Informer<never>);
      const source = informerSource(informer, (event) => request.map(event));
      this.#sources.push(source);
      if (from !== this.#options.informers) this.otherSources.push(source);
    }
    for (const kind of this.#controller.reads ?? [])
      informers.push(this.#options.informers.of(kind) as Informer<never>);
    for (const source of this.#sources) source.start((key, lane) => this.#queue.add(key, lane), signal);
    void this.#begin(informers);
  }

  /**
   * Waits for the kinds that the controller watches and reads; a controller that declares no reads may read any open
   * kind.
   */
  async #begin(informers: readonly Informer<never>[]): Promise<void> {
    const { signal } = this.#options;
    try {
      for (const informer of informers) if (!informer.synced) await informer.whenSynced(signal);
      if (!this.#controller.reads) await this.#options.informers.whenSynced(signal);
    } catch (error) {
      if (!signal.aborted) this.#log.error("controller not started, an informer it watches was closed", { error });
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
    await Promise.all(Array.from(this.#running.values(), ({ work }) => work));
  }

  runningIds(): string[] {
    return Array.from(this.#running.keys(), (id) => `${this.#controller.name} ${id}`);
  }

  /** Does not cover what it reads: the manager checks its informers and the other sources for all controllers. */
  isQuiet(): boolean {
    // Until the controller is ready, keys only accumulate; the informers report what it waits for.
    return this.#running.size === 0 && (!this.#isReady || this.#queue.isIdle());
  }

  busy(): string[] {
    if (this.isQuiet() && this.otherSources.every((source) => source.isQuiet())) return [];
    const ids = [...this.#running.keys().take(MAX_NAMED_KEYS)].join(", ");
    return [
      `${this.#controller.name}: ${this.#queue.length} queued, ${this.#running.size} ` +
        `running${ids && ` (${ids})`}, ${this.#reconciles} reconciles, ${this.#failures} failures so far`,
    ];
  }

  metrics(): ControllerMetrics {
    const nowMs = this.#options.clock.now();
    const ages = Array.from(this.#running.values(), ({ sinceMs }) => nowMs - sinceMs);
    return {
      reconciles: this.#reconciles,
      failures: this.#failures,
      terminalFailures: this.#terminalFailures,
      requeues: this.#requeues,
      queueLength: this.#queue.length,
      running: this.#running.size,
      delayed: this.#queue.delayed,
      concurrency: this.#controller.concurrency,
      adds: this.#queue.adds,
      retries: this.#queue.retries,
      oldestQueuedMs: nowMs - (this.#queue.oldestMs() ?? nowMs),
      longestRunningMs: Math.max(0, ...ages),
      allRunningMs: ages.reduce((sum, age) => sum + age, 0),
      reconcileTime: this.#reconcileTime,
      workTime: this.#workTime,
      queueTime: this.#queueTime,
    };
  }

  /**
   * Problems that do not resolve by themselves, for operators. A controller that waits for a kind that is not served
   * has no problem.
   */
  problems(): string[] {
    if (!this.#isReady) return [];
    // Every health probe asks a hundred controllers, nearly all of them idle.
    if (this.#queue.isIdle() && this.#failingSinceMs === undefined) return [];
    const { name } = this.#controller;
    const nowMs = this.#options.clock.now();
    const problems: string[] = [];
    const stuck = Array.from(this.#running).find(([, { sinceMs }]) => nowMs - sinceMs >= STUCK_AFTER_MS);
    if (stuck) problems.push(`${name} has been reconciling ${stuck[0]} for ${minutes(nowMs - stuck[1].sinceMs)}`);
    const oldestMs = this.#queue.oldestMs() ?? nowMs;
    if (nowMs - oldestMs >= STUCK_AFTER_MS)
      problems.push(`${name} has not processed a queued key for ${minutes(nowMs - oldestMs)}`);
    const failingMs = nowMs - (this.#failingSinceMs ?? nowMs);
    if (failingMs >= FAILING_AFTER_MS && this.#queue.failing >= FAILING_KEYS)
      problems.push(
        `${name} has had no successful reconcile for ${minutes(failingMs)}; ${this.#queue.failing} keys are failing`,
      );
    return problems;
  }

  /** In the next turn of the event loop: arrivals of this turn are batched, and other work gets its chance. */
  #pumpSoon(): void {
    if (!this.#isReady) return;
    this.#options.onBusy();
    if (this.#pumping) return;
    this.#pumping = true;
    setImmediate(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    let resyncs = 0;
    while (this.#running.size < this.#controller.concurrency && !this.#options.signal.aborted) {
      if (this.#queue.nextLane() === "resync") {
        if (this.#running.size >= this.#controller.concurrency * RESYNC_SHARE) return;
        if (++resyncs > RESYNCS_PER_TURN) return this.#pumpSoon();
      }
      const key = this.#queue.take();
      if (key === undefined) return;
      const id = this.#controller.idOf(key);
      this.#running.set(id, { sinceMs: this.#options.clock.now(), work: this.#work(key, id) });
    }
  }

  async #work(key: K, id: string): Promise<void> {
    const { client, informers, signal } = this.#options;
    const log = new KeyLog(this.#log, id);
    this.#reconciles++;
    const startMs = performance.now();
    try {
      this.#succeed(key, log, await this.#call(key, { client, informers, log, signal }));
    } catch (error) {
      // An interruption by a stopping manager is not a failure.
      if (!signal.aborted) this.#fail(key, log, error);
    }
    const seconds = (performance.now() - startMs) / 1000;
    this.#reconcileTime.observe(seconds);
    this.#workTime.observe(seconds);
    this.#queue.finish(key);
    this.#running.delete(id);
    this.#pumpSoon();
  }

  /** A separate function, so that a reconcile that throws before its first await rejects like any other. */
  async #call(key: K, context: RunContext): Promise<Result> {
    return this.#controller.reconcile(key, context);
  }

  #succeed(key: K, log: Log, { requeueAfterMs }: Result): void {
    this.#failingSinceMs = undefined;
    if (requeueAfterMs !== undefined) {
      this.#requeues++;
      this.#queue.addAfter(key, requeueAfterMs);
    }
    const failures = this.#queue.succeeded(key);
    if (failures >= FAILURES_BEFORE_WARNING) log.info("reconcile recovered", { failures });
  }

  #fail(key: K, log: Log, error: unknown): void {
    // A controller that creates objects in a terminating namespace is soon notified that their owner is deleted too.
    // The namespace may also be recreated, so the reconcile is retried.
    if (isNamespaceTerminating(error)) {
      log.debug("namespace is terminating, retrying", { failures: this.#queue.addFailed(key) });
      return;
    }
    this.#failures++;
    this.#failingSinceMs ??= this.#options.clock.now();
    if (error instanceof TerminalError) {
      this.#terminalFailures++;
      this.#queue.succeeded(key);
      log.warn("reconcile failed terminally", { error });
      return;
    }
    const failures = this.#queue.addFailed(key);
    // A failure that a second or third attempt resolves (a namespace that is being created, a race) is not worth a log
    // line; a lasting failure needs an operator.
    if (error instanceof FlotillaError) {
      if (failures === FAILURES_BEFORE_WARNING) log.warn("reconcile keeps failing, retrying", { failures, error });
      else if (failures === FAILURES_BEFORE_ERROR) log.error("reconcile failed repeatedly", { failures, error });
      else log.debug("reconcile failed", { failures, error });
    } else if (failures > 1) log.debug("reconcile failed again", { failures, error });
    // Not one of our error classes, so probably a bug: the stack matters more than the message.
    else
      log.error("reconcile failed unexpectedly, retrying", {
        failures,
        error,
        stack: error instanceof Error ? error.stack : undefined,
      });
  }
}

function minutes(ms: number): string {
  return `${Math.floor(ms / 60_000)} min`;
}
