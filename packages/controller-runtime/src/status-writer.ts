/**
 * Several controllers own parts of one object's status. Each passes its change to the `StatusWriter` of that kind,
 * which combines the changes of a short window into one write: a starting workload costs one status write, not one per
 * controller and step. A change is a function of the newest status, so that no controller overwrites another's fields.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { ObjectEvent } from "./runtime-controller.ts";

export interface StatusWriter<T extends KubernetesObject> {
  /**
   * Submits a change. The writer retries it with backoff until it is written, has no effect, or the object is deleted.
   * `owner` names the part: a later change of the same owner replaces a pending one. After a crash the controllers find
   * the old status and submit again.
   *
   * `debounceMs` is for changes that are not urgent, such as a success that another controller will report in more
   * detail: the change waits that long for others instead of the usual window; `busyMs` while many objects wait.
   *
   * `everyMs` is for progress that users watch: the first change after a pause is written sooner than the usual window
   * allows, and the next ones not earlier than that long after the last write of the object. While many objects change, `debounceMs` applies.
   */
  set(
    key: ObjectKey,
    owner: string,
    change: (object: DeepReadonly<T>) => DeepReadonly<T>,
    options?: { debounceMs?: number; busyMs?: number; everyMs?: number },
  ): void;
  /**
   * Whether an event is a write of this writer: since the version that the informer had, nothing but the submitted status
   * changes, with `owner` among those who submitted them. The owner need not reconcile what it has written itself; a
   * status that another client changes is not such an event.
   */
  wrote(event: ObjectEvent<T>, owner?: string): boolean;
  /** No write is in progress. Changes that wait for the clock do not count, like the delayed keys of a queue. */
  isQuiet(): boolean;
  /** Accepts no more changes and resolves when running writes have ended. */
  close(): Promise<void>;
}
