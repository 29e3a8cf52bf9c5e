/**
 * Runs scripts that are not trusted in the main process: in one separate thread with limited memory, which is killed
 * when a call does not end. All such scripts share it; calls are sent in batches, because a message costs more than
 * most calls.
 *
 * The thread starts with the first call and again after it was killed. The call that killed it fails; the other calls
 * of its batch are run again, which is safe because scripts have no side effects.
 */
import { Worker } from "node:worker_threads";
import { moduleBeside } from "@flotilla/base";
import type { Clock, Timer } from "@flotilla/base";
import { DEFAULT_BUDGET, LuaInternalError, LuaLimitError } from "@flotilla/lua";
import type { LuaBudget } from "@flotilla/lua";
import type { ProgramFunction, ProgramInput, ProgramResult } from "./program.ts";
import { unpackFailure } from "./quarantine-protocol.ts";
import type { Answer, Batch, QuarantineData } from "./quarantine-protocol.ts";

export interface Quarantine {
  /**
   * Rejects with the script's error, or with `LuaLimitError` when the script had to be killed or too many calls are
   * waiting.
   */
  run<F extends ProgramFunction>(source: string, name: F, input: ProgramInput<F>): Promise<ProgramResult<F>>;
  close(): Promise<void>;
}

export interface QuarantineOptions {
  clock: Clock;
  budget?: LuaBudget;
  /** Memory limit of the thread. */
  memoryMb?: number;
}

/** Upstream gives a script one second. Here only other quarantined scripts wait for it. */
const QUARANTINE_BUDGET: LuaBudget = { ...DEFAULT_BUDGET, ticks: 100_000_000, deadlineMs: 1000 };
/** A call that is running at two consecutive checks has exceeded its own budget without being stopped by the engine. */
export const CHECK_INTERVAL_MS = 2000;
/** More than twice the sum of the allocation budgets, to leave room for the engine itself. */
const MEMORY_MB = 192;
const BATCH_CALLS = 32;
const MAX_WAITING = 1024;
/** Scripts that the thread keeps compiled. */
const MAX_SCRIPTS = 256;
const MAX_ID = 2 ** 31 - 1;

interface Call {
  id: number;
  source: string;
  name: ProgramFunction;
  input: readonly unknown[];
  nowMs: number;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export function createQuarantine(options: QuarantineOptions): Quarantine {
  return new WorkerQuarantine(options);
}

class WorkerQuarantine implements Quarantine {
  readonly #clock: Clock;
  readonly #budget: LuaBudget;
  readonly #memoryMb: number;
  /** Belongs to the current thread. A killed thread may write to its own array for a moment longer. */
  #progress = new Int32Array(new SharedArrayBuffer(4));
  #worker: Worker | undefined;
  /** Scripts that the thread has, with their numbers. */
  readonly #known = new Map<string, number>();
  #waiting: Call[] = [];
  /** Sent and not yet finished, in the order in which they run. */
  readonly #running = new Map<number, Call>();
  #lastId = 0;
  #isScheduled = false;
  #isClosed = false;
  #watchdog: Timer | undefined;

  constructor({ clock, budget = QUARANTINE_BUDGET, memoryMb = MEMORY_MB }: QuarantineOptions) {
    this.#clock = clock;
    this.#budget = budget;
    this.#memoryMb = memoryMb;
  }

  run<F extends ProgramFunction>(source: string, name: F, input: ProgramInput<F>): Promise<ProgramResult<F>> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.#isClosed) throw new LuaInternalError("the thread for quarantined scripts is closed");
      if (this.#waiting.length >= MAX_WAITING)
        throw new LuaLimitError(
          "time",
          `more than ${MAX_WAITING} calls of quarantined scripts are already waiting; try again later`,
        );
      this.#lastId = this.#lastId === MAX_ID ? 1 : this.#lastId + 1;
      this.#waiting.push({ id: this.#lastId, source, name, input, nowMs: this.#clock.now(), resolve, reject });
      this.#schedule();
    }) as Promise<ProgramResult<F>>;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const ended = this.#abandon();
    this.#failAll(new LuaInternalError("the thread for quarantined scripts is closed"));
    await ended;
  }

  /** Calls of the same tick are sent together. */
  #schedule(): void {
    if (this.#isScheduled || this.#running.size > 0 || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (!this.#isClosed && this.#running.size === 0 && this.#waiting.length > 0)
        this.#send(this.#waiting.splice(0, BATCH_CALLS));
    });
  }

  #send(calls: readonly Call[]): void {
    for (const call of calls) this.#running.set(call.id, call);
    try {
      const worker = (this.#worker ??= this.#start());
      worker.ref();
      worker.postMessage(this.#batchOf(calls), []);
      this.#watch(0);
    } catch (error) {
      // No thread could be started, or an input is not JSON.
      void this.#abandon();
      const failure = new LuaInternalError("handing calls to the thread for quarantined scripts", { cause: error });
      for (const { id } of calls) this.#fail(id, failure);
      this.#schedule();
    }
  }

  #batchOf(calls: readonly Call[]): Batch {
    const isFresh = this.#known.size + calls.length > MAX_SCRIPTS;
    if (isFresh) this.#known.clear();
    const batch: Batch = { calls: [], sources: [], isFresh };
    for (const call of calls) {
      let script = this.#known.get(call.source);
      if (script === undefined) {
        script = this.#known.size;
        this.#known.set(call.source, script);
        batch.sources.push([script, call.source]);
      }
      const { id, name, input, nowMs } = call;
      batch.calls.push({ id, script, name, input, nowMs });
    }
    return batch;
  }

  #start(): Worker {
    this.#progress = new Int32Array(new SharedArrayBuffer(4));
    const data: QuarantineData = { progress: this.#progress, budget: this.#budget };
    const worker = new Worker(moduleBeside(import.meta.url, "./quarantine-worker"), {
      workerData: data,
      // A script that escapes finds no environment of the process.
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: this.#memoryMb,
        maxYoungGenerationSizeMb: Math.min(32, this.#memoryMb),
      },
    });
    worker.unref();
    worker.on("message", (answers: Answer[]) => this.#receive(worker, answers));
    worker.on("error", (error) => this.#died(worker, error));
    worker.on("exit", () => this.#died(worker, new LuaInternalError("the thread for quarantined scripts ended")));
    return worker;
  }

  #receive(worker: Worker, answers: readonly Answer[]): void {
    if (worker !== this.#worker) return;
    for (const answer of answers) {
      const call = this.#running.get(answer.id);
      this.#running.delete(answer.id);
      if ("value" in answer) call?.resolve(answer.value);
      else call?.reject(unpackFailure(answer.failure));
    }
    if (this.#running.size > 0) return;
    this.#watchdog?.cancel();
    worker.unref();
    this.#schedule();
  }

  /** Periodically checks the running call, and kills one that was already running at the last check. */
  #watch(seen: number): void {
    this.#watchdog?.cancel();
    this.#watchdog = this.#clock.after(CHECK_INTERVAL_MS, () => {
      const running = Atomics.load(this.#progress, 0);
      if (running !== seen || !this.#running.has(running)) return this.#watch(running);
      void this.#abandon();
      this.#fail(
        running,
        new LuaLimitError("time", `the script did not end within ${CHECK_INTERVAL_MS} ms and its thread was killed`),
      );
      this.#again();
      return undefined;
    });
  }

  #died(worker: Worker, error: Error): void {
    if (worker !== this.#worker) return;
    const running = Atomics.load(this.#progress, 0);
    void this.#abandon();
    // A thread that dies without running a call would die again.
    if (!this.#running.has(running))
      return this.#failAll(new LuaInternalError("running quarantined scripts: their thread failed", { cause: error }));
    const isMemory = (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
    this.#fail(
      running,
      isMemory
        ? new LuaLimitError("memory", `the script used more than ${this.#memoryMb} MB and its thread was killed`)
        : new LuaInternalError("running a quarantined script: its thread failed", { cause: error }),
    );
    this.#again();
  }

  /** Ends the thread, if any. Its later messages are ignored, so callers need not wait for its end. */
  async #abandon(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#known.clear();
    this.#watchdog?.cancel();
    await worker?.terminate();
  }

  #fail(id: number, error: Error): void {
    this.#running.get(id)?.reject(error);
    this.#running.delete(id);
  }

  #failAll(error: Error): void {
    const calls = [...this.#running.values(), ...this.#waiting];
    this.#running.clear();
    this.#waiting = [];
    for (const call of calls) call.reject(error);
  }

  /** Runs unfinished calls again. */
  #again(): void {
    this.#waiting = [...this.#running.values(), ...this.#waiting];
    this.#running.clear();
    this.#schedule();
  }
}
