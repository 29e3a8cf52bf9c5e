/** Writes the Works of a binding, and reports those that the hub's API server does not store. */
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey } from "@flotilla/controller-runtime";
import type { DispatchFailure } from "./plan-dispatched.ts";
import { createUnwrittenWorks } from "./unwritten-works.ts";

type Binding = DeepReadonly<ResourceBinding>;

interface Changes {
  created: number;
  updated: number;
  deleted: number;
}

export interface WorksWriterDependencies {
  works: {
    replace(owner: Binding, desired: readonly DeepReadonly<Work>[], signal: AbortSignal): Promise<Changes>;
  };
  clock: Clock;
  report(binding: Binding, key: ObjectKey, failure: DispatchFailure | undefined): void;
}

interface Desired {
  works: readonly DeepReadonly<Work>[];
  /** Why some copies cannot be made. It is reported together with the Works that cannot be written. */
  failure: DispatchFailure | undefined;
}

export interface WorksWriter {
  /** Writes what can be written. Throws errors that may be transient. */
  write(
    binding: Binding,
    key: ObjectKey,
    desired: Desired,
    context: { log: Log; signal: AbortSignal },
  ): Promise<{ changes: Changes } | { retryAfterMs: number }>;
  forget(key: ObjectKey): void;
}

export function createWorksWriter({ works, clock, report }: WorksWriterDependencies): WorksWriter {
  const unwritten = createUnwrittenWorks();
  return {
    async write(binding, key, desired, { log, signal }) {
      try {
        const changes = await works.replace(binding, desired.works, signal);
        unwritten.forget(idOfKey(key));
        report(binding, key, desired.failure);
        return { changes };
      } catch (error) {
        signal.throwIfAborted();
        const found = unwritten.failed(idOfKey(key), error, desired.failure, clock.now());
        if (!found) throw error;
        if (found.isFirst) log.warn("works not written, retrying", { error });
        report(binding, key, found.failure);
        return { retryAfterMs: found.retryAfterMs };
      }
    },
    forget: (key) => unwritten.forget(idOfKey(key)),
  };
}
