/**
 * Configuration in files that other programs replace, such as mounted ConfigMaps and Secrets: it is read again every ten
 * seconds, and used when it changed. One that cannot be read or used is reported once, and the one before stays in use.
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
  /** The content, or the failure to read it, that was reported last. */
  let rejected: string | undefined;
  let isChecking = false;
  let isEnded = false;

  async function check(): Promise<void> {
    let next: string | undefined;
    try {
      next = await read();
      if (next === used) rejected = undefined;
      if (next === used || next === rejected || isEnded) return;
      await use(next);
      used = next;
      rejected = undefined;
      onReload("success");
      log.info("a changed configuration is in use", { flag });
    } catch (error) {
      const reported = next ?? messageOf(error);
      if (reported === rejected || isEnded) return;
      rejected = reported;
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
