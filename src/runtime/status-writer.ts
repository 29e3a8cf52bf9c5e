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
   * Resolves when the change is written, or when it turned out to change nothing, or the object is gone. `owner` names the
   * part: a later change of the same owner replaces one that is still waiting. Rejects when the write fails for good.
   */
  set(key: ObjectKey, owner: string, change: (object: DeepReadonly<T>) => DeepReadonly<T>, signal: AbortSignal): Promise<void>;
  isQuiet(): boolean;
}
