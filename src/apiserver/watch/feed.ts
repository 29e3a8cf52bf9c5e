/**
 * Batches between the server, which never waits, and a reader in the same process that takes them when it is ready.
 *
 * What is there at the start comes first, then every change. A list may also be tens of thousands of objects that
 * nobody has parsed yet. Such a one is handed out in parts, each parsed when its turn has come (`list-turns.ts`), and a
 * change does not wait for the rest of it: it comes at once, and what the list would have told of the same object is
 * left out.
 */
import type { TransportWatchEvent } from "../../client/index.ts";
import { expired } from "../../machinery/index.ts";
import { isOfLayer } from "../clusters/layer.ts";
import type { ListTurns } from "./list-turns.ts";
import type { Notice } from "./watch.ts";

/** Events that a watcher may be behind; then it has to list again, as over the network. */
const MAX_BACKLOG = 200_000;
/**
 * Stored bytes of one part of a list. Parsing so much takes about ten milliseconds, which is how long other work waits.
 */
const PART_BYTES = 1024 * 1024;

export interface FeedOptions {
  /** Told how many events are held that nobody has taken yet. */
  track(change: number): void;
  turns: ListTurns;
  eventOf(notice: Notice): TransportWatchEvent;
}

/** A list that is not told completely yet. */
interface Listing {
  /** In parts, with changes in between. */
  readonly isLong: boolean;
  /** The last first. */
  readonly left: Notice[];
  bytes: number;
  /** What changed meanwhile and was told. */
  readonly changed: Set<string>;
  /** Everything up to here is told when the list is. */
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

  /** What is there at this revision; nothing was notified before. `end` makes the event that says that this was all. */
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
      this.end(expired("the watcher was too far behind"));
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

  /** Changes so far and a part of what was there at the start, or undefined when nothing more comes. */
  async take(): Promise<TransportWatchEvent[] | undefined> {
    for (;;) {
      if (this.#listing?.isLong && this.#events.length === 0) {
        await this.#options.turns.next(this.#listing.bytes);
        // Half a list says nothing: whoever reads has to begin again.
        if (this.#ended) this.#forget();
      }
      const events: TransportWatchEvent[] = [];
      // Changes that came meanwhile go before the next part of a long list.
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

  /** What was not taken is forgotten. */
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
 * What there is to parse. Objects of a profile are there as objects, and making their bytes would cost more than
 * everything else.
 */
const sizeOf = ({ entry, cluster }: Notice): number => (isOfLayer(entry, cluster) ? 0 : entry.value.byteLength);
