/** Emits the events of writes on behalf of a CloneSet. */
import { isNamespaceTerminating } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { EventRecorder } from "@flotilla/controller-runtime";
import type { Scene } from "./scene.ts";

type Target = Pick<Scene, "owner" | "cloneSet">;

/** Runs a write and emits an event for the outcome; a failure is rethrown. */
export type WriteWithEvent = <T>(
  target: Target,
  write: Promise<T>,
  failed: { reason: string; message(why: string): string },
  done?: { reason: string; message: string },
) => Promise<T>;

export function createWriteWithEvent(recorder: EventRecorder | undefined): WriteWithEvent {
  return async ({ owner, cloneSet }, write, failed, done) => {
    try {
      const result = await write;
      if (done && result !== undefined) recorder?.record(owner.cluster, cloneSet, { type: "Normal", ...done });
      return result;
    } catch (error) {
      // Events cannot be created in a terminating namespace either.
      if (!isNamespaceTerminating(error))
        recorder?.record(owner.cluster, cloneSet, {
          type: "Warning",
          reason: failed.reason,
          message: failed.message(messageOf(error)),
        });
      throw error;
    }
  };
}
