/**
 * Either side of a WebSocket (RFC 6455) on a connection that has already been upgraded. Frames are read and written by
 * `ws`; this module adds the closing handshake, and back pressure in both directions. Complete messages in and out, no
 * extensions.
 *
 * `ws` can also do the HTTP handshake, but that belongs to our own server and client: they authenticate, and report
 * failures as a Status. Therefore the two codecs of `ws` are used, and not its `WebSocket`.
 */
import { createHash } from "node:crypto";
import type { Duplex, Writable } from "node:stream";
import type { Clock } from "@flotilla/base";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** The Sec-WebSocket-Accept value for a client's key. */
export function acceptKey(key: string): string {
  return createHash("sha1")
    .update(key + GUID)
    .digest("base64");
}

const CLOSE_NORMAL = 1000;
const CLOSE_PROTOCOL = 1002;
const CLOSE_TOO_BIG = 1009;
/** The limit of a control frame, without its code. */
const MAX_REASON_BYTES = 123;
/** A fragment costs more than its bytes, and empty fragments would otherwise be unlimited. */
const MAX_FRAGMENTS = 4096;
/** The same for a frame that arrives in tiny chunks. */
const MAX_CHUNKS = 256 * 1024;

/** Errors of `ws` about size; all others are violations of the protocol. */
const TOO_BIG = new Set([
  "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH",
  "WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH",
  "WS_ERR_TOO_MANY_BUFFERED_PARTS",
]);

export interface WebSocketOptions {
  /** Servers receive masked frames and send unmasked ones, clients the reverse. */
  side: "server" | "client";
  maxMessageBytes: number;
  /** How long the peer may take to disconnect after our close frame; without it we disconnect when it is sent. */
  closeGrace?: { clock: Clock; ms: number };
  message(data: Buffer): void;
  /** Called once, when no more messages can arrive, whichever side closed the connection. */
  closed(violation?: ProtocolViolation): void;
}

/** The peer sent bytes that are not valid frames, or a message above a limit. */
export interface ProtocolViolation {
  isTooBig: boolean;
}

export interface WebSocket {
  /** Returns false when the caller should wait for `drained`. Data for a closed connection is dropped. */
  send(data: Uint8Array): boolean;
  /** Resolves when there is room for more, or the connection is closed. */
  drained(): Promise<void>;
  /** Stops reading until `resume`; the peer's data waits in the network. */
  pause(): void;
  resume(): void;
  close(code?: number, reason?: string): void;
}

export type CreateWebSocket = (socket: Duplex, head: Buffer, options: WebSocketOptions) => WebSocket;

/** The two codecs that `ws` exports; its type declarations do not have them. */
interface Codecs {
  Receiver: new (options: {
    isServer: boolean;
    maxPayload: number;
    maxFragments: number;
    maxBufferedChunks: number;
    /** Messages are bytes for us; text is not decoded. */
    skipUTF8Validation: boolean;
  }) => Writable;
  Sender: new (socket: Duplex) => {
    send(data: Uint8Array, options: { binary: boolean; compress: boolean; fin: boolean; mask: boolean }): void;
    pong(data: Uint8Array, mask: boolean): void;
    close(code: number, reason: Uint8Array, mask: boolean): void;
  };
}

/** `ws` takes 6 MB of memory, and most processes never open a WebSocket: it is loaded on first use. */
export async function loadWebSockets(): Promise<CreateWebSocket> {
  const codecs = (await import("ws")) as unknown as Codecs;
  return (socket, head, options) => createWebSocket(codecs, socket, head, options);
}

function createWebSocket(
  { Receiver, Sender }: Codecs,
  socket: Duplex,
  head: Buffer,
  options: WebSocketOptions,
): WebSocket {
  const { side, maxMessageBytes, closeGrace, message, closed } = options;
  const mask = side === "client";
  const sender = new Sender(socket);
  const receiver = new Receiver({
    isServer: side === "server",
    maxPayload: maxMessageBytes,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    skipUTF8Validation: true,
  });
  let isPaused = false;
  let isClosing = false;
  let hasEnded = false;

  const canSend = (): boolean => !isClosing && !socket.destroyed && !socket.writableEnded;
  const end = (violation?: ProtocolViolation): void => {
    if (hasEnded) return;
    hasEnded = true;
    closed(violation);
  };
  const receive = (chunk: Buffer): void => {
    if (isClosing || hasEnded) return;
    if (!receiver.write(chunk)) socket.pause();
  };
  const close = (code = CLOSE_NORMAL, reason = ""): void => {
    if (!canSend()) return;
    isClosing = true;
    sender.close(code, Buffer.from(reason).subarray(0, MAX_REASON_BYTES), mask);
    // Further data is discarded; the peer only has to disconnect.
    socket.resume();
    if (!closeGrace) {
      socket.end(() => socket.destroy());
      return;
    }
    const timer = closeGrace.clock.after(closeGrace.ms, () => socket.destroy());
    socket.once("close", () => timer.cancel());
    socket.end();
  };

  receiver
    .on("message", (data: Buffer) => {
      if (!isClosing) message(data);
    })
    .on("ping", (data: Buffer) => {
      if (canSend()) sender.pong(data, mask);
    })
    .on("conclude", () => {
      close();
      end();
    })
    .on("drain", () => {
      if (!isPaused) socket.resume();
    })
    .on("error", (error: NodeJS.ErrnoException) => {
      const isTooBig = TOO_BIG.has(error.code ?? "");
      close(isTooBig ? CLOSE_TOO_BIG : CLOSE_PROTOCOL, error.message);
      end({ isTooBig });
    });
  // Connections break regularly; `close` follows and notifies the owner.
  socket.on("error", () => {});
  if (head.byteLength > 0) socket.unshift(head);
  socket.on("data", receive);
  socket.once("end", () => socket.end());
  socket.once("close", () => end());

  return {
    send(data) {
      if (canSend()) sender.send(data, { binary: true, compress: false, fin: true, mask });
      return !socket.writableNeedDrain;
    },
    drained: () => roomIn(socket),
    pause() {
      isPaused = true;
      socket.pause();
    },
    resume() {
      isPaused = false;
      if (!socket.destroyed && !receiver.writableNeedDrain) socket.resume();
    },
    close,
  };
}

function roomIn(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || !socket.writableNeedDrain) return resolve();
    const done = (): void => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.once("drain", done).once("close", done);
  });
}
