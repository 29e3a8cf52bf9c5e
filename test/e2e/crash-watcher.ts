/**
 * A watcher that outlives the server it watches: it resumes from the last resourceVersion, as an informer does, and
 * records the events. Having to list again, an event out of order and a duplicate event are failures.
 */
import { ConfigMap } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Client } from "@flotilla/client";

export const NAMESPACE = "crash";

export interface Witness {
  /** The state that a list would show, built from events alone: versions by name. */
  readonly state: ReadonlyMap<string, number>;
  /** The number of received events. */
  readonly count: number;
  /** `TYPE version` of each event of an object, in order, since the last call. */
  take(name: string): string[];
  /** Follows until the connection breaks or the signal aborts. */
  follow(client: Client, signal: AbortSignal): Promise<void>;
  /** Resolves when it has received everything up to a version. */
  reached(version: number): Promise<void>;
}

/** Starts from a list, at the list's resourceVersion. */
export function createWitness(
  start: string,
  listed: readonly DeepReadonly<ConfigMap>[],
  labelSelector?: string,
): Witness {
  const state = new Map(listed.map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)]));
  const reported = new Map<string, string[]>();
  const waiting = new Set<{ version: number; resolve: () => void }>();
  let version = Number(start);
  let count = 0;

  const advance = (to: number): void => {
    version = to;
    for (const wait of waiting) {
      if (wait.version > to) continue;
      waiting.delete(wait);
      wait.resolve();
    }
  };

  const note = (type: string, name: string, at: number): void => {
    if (at <= version) throw new Error(`${type} ${name} at version ${at} came after version ${version}`);
    if ((type === "ADDED") === state.has(name))
      throw new Error(
        `${type} ${name} at version ${at} is not what follows ${state.has(name) ? "its presence" : "its absence"}`,
      );
    if (type === "DELETED") state.delete(name);
    else state.set(name, at);
    count += 1;
    const events = reported.get(name) ?? [];
    reported.set(name, [...events, `${type} ${at}`]);
    advance(at);
  };

  return {
    state,
    get count() {
      return count;
    },
    take(name) {
      const events = reported.get(name) ?? [];
      reported.delete(name);
      return events;
    },
    async follow(client, signal) {
      try {
        for await (const events of client.watch(ConfigMap, {
          cluster: "hub",
          namespace: NAMESPACE,
          resourceVersion: String(version),
          labelSelector: labelSelector || undefined,
          signal,
        })) {
          for (const event of events) {
            if (event.type === "BOOKMARK") advance(Math.max(version, Number(event.resourceVersion)));
            else note(event.type, event.object.metadata.name, Number(event.object.metadata.resourceVersion));
          }
        }
      } catch (error) {
        // The connection breaks with the server, and the events until then count. Every other error is a failure.
        if (!(error instanceof UnreachableError) && error !== signal.reason) throw error;
      }
    },
    reached: (wanted) =>
      version >= wanted ? Promise.resolve() : new Promise((resolve) => waiting.add({ version: wanted, resolve })),
  };
}
