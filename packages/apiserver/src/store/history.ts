/**
 * Recent events of the cache, for watchers that start a little in the past.
 *
 * Limited by number and by bytes, the oldest are dropped first. Events of one resource are linked, so a new watcher
 * reads only the past of its resource.
 */
import type { CacheEvent } from "./cache.ts";
import { CompactedError } from "./errors.ts";

/**
 * The memo of a replaced entry is several times larger than its bytes, and only needed during delivery. Older events
 * keep only the bytes.
 */
const MEMO_LIMIT = 2048;

interface Link {
  event: CacheEvent;
  topic: Topic;
  next: Link | undefined;
}

/** The events of one resource, oldest first. */
interface Topic {
  name: string;
  oldest: Link | undefined;
  newest: Link | undefined;
}

export interface HistoryOptions {
  /** Changes up to here are not in the history. */
  start: number;
  limit: number;
  maxBytes: number;
}

export class History {
  readonly #limit: number;
  readonly #maxBytes: number;
  readonly #topics = new Map<string, Topic>();
  #links: Link[] = [];
  #head = 0;
  #bytes = 0;
  #compacted: number;

  constructor({ start, limit, maxBytes }: HistoryOptions) {
    this.#compacted = start;
    this.#limit = limit;
    this.#maxBytes = maxBytes;
  }

  /** The newest revision whose event was dropped. */
  get compacted(): number {
    return this.#compacted;
  }

  append(event: CacheEvent): void {
    const topic = this.#topicOf(keyOf(event));
    const link: Link = { event, topic, next: undefined };
    if (topic.newest) topic.newest.next = link;
    else topic.oldest = link;
    topic.newest = link;
    this.#links.push(link);
    this.#bytes += sizeOf(event);

    const aged = this.#links.length - 1 - MEMO_LIMIT;
    const replaced = aged >= this.#head ? this.#links[aged]?.event.previous : undefined;
    if (replaced) replaced.memo = undefined;
    this.#trim();
  }

  /**
   * Inserts events before all others, as many as there is room for. They are in order and end where the history starts,
   * without gaps.
   */
  prepend(events: readonly CacheEvent[]): void {
    const links: Link[] = events.map((event) => ({ event, topic: this.#topicOf(keyOf(event)), next: undefined }));
    for (const link of links.toReversed()) {
      const { topic, event } = link;
      link.next = topic.oldest;
      topic.oldest = link;
      topic.newest ??= link;
      this.#bytes += sizeOf(event);
    }
    const [first] = events;
    if (first) this.#compacted = first.revision - 1;
    this.#links = [...links, ...this.#links.slice(this.#head)];
    this.#head = 0;
    this.#trim();
  }

  /** Events under `prefix` after a revision, in order. Throws `CompactedError` when some of them were dropped. */
  after(prefix: string, revision: number): CacheEvent[] {
    if (revision < this.#compacted) throw new CompactedError(revision, this.#compacted + 1);
    const newest = this.#links.at(-1);
    if (!newest || newest.event.revision <= revision) return [];
    const name = topicName(prefix);
    const found: CacheEvent[] = [];
    if (name !== undefined) {
      for (let link = this.#topics.get(name)?.oldest; link; link = link.next)
        collect(link.event, prefix, revision, found);
    } else {
      for (let index = this.#head; index < this.#links.length; index++)
        collect((this.#links[index] as Link).event, prefix, revision, found);
    }
    return found;
  }

  #trim(): void {
    while (this.#links.length - this.#head > this.#limit || this.#bytes > this.#maxBytes) this.#dropOldest();
  }

  #topicOf(key: string): Topic {
    const name = topicName(key) ?? key;
    let topic = this.#topics.get(name);
    if (!topic) this.#topics.set(name, (topic = { name, oldest: undefined, newest: undefined }));
    return topic;
  }

  #dropOldest(): void {
    const link = this.#links[this.#head++];
    if (!link) return;
    const { topic, event } = link;
    topic.oldest = link.next;
    if (!topic.oldest) this.#topics.delete(topic.name);
    this.#bytes -= sizeOf(event);
    this.#compacted = event.revision;
    // Moving the rest costs as much as was dropped since the last time, so an append stays cheap on average.
    if (this.#head * 2 >= this.#links.length) {
      this.#links = this.#links.slice(this.#head);
      this.#head = 0;
    }
  }
}

function collect(event: CacheEvent, prefix: string, after: number, found: CacheEvent[]): void {
  if (event.revision > after && keyOf(event).startsWith(prefix)) found.push(event);
}

export function keyOf({ entry, previous }: CacheEvent): string {
  return (entry ?? previous)?.key ?? "";
}

/** An event retains the value it replaced; its new value belongs to the index, or to the key's next event. */
export function sizeOf({ previous }: Pick<CacheEvent, "previous">): number {
  return 200 + (previous?.value.byteLength ?? 0);
}

/** `/<group>/<resource>/` of a key or of a prefix that is at least that long. */
function topicName(key: string): string | undefined {
  const end = key.indexOf("/", key.indexOf("/", 1) + 1);
  return key.startsWith("/") && end > 1 ? key.slice(0, end + 1) : undefined;
}
