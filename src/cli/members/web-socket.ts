/**
 * The client side of a WebSocket (RFC 6455) on an upgraded connection. Minimal on purpose: complete messages in and
 * out, fragments joined, pings answered; no extensions. A slow reader applies backpressure to the peer.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { FlotillaError } from "../../base/index.ts";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const OPCODE = { continuation: 0, binary: 2, close: 8, ping: 9, pong: 10 } as const;
/** Servers send a few kilobytes at a time. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MASK_BYTES = 4;
/** Close code 1000, normal closure. */
const NORMAL = Buffer.from([0x03, 0xe8]);

export interface Handshake {
  headers: Record<string, string>;
  /** Whether the response proves that the server read our request. */
  isAnsweredBy(headers: Readonly<Record<string, string>>): boolean;
}

export function createHandshake(protocols: readonly string[]): Handshake {
  const key = randomBytes(16).toString("base64");
  const accept = createHash("sha1")
    .update(key + GUID)
    .digest("base64");
  return {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": key,
      "sec-websocket-protocol": protocols.join(", "),
    },
    isAnsweredBy: (headers) => headers["sec-websocket-accept"] === accept,
  };
}

export interface WebSocketClient {
  /** Until the peer closes or disconnects; can be read only once. */
  messages(): AsyncGenerator<Buffer>;
  /** Resolves when there is room for more; data for a disconnected peer is dropped. */
  send(data: Uint8Array): Promise<void>;
  close(): void;
}

export function createWebSocketClient(socket: Duplex, head: Buffer): WebSocketClient {
  let isClosed = false;
  socket.once("close", () => (isClosed = true));
  // The reader of the messages gets the error.
  socket.on("error", () => {});

  const write = async (opcode: number, data: Uint8Array): Promise<void> => {
    if (isClosed || socket.writableEnded) return;
    if (!socket.write(frameOf(opcode, data)) && !isClosed) await roomIn(socket);
  };

  async function* chunks(): AsyncGenerator<Buffer> {
    if (head.length > 0) yield head;
    try {
      yield* socket as AsyncIterable<Buffer>;
    } catch (error) {
      // A broken connection yields no more messages; the reader knows what is missing.
      if (!socket.destroyed) throw error;
    }
  }

  async function* frames(): AsyncGenerator<Frame> {
    let input: Buffer = Buffer.alloc(0);
    for await (const chunk of chunks()) {
      input = input.length === 0 ? chunk : Buffer.concat([input, chunk]);
      for (let frame = takeFrame(input); frame; frame = takeFrame(input)) {
        input = input.subarray(frame.length);
        yield frame;
      }
    }
  }

  return {
    async *messages() {
      let fragments: Buffer[] = [];
      let bytes = 0;
      for await (const { opcode, isFinal, data } of frames()) {
        if (opcode === OPCODE.close) return;
        if (opcode === OPCODE.ping) await write(OPCODE.pong, data);
        if (opcode >= OPCODE.close) continue;
        fragments.push(data);
        bytes += data.length;
        if (bytes > MAX_MESSAGE_BYTES)
          throw new FlotillaError("WebSocket", `a message from the server is longer than ${MAX_MESSAGE_BYTES} bytes`);
        if (!isFinal) continue;
        yield fragments.length === 1 ? data : Buffer.concat(fragments, bytes);
        fragments = [];
        bytes = 0;
      }
    },
    send: (data) => write(OPCODE.binary, data),
    close() {
      if (isClosed || socket.writableEnded) return;
      socket.end(frameOf(OPCODE.close, NORMAL), () => socket.destroy());
    },
  };
}

/** Resolves when there is room for more, or the peer has disconnected. */
function roomIn(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.once("drain", done).once("close", done);
  });
}

interface Frame {
  opcode: number;
  isFinal: boolean;
  data: Buffer;
  /** Including its header. */
  length: number;
}

/** The first frame; undefined while it is incomplete. */
function takeFrame(input: Buffer): Frame | undefined {
  if (input.length < 2) return undefined;
  const [first = 0, second = 0] = input;
  if ((first & 0x70) !== 0 || (second & 0x80) !== 0)
    throw new FlotillaError(
      "WebSocket",
      "the server's data is not a WebSocket stream: a proxy in between may have changed it",
    );
  const short = second & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (input.length < start) return undefined;
  const size = short === 126 ? input.readUInt16BE(2) : short === 127 ? Number(input.readBigUInt64BE(2)) : short;
  if (size > MAX_MESSAGE_BYTES)
    throw new FlotillaError("WebSocket", `a message from the server is longer than ${MAX_MESSAGE_BYTES} bytes`);
  if (input.length < start + size) return undefined;
  return {
    opcode: first & 0x0f,
    isFinal: (first & 0x80) !== 0,
    data: input.subarray(start, start + size),
    length: start + size,
  };
}

/** Clients mask their frames, each with a new key. */
export function frameOf(opcode: number, data: Uint8Array, mask: Uint8Array = randomBytes(MASK_BYTES)): Buffer {
  const { byteLength } = data;
  const extra = byteLength < 126 ? 0 : byteLength < 65_536 ? 2 : 8;
  const frame = Buffer.alloc(2 + extra + MASK_BYTES + byteLength);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (extra === 0 ? byteLength : extra === 2 ? 126 : 127);
  if (extra === 2) frame.writeUInt16BE(byteLength, 2);
  if (extra === 8) frame.writeBigUInt64BE(BigInt(byteLength), 2);
  frame.set(mask, 2 + extra);
  const start = 2 + extra + MASK_BYTES;
  for (let index = 0; index < byteLength; index++) frame[start + index] = (data[index] ?? 0) ^ (mask[index & 3] ?? 0);
  return frame;
}
