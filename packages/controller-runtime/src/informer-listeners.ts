/** The listeners of an informer. One that throws does not affect the others. */
import type { Log, LogFields } from "@flotilla/base";
import type { Lane, ObjectEvent } from "./runtime-controller.ts";

export type Listener<T> = (event: ObjectEvent<T>, lane: Lane) => void;

export class InformerListeners<T> {
  readonly #log: Log;
  /** Replaced, never modified, so that a listener may subscribe another during delivery. */
  #listeners: readonly Listener<T>[] = [];
  readonly #passive = new Set<Listener<T>>();
  /** Listeners and indexes that have thrown. */
  readonly #culprits = new WeakSet<object>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Whether there is a listener that is not passive. */
  get areActive(): boolean {
    return this.#listeners.length > this.#passive.size;
  }

  add(listener: Listener<T>, isPassive: boolean): () => void {
    this.#listeners = [...this.#listeners, listener];
    if (isPassive) this.#passive.add(listener);
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
      this.#passive.delete(listener);
    };
  }

  clear(): void {
    this.#listeners = [];
    this.#passive.clear();
  }

  notify(event: ObjectEvent<T>, lane: Lane): void {
    for (const listener of this.#listeners) this.call(listener, event, lane);
  }

  call(listener: Listener<T>, event: ObjectEvent<T>, lane: Lane): void {
    try {
      listener(event, lane);
    } catch (error) {
      const { namespace, name } = (event.object as { metadata: { namespace?: string; name: string } }).metadata;
      this.logOnce(listener, "listener failed", { objectCluster: event.cluster, namespace, name, error });
    }
  }

  /** A bug in a listener or an index is logged once, not once per object. */
  logOnce(culprit: object, message: string, fields: LogFields): void {
    if (this.#culprits.has(culprit)) return this.#log.debug(message, fields);
    this.#culprits.add(culprit);
    this.#log.error(message, fields);
  }
}
