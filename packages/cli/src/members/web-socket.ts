/** The client's handshake, and a WebSocket as a sequence of messages. A slow reader applies back pressure to the peer. */
import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { FlotillaError } from "@flotilla/base";
import { acceptKey, loadWebSockets } from "@flotilla/client";
import type { ProtocolViolation } from "@flotilla/client";

/** Servers send a few kilobytes at a time. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export interface Handshake {
  headers: Record<string, string>;
  /** Whether the response proves that the server read our request. */
  isAnsweredBy(headers: Readonly<Record<string, string>>): boolean;
}

export function createHandshake(protocols: readonly string[]): Handshake {
  const key = randomBytes(16).toString("base64");
  return {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": key,
      "sec-websocket-protocol": protocols.join(", "),
    },
    isAnsweredBy: (headers) => headers["sec-websocket-accept"] === acceptKey(key),
  };
}

export interface WebSocketClient {
  /** Until the peer closes or disconnects; can be read only once. */
  messages(): AsyncGenerator<Buffer>;
  /** Resolves when there is room for more; data for a disconnected peer is dropped. */
  send(data: Uint8Array): Promise<void>;
  close(): void;
}

export async function createWebSocketClient(socket: Duplex, head: Buffer): Promise<WebSocketClient> {
  const createWebSocket = await loadWebSockets();
  /** The messages of one chunk at most: the connection is paused until they are read. */
  const received: Buffer[] = [];
  let hasEnded = false;
  let violation: ProtocolViolation | undefined;
  let wake = (): void => {};
  const web = createWebSocket(socket, head, {
    side: "client",
    maxMessageBytes: MAX_MESSAGE_BYTES,
    message(data) {
      received.push(data);
      web.pause();
      wake();
    },
    closed(reason) {
      hasEnded = true;
      violation = reason;
      wake();
    },
  });

  return {
    async *messages() {
      for (;;) {
        const data = received.shift();
        if (data) yield data;
        else if (violation) throw violationError(violation);
        else if (hasEnded) return;
        else {
          const more = new Promise<void>((resolve) => (wake = resolve));
          web.resume();
          await more;
        }
      }
    },
    async send(data) {
      if (!web.send(data)) await web.drained();
    },
    close: () => web.close(),
  };
}

function violationError({ isTooBig }: ProtocolViolation): FlotillaError {
  return new FlotillaError(
    "WebSocket",
    isTooBig
      ? `a message from the server is longer than ${MAX_MESSAGE_BYTES} bytes`
      : "the server's data is not a WebSocket stream: a proxy in between may have changed it",
  );
}
