/** Notifies listeners of changed members. */
import type { ObjectKey } from "@flotilla/client";
import type { Source } from "@flotilla/controller-runtime";

export interface Changes {
  report(cluster: string): void;
  source(): Source<ObjectKey>;
}

export function createChanges(hub: string): Changes {
  const listeners = new Set<(key: ObjectKey) => void>();
  return {
    report(cluster) {
      for (const listener of listeners) listener({ cluster: hub, name: cluster });
    },
    source: () => ({
      start(enqueue, signal) {
        const listener = (key: ObjectKey): void => enqueue(key);
        listeners.add(listener);
        signal.addEventListener("abort", () => listeners.delete(listener), { once: true });
      },
      isQuiet: () => true, // Called directly by informers, which report their own pending work.
    }),
  };
}
