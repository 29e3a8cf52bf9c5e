/**
 * Work that the API server does on its own: emptying namespaces, collecting garbage, cleaning up after definitions. One
 * piece of work per key at a time; what fails comes back after a while.
 */
import { messageOf } from "../../base/index.ts";
import type { Clock, Log, Timer } from "../../base/index.ts";

export interface Background {
  /**
   * Runs `work` soon. While the same key waits, it is not queued again; while it runs, it runs once more afterwards.
   */
  enqueue(key: string, work: () => Promise<void>): void;
  /** True when nothing runs or waits for its turn. What failed and waits for the clock counts as quiet. */
  isQuiet(): boolean;
  /** Lets what runs come to its end and starts nothing more. */
  close(): Promise<void>;
}

const CONCURRENCY = 8;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 30_000;

interface Job {
  work: () => Promise<void>;
  failures: number;
  state: "waiting" | "running" | "again" | "delayed";
}

/** Asked for while it ran; the state changes under an await, which the compiler does not see. */
const isWantedAgain = ({ state }: Job): boolean => state === "again";

export function createBackground({ clock, log }: { clock: Clock; log: Log }): Background {
  const jobs = new Map<string, Job>();
  const waiting = new Set<string>();
  const timers = new Set<Timer>();
  const running = new Set<Promise<void>>();
  let closed = false;

  const start = (): void => {
    while (running.size < CONCURRENCY) {
      const { value: key } = waiting.values().next();
      if (key === undefined || closed) return;
      waiting.delete(key);
      const job = jobs.get(key);
      if (!job) continue;
      job.state = "running";
      const run = perform(key, job).finally(() => {
        running.delete(run);
        start();
      });
      running.add(run);
    }
  };
  const wait = (key: string, job: Job): void => {
    job.state = "waiting";
    waiting.add(key);
  };
  const perform = async (key: string, job: Job): Promise<void> => {
    try {
      await job.work();
      job.failures = 0;
      if (isWantedAgain(job)) wait(key, job);
      else jobs.delete(key);
    } catch (error) {
      if (closed) return;
      const delayMs = Math.min(FIRST_RETRY_MS * 2 ** job.failures++, MAX_RETRY_MS);
      log.warn("background work failed and will be tried again", { work: key, delayMs, error: messageOf(error) });
      job.state = "delayed";
      const timer = clock.after(delayMs, () => {
        timers.delete(timer);
        wait(key, job);
        start();
      });
      timers.add(timer);
    }
  };

  return {
    enqueue(key, work) {
      if (closed) return;
      const job = jobs.get(key);
      if (!job) {
        const added: Job = { work, failures: 0, state: "waiting" };
        jobs.set(key, added);
        wait(key, added);
        // Whoever enqueues is in the middle of telling watchers, so nothing starts in their tick.
        queueMicrotask(start);
        return;
      }
      job.work = work;
      if (job.state === "running") job.state = "again";
    },
    isQuiet: () => jobs.values().every(({ state }) => state === "delayed"),
    async close() {
      closed = true;
      for (const timer of timers) timer.cancel();
      await Promise.allSettled(running);
      jobs.clear();
    },
  };
}
