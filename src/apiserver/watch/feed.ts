/**
 * Batches between the server, which never waits, and a reader in the same process that takes them when it is ready.
 *
 * What is there at the start may be tens of thousands of objects that nobody has parsed yet. They are handed out in parts, each
 * parsed when its turn has come (`list-turns.ts`); changes come after them, in order.
 */
import type { TransportWatchEvent } from "../../client/index.ts";
import { expired } from "../../machinery/index.ts";
import type { ListTurns } from "./list-turns.ts";
import type { Notice } from "./watch.ts";

/** Events that a watcher may be behind; then it has to list again, as over the network. */
const MAX_BACKLOG = 200_000;
/** Stored bytes of one part of a list. Parsing so much takes about five milliseconds. */
const PART_BYTES = 512 * 1024;

export class Feed {
  #events: TransportWatchEvent[] = [];
  /** What is there at the start and not handed out yet, the last first, and the bytes of it. */
  #listed: Notice[] = [];
  #listedBytes = 0;
  #ended: { error?: Error } | undefined;
  #wake: (() => void) | undefined;
  readonly #track: (change: number) => void;
  readonly #turns: ListTurns;
  readonly #eventOf: (notice: Notice) => TransportWatchEvent;

  constructor(track: (change: number) => void, turns: ListTurns, eventOf: (notice: Notice) => TransportWatchEvent) {
    this.#track = track;
    this.#turns = turns;
    this.#eventOf = eventOf;
  }

  /** What is there, before anything is pushed. */
  list(notices: readonly Notice[]): void {
    if (this.#ended) return;
    this.#track(notices.length);
    this.#listed = notices.toReversed();
    for (const { entry } of notices) this.#listedBytes += entry.value.byteLength;
    this.#wake?.();
  }

  push(events: readonly TransportWatchEvent[]): void {
    if (this.#ended || events.length === 0) return;
    if (this.#events.length + events.length > MAX_BACKLOG && this.#events.length > 0) {
      this.end(expired("the watcher was too far behind"));
      return;
    }
    this.#track(events.length);
    for (const event of events) this.#events.push(event);
    this.#wake?.();
  }

  end(error?: Error): void {
    this.#ended ??= error ? { error } : {};
    this.#wake?.();
  }

  /** All events so far, or a part of what is there at the start, or undefined when nothing more comes. */
  async take(): Promise<TransportWatchEvent[] | undefined> {
    for (;;) {
      // A short list need not wait for the long ones.
      if (this.#listedBytes > PART_BYTES) {
        await this.#turns.next(this.#listedBytes);
        // Half a list says nothing, and what changed since then says nothing without it.
        if (this.#ended) this.#forget();
      }
      const events = this.#takeListed();
      if (this.#listed.length > 0) return events;
      for (const event of this.#events) events.push(event);
      this.#track(-this.#events.length);
      this.#events = [];
      if (events.length > 0) return events;
      if (this.#ended?.error) throw this.#ended.error;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  /** What was not taken is forgotten. */
  close(): void {
    this.#forget();
    this.#ended ??= {};
  }

  #forget(): void {
    this.#track(-this.#events.length - this.#listed.length);
    this.#events = [];
    this.#listed = [];
    this.#listedBytes = 0;
  }

  #takeListed(): TransportWatchEvent[] {
    const events: TransportWatchEvent[] = [];
    for (let bytes = 0; bytes < PART_BYTES; ) {
      const notice = this.#listed.pop();
      if (!notice) break;
      bytes += notice.entry.value.byteLength;
      this.#listedBytes -= notice.entry.value.byteLength;
      events.push(this.#eventOf(notice));
    }
    this.#track(-events.length);
    return events;
  }
}
