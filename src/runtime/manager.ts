/**
 * Runs controllers: starts their sources, waits until everything they read is listed, then works through their queues.
 * Failures end here: they are counted, logged once per key, and come back with back-off.
 */
import { invariant, type Clock, type Log } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import type { Controller } from "./controller.ts";
import { ControllerRunner, type ControllerMetrics } from "./controller-runner.ts";
import type { SharedInformers } from "./informers.ts";

/** How long `stop` waits for reconciles that do not mind the signal. */
const STOP_LIMIT_MS = 10_000;
/** Controllers ask for more kinds while they run, as users name them; only what takes longer than this is a problem. */
const UNANSWERED_AFTER_MS = 60_000;

export interface ManagerOptions {
  client: Client;
  informers: SharedInformers;
  clock: Clock;
  log: Log;
}

export interface Manager {
  /** Names must differ. After `start` the controllers begin at once. */
  // oxlint-disable-next-line typescript/no-explicit-any -- A list of controllers of different keys; each key stays inside its own.
  add(...controllers: Controller<any>[]): void;
  /** Begins. When `signal` is aborted it stops as by `stop`. */
  start(signal: AbortSignal): void;
  /** Takes no more keys, aborts the signal of running reconciles, and waits for them, but not for ever. */
  stop(): Promise<void>;
  /** Resolves when every controller has what it reads, and works. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** No key is ready or running, and nothing is known to be on its way. Delayed keys do not count. */
  isQuiet(): boolean;
  /** What keeps it from being quiet, for people. */
  busy(): string[];
  /**
   * What does not get better by itself, for people; empty when it is healthy. It is not before it has started and has
   * an answer about everything that it reads, and not while a reconcile or a queue stands still or a controller fails
   * with everything, for longer than a bound.
   */
  problems(): string[];
  /** By controller name. */
  metrics(): ReadonlyMap<string, ControllerMetrics>;
}

export function createManager(options: ManagerOptions): Manager {
  const { informers, clock, log } = options;
  const runners = new Map<string, ControllerRunner<unknown>>();
  const stopping = new AbortController();
  let started = false;
  /** It has had an answer about everything that it reads. */
  let hasBegun = false;
  let stopped: Promise<void> | undefined;

  const stop = async (): Promise<void> => {
    stopping.abort();
    const finished = Promise.all(Array.from(runners.values(), (runner) => runner.stop()));
    const limit = Promise.withResolvers<void>();
    const timer = clock.after(STOP_LIMIT_MS, () => {
      log.warn("reconciles still run after the manager stopped", {
        running: Array.from(runners.values()).flatMap((runner) => runner.runningIds()),
      });
      limit.resolve();
    });
    await Promise.race([finished, limit.promise]);
    timer.cancel();
  };
  const manager: Manager = {
    add(...controllers) {
      for (const controller of controllers as Controller[]) {
        invariant(!runners.has(controller.name), `two controllers are called ${controller.name}`);
        const runner = new ControllerRunner({ ...options, controller, signal: stopping.signal });
        runners.set(controller.name, runner);
        if (started) runner.start();
      }
    },
    start(signal) {
      invariant(!started, "the manager was started twice");
      started = true;
      const stopNow = (): void => void manager.stop();
      signal.addEventListener("abort", stopNow, { once: true, signal: stopping.signal });
      if (signal.aborted) stopNow();
      else for (const runner of runners.values()) runner.start();
    },
    stop: () => (stopped ??= stop()),
    async whenSynced(signal) {
      for (const runner of runners.values()) await runner.whenReady(signal);
    },
    isQuiet: () => informers.isQuiet() && runners.values().every((runner) => runner.isQuiet()),
    busy: () => [
      ...informers.busy().map((kind) => `listing ${kind}`),
      ...Array.from(runners.values().flatMap((runner) => runner.busy())),
    ],
    problems() {
      if (!started || stopping.signal.aborted)
        return [started ? "the controllers are stopping" : "the controllers have not started"];
      const unanswered = informers.unanswered(hasBegun ? UNANSWERED_AFTER_MS : 0);
      hasBegun ||= unanswered.length === 0;
      return [
        ...unanswered.map((kind) => `nothing is known of ${kind} yet`),
        ...Array.from(runners.values().flatMap((runner) => runner.problems())),
      ];
    },
    metrics: () => new Map(Array.from(runners, ([name, runner]) => [name, runner.metrics()])),
  };
  return manager;
}
