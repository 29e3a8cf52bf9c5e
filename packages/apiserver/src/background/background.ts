/**
 * Background work of the API server: emptying namespaces, collecting garbage, deleting the objects of CRDs. Runs one
 * job per key at a time and retries failed jobs with a delay.
 */
import { messageOf } from "@flotilla/base";
import type { Clock, Log, Timer } from "@flotilla/base";

export interface Background {
  /**
   * Runs `work` soon. A key that is already queued is not queued again; a key that is running runs once more
   * afterwards.
   */
  enqueue(key: string, work: () => Promise<void>): void;
  /** True when nothing is running or queued. Failed jobs that wait for their retry do not count. */
  isQuiet(): boolean;
  /** Waits for running work and starts no more. */
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

/** Enqueued again while it ran. The state changes during an await, which the compiler does not see. */
const isQueuedAgain = ({ state }: Job): boolean => state === "again";

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
      if (isQueuedAgain(job)) wait(key, job);
      else jobs.delete(key);
    } catch (error) {
      if (closed) return;
      const delayMs = Math.min(FIRST_RETRY_MS * 2 ** job.failures++, MAX_RETRY_MS);
      log.warn("background work failed; it will be retried", { work: key, delayMs, error: messageOf(error) });
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
        // The caller is in the middle of notifying watchers, so nothing starts in the same tick.
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
