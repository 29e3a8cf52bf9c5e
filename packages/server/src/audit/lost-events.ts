/** Counts audit records that a backend could not record, and logs them: never one line per record. */
import type { Clock, Counts, Log, Timer } from "@flotilla/base";

const REPORT_EVERY_MS = 10_000;

export interface LostEvents {
  add(count: number, reason: string): void;
  /** Logs what is not logged yet. */
  close(): void;
}

export function createLostEvents(backend: string, errors: Counts, clock: Clock, log: Log): LostEvents {
  let count = 0;
  let reason = "";
  let timer: Timer | undefined;
  const report = (): void => {
    timer = undefined;
    if (count === 0) return;
    log.error("audit records were lost", { backend, lost: count, total: errors.get([backend]), reason });
    count = 0;
    timer = clock.after(REPORT_EVERY_MS, report);
  };
  return {
    add(lost, why) {
      errors.add([backend], lost);
      count += lost;
      reason = why;
      // The first loss is reported at once, those that follow together.
      if (!timer) report();
    },
    close() {
      timer?.cancel();
      report();
      timer?.cancel();
    },
  };
}
