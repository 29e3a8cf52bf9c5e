/** Those who wait for the end of a list of an informer, by its number. */
import { abortable } from "@flotilla/base";

export class ListWaits {
  #waits: { list: number; resolve: () => void }[] = [];

  until(list: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waits.push({ list, resolve });
    return abortable(promise, signal);
  }

  /** This list has ended, and all before it. */
  ended(list: number): void {
    const done = this.#waits.filter((wait) => wait.list <= list);
    this.#waits = this.#waits.filter((wait) => wait.list > list);
    for (const { resolve } of done) resolve();
  }
}
