/**
 * Configuration in files that other programs replace, such as mounted ConfigMaps and Secrets: it is read again every ten
 * seconds, and used when it changed. One that cannot be read or used is reported once and tried again, and the one before stays in use.
 */
import { every, messageOf } from "@flotilla/base";
import type { Clock, Log, Timer } from "@flotilla/base";

/** Files mounted from Secrets change within a minute; checking more often gains nothing. */
const CHECK_EVERY_MS = 10_000;

export interface FollowedConfiguration {
  /** The flag that names the file. */
  flag: string;
  /** What is in use now, as `read` returned it. */
  content: string;
  read(): Promise<string>;
  /** Throws for content that cannot be used. */
  use(content: string): void | Promise<void>;
  /** What came of a change. */
  onReload(status: "success" | "failure"): void;
}

export interface FollowDependencies {
  clock: Clock;
  log: Log;
}

export function followConfiguration(
  { flag, content, read, use, onReload }: FollowedConfiguration,
  { clock, log }: FollowDependencies,
): Timer {
  let used = content;
  /** What was reported last; undefined while all is well. */
  let reported: string | undefined;
  let isChecking = false;
  let isEnded = false;

  async function check(): Promise<void> {
    let next: string | undefined;
    try {
      next = await read();
      if (next === used) reported = undefined;
      if (next === used || isEnded) return;
      // Also content that failed before: a file that it names may have arrived since.
      await use(next);
      used = next;
      reported = undefined;
      onReload("success");
      log.info("a changed configuration is in use", { flag });
    } catch (error) {
      const problem = JSON.stringify([next, messageOf(error)]);
      if (problem === reported || isEnded) return;
      reported = problem;
      onReload("failure");
      log.error("a changed configuration cannot be used; the one before stays in use", { flag, error });
    }
  }

  const checking = every(clock, CHECK_EVERY_MS, () => {
    if (isChecking) return;
    isChecking = true;
    void check().finally(() => (isChecking = false));
  });
  return {
    cancel() {
      isEnded = true;
      checking.cancel();
    },
  };
}
