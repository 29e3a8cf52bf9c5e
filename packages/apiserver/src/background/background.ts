/**
 * Background work of the API server: emptying namespaces, collecting garbage, deleting the objects of CRDs. Runs one
 * job per key at a time and retries failed jobs with a delay.
 */
import { messageOf } from "@flotilla/base";
import type { Clock, Log, Timer } from "@flotilla/base";

export interface Background {
  /**
   * Runs `work` soon. A key that is already queued is not queued again; a key that is running runs once more
   * afterwards. Work with a lane takes none of the shared places, for work that waits for others: one job of a lane runs at
   * a time.
   */
  enqueue(key: string, work: () => Promise<void>, lane?: string): void;
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
  readonly lane: string | undefined;
  failures: number;
  state: "waiting" | "running" | "again" | "delayed";
}

interface Places {
  readonly size: number;
  readonly waiting: Set<string>;
  readonly running: Set<Promise<void>>;
}

const newPlaces = (size: number): Places => ({ size, waiting: new Set(), running: new Set() });

/** Enqueued again while it ran. The state changes during an await, which the compiler does not see. */
const isQueuedAgain = ({ state }: Job): boolean => state === "again";

export function createBackground({ clock, log }: { clock: Clock; log: Log }): Background {
  const jobs = new Map<string, Job>();
  /** Jobs that wait, and those that run: the shared places, and the lanes that have work. */
  const shared = newPlaces(CONCURRENCY);
  const lanes = new Map<string, Places>();
  const timers = new Set<Timer>();
  let closed = false;

  const start = (places: Places): void => {
    while (places.running.size < places.size) {
      const { value: key } = places.waiting.values().next();
      if (key === undefined || closed) return;
      places.waiting.delete(key);
      const job = jobs.get(key);
      if (!job) continue;
      job.state = "running";
      const run = perform(key, job).finally(() => {
        places.running.delete(run);
        start(places);
        if (job.lane !== undefined && places.running.size + places.waiting.size === 0) lanes.delete(job.lane);
      });
      places.running.add(run);
    }
  };
  const placesOf = ({ lane }: Job): Places => {
    if (lane === undefined) return shared;
    let places = lanes.get(lane);
    if (!places) lanes.set(lane, (places = newPlaces(1)));
    return places;
  };
  const wait = (key: string, job: Job): Places => {
    const places = placesOf(job);
    job.state = "waiting";
    places.waiting.add(key);
    return places;
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
        start(wait(key, job));
      });
      timers.add(timer);
    }
  };

  return {
    enqueue(key, work, lane) {
      if (closed) return;
      const job = jobs.get(key);
      if (!job) {
        const added: Job = { work, lane, failures: 0, state: "waiting" };
        jobs.set(key, added);
        const places = wait(key, added);
        // The caller is in the middle of notifying watchers, so nothing starts in the same tick.
        queueMicrotask(() => start(places));
        return;
      }
      job.work = work;
      if (job.state === "running") job.state = "again";
    },
    isQuiet: () => jobs.values().every(({ state }) => state === "delayed"),
    async close() {
      closed = true;
      for (const timer of timers) timer.cancel();
      await Promise.allSettled([shared, ...lanes.values()].flatMap(({ running }) => [...running]));
      jobs.clear();
    },
  };
}
