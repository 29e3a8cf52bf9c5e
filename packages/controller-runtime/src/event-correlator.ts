/**
 * Decides which events are written: upstream's three steps, with its numbers. Repeats of one event increment its count;
 * many similar ones about one object, such as one per pod, are combined into one; and a flood about one object is
 * dropped.
 *
 * Pure except for its memory, which is bounded.
 */
import { fnv1a32 } from "@flotilla/apimachinery";
import type { RecordedEvent } from "./events.ts";

/** After this many different messages of one reason within the window, further ones are combined. */
const MAX_SIMILAR = 10;
const SIMILAR_WINDOW_MS = 10 * 60_000;
/** The burst of one component about one object, and the interval until one more event is allowed. */
const BURST = 25;
const REFILL_MS = 300_000;
const MAX_REMEMBERED = 4096;

interface Remembered {
  name: string;
  count: number;
  firstMs: number;
}

/** `repeat` means that the event with that name gets the new count; otherwise a new one is created. */
type Verdict = { write: false } | { write: true; event: RecordedEvent; key: string; repeat?: Remembered };

interface TokenBucket {
  tokens: number;
  atMs: number;
}

interface Similar {
  messages: Set<string>;
  atMs: number;
}

export interface EventCorrelator {
  /** `subject` is the component and the involved object. */
  correlate(subject: string, event: RecordedEvent, nowMs: number): Verdict;
  /** Records that the event of this key was written under this name. */
  recordWritten(key: string, remembered: Remembered): void;
  /** The event no longer exists: the next one is new. */
  forget(key: string): void;
}

export function createEventCorrelator(): EventCorrelator {
  const buckets = new Map<string, TokenBucket>();
  const similar = new Map<string, Similar>();
  const known = new Map<string, Remembered>();

  function isHeard(subject: string, nowMs: number): boolean {
    const { tokens, atMs } = buckets.get(subject) ?? { tokens: BURST, atMs: nowMs };
    const left = Math.min(BURST, tokens + (nowMs - atMs) / REFILL_MS);
    remember(buckets, subject, { tokens: left >= 1 ? left - 1 : left, atMs: nowMs });
    return left >= 1;
  }

  function combined(subject: string, event: RecordedEvent, nowMs: number): RecordedEvent {
    const group = `${subject}/${event.type}/${event.reason}`;
    const before = similar.get(group);
    const recent =
      before && nowMs - before.atMs <= SIMILAR_WINDOW_MS ? before : { messages: new Set<string>(), atMs: nowMs };
    recent.atMs = nowMs;
    if (recent.messages.size < MAX_SIMILAR) recent.messages.add(digest(event.message));
    remember(similar, group, recent);
    return recent.messages.size < MAX_SIMILAR
      ? event
      : { ...event, message: `(combined from similar events): ${event.message}` };
  }

  return {
    correlate(subject, event, nowMs) {
      const combinedEvent = combined(subject, event, nowMs);
      // Combined events are one event, regardless of the last message.
      const key =
        combinedEvent === event
          ? `${subject}/${event.type}/${event.reason}/${digest(event.message)}`
          : `${subject}/${event.type}/${event.reason}`;
      if (!isHeard(subject, nowMs)) return { write: false };
      const repeat = known.get(key);
      return { write: true, event: combinedEvent, key, repeat };
    },
    recordWritten: (key, remembered) => remember(known, key, remembered),
    forget: (key) => void known.delete(key),
  };
}

/** Messages can be long and are remembered by the thousand. */
const digest = (message: string): string => `${message.length}:${fnv1a32(message)}`;

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= MAX_REMEMBERED) return;
  const [oldest = ""] = map.keys();
  map.delete(oldest);
}
