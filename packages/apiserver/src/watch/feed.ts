/**
 * Batches between the server, which never waits, and a reader in the same process that takes them when it is ready.
 *
 * The initial objects come first, then every change. A list can contain tens of thousands of unparsed objects. Such a
 * list is delivered in parts, each parsed in its turn (`list-turns.ts`). A change does not wait for the rest of the
 * list: it is delivered immediately, and the list then skips that object.
 */
import type { TransportWatchEvent } from "@flotilla/client";
import { expired } from "@flotilla/apimachinery";
import { isOfLayer } from "../clusters/layer.ts";
import type { ListTurns } from "./list-turns.ts";
import type { Notice } from "./watch.ts";

/** The number of events that a watcher may lag behind; beyond it the watcher has to list again, as over the network. */
const MAX_BACKLOG = 200_000;
/**
 * Stored bytes of one part of a list. Parsing this much takes about ten milliseconds, which is how long other work
 * waits.
 */
const PART_BYTES = 1024 * 1024;

export interface FeedOptions {
  /** Called with changes of the number of undelivered events. */
  track(change: number): void;
  turns: ListTurns;
  eventOf(notice: Notice): TransportWatchEvent;
}

/** A list that is not completely delivered yet. */
interface Listing {
  /** Delivered in parts, with changes in between. */
  readonly isLong: boolean;
  /** In reverse order. */
  readonly left: Notice[];
  bytes: number;
  /** Keys of objects whose changes were delivered in the meantime. */
  readonly changed: Set<string>;
  /** The revision that is complete once the list is delivered. */
  revision: number;
  readonly end: ((revision: number) => TransportWatchEvent) | undefined;
}

export class Feed {
  readonly #options: FeedOptions;
  #events: TransportWatchEvent[] = [];
  #listing: Listing | undefined;
  #ended: { error?: Error } | undefined;
  #wake: (() => void) | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /**
   * The objects at this revision; called before any notification. `end` creates the event that marks the end of the
   * list.
   */
  list(notices: readonly Notice[], revision: number, end: Listing["end"]): void {
    if (this.#ended) return;
    this.#options.track(notices.length);
    const bytes = notices.reduce((sum, notice) => sum + sizeOf(notice), 0);
    this.#listing = {
      isLong: bytes > PART_BYTES,
      left: notices.toReversed(),
      bytes,
      changed: new Set(),
      revision,
      end,
    };
    this.#wake?.();
  }

  notify(notices: readonly Notice[]): void {
    if (this.#ended || notices.length === 0) return;
    if (this.#events.length + notices.length > MAX_BACKLOG && this.#events.length > 0) {
      this.end(expired("the watcher lagged too far behind"));
      return;
    }
    this.#options.track(notices.length);
    const listing = this.#listing;
    for (const notice of notices) {
      this.#events.push(this.#options.eventOf(notice));
      if (!listing?.isLong) continue;
      listing.changed.add(notice.entry.key);
      listing.revision = Math.max(listing.revision, notice.revision);
    }
    this.#wake?.();
  }

  end(error?: Error): void {
    this.#ended ??= error ? { error } : {};
    this.#wake?.();
  }

  /** Returns the changes so far and a part of the initial list, or undefined when the feed has ended. */
  async take(): Promise<TransportWatchEvent[] | undefined> {
    for (;;) {
      if (this.#listing?.isLong && this.#events.length === 0) {
        await this.#options.turns.next(this.#listing.bytes);
        // A partial list is useless: the reader has to start again.
        if (this.#ended) this.#forget();
      }
      const events: TransportWatchEvent[] = [];
      // Pending changes come before the next part of a long list.
      if (this.#listing && (this.#events.length === 0 || !this.#listing.isLong))
        this.#takeListed(this.#listing, events);
      if (!this.#listing || this.#listing.isLong) this.#takeChanges(events);
      if (events.length > 0) return events;
      if (this.#listing) continue;
      if (this.#ended?.error) throw this.#ended.error;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  /** Drops undelivered events. */
  close(): void {
    this.#forget();
    this.#ended ??= {};
  }

  #forget(): void {
    this.#options.track(-this.#events.length - (this.#listing?.left.length ?? 0));
    this.#events = [];
    this.#listing = undefined;
  }

  #takeChanges(events: TransportWatchEvent[]): void {
    for (const event of this.#events) events.push(event);
    this.#options.track(-this.#events.length);
    this.#events = [];
  }

  #takeListed(listing: Listing, events: TransportWatchEvent[]): void {
    const { left, changed, isLong } = listing;
    const before = left.length;
    for (let bytes = 0; bytes < PART_BYTES;) {
      const notice = left.pop();
      if (!notice) break;
      const size = sizeOf(notice);
      bytes += size;
      listing.bytes -= size;
      if (changed.has(notice.entry.key)) continue;
      const event = this.#options.eventOf(notice);
      events.push(isLong ? { ...event, isInitial: true } : event);
    }
    this.#options.track(left.length - before);
    if (left.length > 0) return;
    this.#listing = undefined;
    if (listing.end) events.push(listing.end(listing.revision));
  }
}

/**
 * The bytes to parse. Objects of a profile are already parsed, and creating their bytes would cost more than everything
 * else.
 */
const sizeOf = ({ entry, cluster }: Notice): number => (isOfLayer(entry, cluster) ? 0 : entry.value.byteLength);
