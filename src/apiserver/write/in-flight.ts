/**
 * Counts writes that were admitted but are not visible yet, by place: a namespace, the objects of a CRD, a cluster.
 *
 * Before a place is emptied it is closed: it is marked, and the mark is visible. A writer enters a place, checks the
 * mark without awaiting anything in between, and leaves when its write is visible or rejected. So a writer either
 * entered before the mark was visible, and `whenEmpty` waits for it, or it sees the mark and is rejected. When
 * `whenEmpty` has resolved, the content of the place is final. This holds for the writers of one process, and a store
 * has only one.
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

  /** Resolves when a place has no writers. For a place that is not marked this may take forever. */
  async whenEmpty(place: string): Promise<void> {
    while (this.#counts.has(place)) {
      let waiting = this.#waiting.get(place);
      if (!waiting) this.#waiting.set(place, (waiting = Promise.withResolvers<void>()));
      await waiting.promise;
    }
  }
}

/** The keys of places. Names contain no slash, so keys of different kinds never collide. */
export const clusterPlace = (cluster: string): string => cluster;
export const namespacePlace = (cluster: string, namespace: string): string => `${cluster}/${namespace}`;
/** `prefix` is that of the resource that the CRD serves. */
export const definitionPlace = (cluster: string, prefix: string): string => `${prefix}${cluster}/`;
