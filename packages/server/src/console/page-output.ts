/**
 * What one page receives, at the speed at which it reads. Of each subscription only the newest message waits while the
 * page is slow or hidden, so a page never has a queue.
 */
import type { Clock, Timer } from "@flotilla/base";
import { FRAME } from "@flotilla/web";
import type { ServerMessage } from "@flotilla/web";

const HIDDEN_MS = 5_000;

export interface PageOutput {
  /** Sends at once, whatever waits. */
  write(message: ServerMessage): void;
  /**
   * `whole` builds a message that replaces all earlier ones of this subscription. Both are called when the message is
   * sent, and not at all when a later one replaces it.
   */
  offer(sub: number, bytes: () => Uint8Array, whole?: () => Uint8Array): void;
  /** Messages of this subscription are no longer sent. */
  drop(sub: number): void;
  /** A hidden page gets what waits once in five seconds. */
  setVisible(isVisible: boolean): void;
  close(): void;
}

interface Connection {
  /** False if the page does not read as fast as it is written to. */
  send(bytes: Uint8Array): boolean;
  drained(): Promise<void>;
}

export function createPageOutput(connection: () => Connection, clock: Clock): PageOutput {
  /** The newest message of each subscription that could not be sent yet. */
  const waiting = new Map<number, () => Uint8Array>();
  let isVisible = true;
  let isBehind = false;
  let isClosed = false;
  let hiddenTimer: Timer | undefined;

  function send(bytes: Uint8Array): void {
    if (connection().send(bytes)) return;
    isBehind = true;
    void connection()
      .drained()
      .then(() => {
        isBehind = false;
        flush();
      });
  }

  /** Sends what waited while the page was slow or hidden. */
  function flush(): void {
    if (isClosed) return;
    for (const [sub, message] of waiting) {
      if (isBehind) return;
      waiting.delete(sub);
      send(message());
    }
  }

  return {
    write: (message) => send(encode(message)),
    offer(sub, bytes, whole = bytes) {
      if (isClosed) return;
      if (!isBehind && isVisible && !waiting.has(sub)) {
        send(bytes());
        return;
      }
      waiting.set(sub, whole);
      if (!isVisible && !isBehind) hiddenTimer ??= clock.after(HIDDEN_MS, () => ((hiddenTimer = undefined), flush()));
    },
    drop: (sub) => void waiting.delete(sub),
    setVisible(visible) {
      isVisible = visible;
      if (!isVisible) return;
      hiddenTimer?.cancel();
      hiddenTimer = undefined;
      flush();
    },
    close() {
      isClosed = true;
      hiddenTimer?.cancel();
      waiting.clear();
    },
  };
}

export function encode(message: ServerMessage): Uint8Array {
  return Buffer.concat([Buffer.from([FRAME.plain, 0, 0, 0, 0]), Buffer.from(JSON.stringify(message))]);
}

/** The bytes of a fleet message are shared by all tabs; the subscription stands in front of them. */
export function withSub(sub: number, frame: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(frame.length + 4);
  bytes[0] = frame[0] ?? 0;
  bytes.writeUInt32BE(sub, 1);
  bytes.set(frame.subarray(1), 5);
  return bytes;
}
