/**
 * Runs scripts that are not trusted with the process: in one other thread, whose memory is limited and which is killed
 * when a call does not end. All such scripts share it; their calls go over in batches, because a message costs more
 * than most calls.
 *
 * The thread starts with the first call and again after it was killed. The call that it died of fails; the calls that
 * shared its batch are run again, which is safe because scripts only compute.
 */
import { Worker } from "node:worker_threads";
import { moduleBeside } from "../../base/index.ts";
import type { Clock, Timer } from "../../base/index.ts";
import { DEFAULT_BUDGET } from "./budget.ts";
import type { LuaBudget } from "./budget.ts";
import { LuaInternalError, LuaLimitError } from "./errors.ts";
import type { ProgramFunction, ProgramInput, ProgramResult } from "./program.ts";
import { unpackFailure } from "./quarantine-protocol.ts";
import type { Answer, Batch, QuarantineData } from "./quarantine-protocol.ts";

export interface Quarantine {
  /**
   * Rejects as the script fails; with `LuaLimitError` too when it had to be killed or when too many calls wait already.
   */
  run<F extends ProgramFunction>(source: string, name: F, input: ProgramInput<F>): Promise<ProgramResult<F>>;
  close(): Promise<void>;
}

export interface QuarantineOptions {
  clock: Clock;
  budget?: LuaBudget;
  /** What the thread may keep in memory. */
  memoryMb?: number;
}

/** Upstream gives a script one second. Here nobody waits for it but its own kind. */
export const QUARANTINE_BUDGET: LuaBudget = { ...DEFAULT_BUDGET, ticks: 100_000_000, deadlineMs: 1000 };
/** A call that is seen running at two looks has outlived its own budget, and the engine failed to stop it. */
export const LOOK_MS = 2000;
/** More than twice what all budgets allow a script to allocate, for what the engine needs itself. */
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
  /** Of the present thread. One that was killed may write to its own for a moment longer. */
  #progress = new Int32Array(new SharedArrayBuffer(4));
  #worker: Worker | undefined;
  /** Scripts that the thread has, with their numbers. */
  readonly #known = new Map<string, number>();
  #waiting: Call[] = [];
  /** Handed over and not answered, in the order in which they run. */
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
          `more than ${MAX_WAITING} calls of quarantined scripts wait already; try again later`,
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

  /** Calls of the same tick go over together. */
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
      // No thread could be started, or an input is no JSON.
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
      // Nothing of the process is there for a script to find, should it ever get that far.
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

  /** Looks again and again at what is running, and kills what was running the last time too. */
  #watch(seen: number): void {
    this.#watchdog?.cancel();
    this.#watchdog = this.#clock.after(LOOK_MS, () => {
      const running = Atomics.load(this.#progress, 0);
      if (running !== seen || !this.#running.has(running)) return this.#watch(running);
      void this.#abandon();
      this.#fail(
        running,
        new LuaLimitError("time", `the script did not end within ${LOOK_MS} ms and its thread was killed`),
      );
      this.#again();
      return undefined;
    });
  }

  #died(worker: Worker, error: Error): void {
    if (worker !== this.#worker) return;
    const running = Atomics.load(this.#progress, 0);
    void this.#abandon();
    // A thread that dies of no call would die again.
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

  /** Ends the thread, if there is one. Whatever it still says is not heard, so nobody needs to wait for its end. */
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

  /** Runs what had not been answered once more. */
  #again(): void {
    this.#waiting = [...this.#running.values(), ...this.#waiting];
    this.#running.clear();
    this.#schedule();
  }
}
