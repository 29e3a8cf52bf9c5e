/**
 * Writes that were let through and are not visible yet, counted by place: a namespace, the objects of a definition, a
 * cluster.
 *
 * Whoever empties a place closes it first: it is marked, and the mark is visible. A writer enters a place, looks for
 * the mark and leaves when its write is visible or refused, with nothing awaited between entering and looking. So a
 * writer either entered before the mark was visible, and `whenEmpty` waits for it, or it sees the mark and is refused:
 * what a place holds when `whenEmpty` has resolved is all that it will ever hold. This holds among the writers of one
 * process, which is what a store has.
 */
export class InFlight {
  readonly #counts = new Map<string, number>();
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  enter(place: string): void {
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
  }

  leave(place: string): void {
    const left = (this.#counts.get(place) ?? 0) - 1;
    if (left > 0) {
      this.#counts.set(place, left);
      return;
    }
    this.#counts.delete(place);
    this.#waiting.get(place)?.resolve();
    this.#waiting.delete(place);
  }

  /** Resolves when nobody is in a place. In one that is not marked that may take forever. */
  async whenEmpty(place: string): Promise<void> {
    while (this.#counts.has(place)) {
      let waiting = this.#waiting.get(place);
      if (!waiting) this.#waiting.set(place, (waiting = Promise.withResolvers<void>()));
      await waiting.promise;
    }
  }
}

/** The places. A name has no slash, so they never meet. */
export const clusterPlace = (cluster: string): string => cluster;
export const namespacePlace = (cluster: string, namespace: string): string => `${cluster}/${namespace}`;
/** `prefix` is that of the resource that the definition serves. */
export const definitionPlace = (cluster: string, prefix: string): string => `${prefix}${cluster}/`;
