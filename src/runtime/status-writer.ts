/**
 * Several controllers own parts of one object's status. Each hands its change to the `StatusWriter` of that kind, which
 * joins what arrives within a short window into one write: a workload that comes up costs one status write, not one per
 * controller and step. A change is a function of the newest status, so that nobody overwrites another's fields.
 */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { ObjectKey } from "../client/index.ts";

export interface StatusWriter<T extends KubernetesObject> {
  /**
   * Hands a change over. The writer sees to it from here on: it retries with back-off until the change is written,
   * turns out to change nothing, or the object is gone. `owner` names the part: a later change of the same owner
   * replaces one that is still waiting. After a crash the controllers find the old status and ask again.
   *
   * `patienceMs` is for news that is not urgent, such as a success that somebody else will report in more detail: it
   * waits that long for company instead of the usual window.
   */
  set(
    key: ObjectKey,
    owner: string,
    change: (object: DeepReadonly<T>) => DeepReadonly<T>,
    options?: { patienceMs?: number },
  ): void;
  /** No write is under way. Changes that wait for the clock do not count, like the delayed keys of a queue. */
  isQuiet(): boolean;
  /** Takes no more changes and resolves when running writes have ended. */
  close(): Promise<void>;
}
