/**
 * Runs controllers: starts their sources, waits until everything they read is listed, then processes their queues.
 * Failures are handled here: they are counted, logged once per key, and retried with backoff.
 */
import { invariant, type Clock, type Log } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Controller, Source } from "./runtime-controller.ts";
import { ControllerRunner, type ControllerMetrics } from "./controller-runner.ts";
import type { SharedInformers } from "./informers.ts";

/** How long `stop` waits for reconciles that ignore the signal. */
const STOP_LIMIT_MS = 10_000;
/** Controllers open more kinds at run time, as users name them; only those that take longer than this are a problem. */
const UNANSWERED_AFTER_MS = 60_000;

export interface ManagerOptions {
  client: Client;
  informers: SharedInformers;
  clock: Clock;
  log: Log;
}

export interface Manager {
  /** Names must be unique. After `start`, added controllers start immediately. */
  // oxlint-disable-next-line typescript/no-explicit-any -- A list of controllers of different keys; each key stays inside its own.
  add(...controllers: Controller<any>[]): void;
  /** Starts the controllers. Aborting `signal` is equivalent to `stop`. */
  start(signal: AbortSignal): void;
  /** Starts no more keys, aborts the signal of running reconciles, and waits for them, up to a limit. */
  stop(): Promise<void>;
  /** Resolves when every controller has synced what it reads, and is running. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** No key is ready or running, and no change is known to be in flight. Delayed keys do not count. */
  isQuiet(): boolean;
  /** Reasons why it is not quiet, for operators. */
  busy(): string[];
  /**
   * Problems that do not resolve by themselves, for operators; empty when it is healthy. It is unhealthy until it has
   * started and has had a response for everything it reads, and while a reconcile or a queue is stuck or a controller
   * only fails, for longer than a limit.
   */
  problems(): string[];
  /** By controller name. */
  metrics(): ReadonlyMap<string, ControllerMetrics>;
}

export function createManager(options: ManagerOptions): Manager {
  const { informers, clock, log } = options;
  const runners = new Map<string, ControllerRunner<unknown>>();
  /** Those that had work and were not quiet when last asked. */
  const busy = new Set<ControllerRunner<unknown>>();
  /** Those of all controllers. */
  const otherSources: Pick<Source<unknown>, "isQuiet">[] = [];
  const stopping = new AbortController();
  let started = false;
  /** It has had a response for everything it reads. */
  let hasBegun = false;
  let stopped: Promise<void> | undefined;

  const stop = async (): Promise<void> => {
    stopping.abort();
    const finished = Promise.all(Array.from(runners.values(), (runner) => runner.stop()));
    const limit = Promise.withResolvers<void>();
    const timer = clock.after(STOP_LIMIT_MS, () => {
      log.warn("reconciles still running after the manager stopped", {
        running: Array.from(runners.values()).flatMap((runner) => runner.runningIds()),
      });
      limit.resolve();
    });
    await Promise.race([finished, limit.promise]);
    timer.cancel();
  };
  const startRunner = (runner: ControllerRunner<unknown>): void => {
    runner.start();
    otherSources.push(...runner.otherSources);
  };
  const manager: Manager = {
    add(...controllers) {
      for (const controller of controllers as Controller[]) {
        invariant(!runners.has(controller.name), `two controllers are named ${controller.name}`);
        const runner = new ControllerRunner({
          ...options,
          controller,
          signal: stopping.signal,
          onBusy: () => busy.add(runner),
        });
        runners.set(controller.name, runner);
        if (started) startRunner(runner);
      }
    },
    start(signal) {
      invariant(!started, "the manager was started twice");
      started = true;
      const stopNow = (): void => void manager.stop();
      signal.addEventListener("abort", stopNow, { once: true, signal: stopping.signal });
      if (signal.aborted) stopNow();
      else for (const runner of runners.values()) startRunner(runner);
    },
    stop: () => (stopped ??= stop()),
    async whenSynced(signal) {
      for (const runner of runners.values()) await runner.whenReady(signal);
    },
    isQuiet() {
      // Tests ask after every turn of the event loop, so this looks only at controllers that had work since.
      if (!informers.isQuiet()) return false;
      for (const runner of busy) {
        if (!runner.isQuiet()) return false;
        busy.delete(runner);
      }
      for (const source of otherSources) if (!source.isQuiet()) return false;
      return true;
    },
    busy: () => [
      ...informers.busy().map((kind) => `listing ${kind}`),
      ...Array.from(runners.values().flatMap((runner) => runner.busy())),
    ],
    problems() {
      if (!started || stopping.signal.aborted)
        return [started ? "the controllers are stopping" : "the controllers have not started"];
      const unanswered = informers.unanswered(hasBegun ? UNANSWERED_AFTER_MS : 0);
      hasBegun ||= unanswered.length === 0;
      const problems = unanswered.map((kind) => `no response for ${kind} yet`);
      for (const runner of runners.values()) problems.push(...runner.problems());
      return problems;
    },
    metrics: () => new Map(Array.from(runners, ([name, runner]) => [name, runner.metrics()])),
  };
  return manager;
}
