/**
 * The server side of a WebSocket (RFC 6455) on a socket whose HTTP request asked for an upgrade. Small on purpose:
 * whole messages in and out, fragments joined, pings answered; no extensions. Message sizes are bounded, and a client
 * that violates the protocol receives the reason and is disconnected.
 */
import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import type { Clock } from "../../base/index.ts";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** The Sec-WebSocket-Accept value for a client's key. */
export function acceptKey(key: string): string {
  return createHash("sha1")
    .update(key + GUID)
    .digest("base64");
}

const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const CLOSE_NORMAL = 1000;
const CLOSE_PROTOCOL = 1002;
const CLOSE_TOO_BIG = 1009;

const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_CONTROL_BYTES = 125;
/** A fragment costs more than its bytes, and empty fragments would otherwise be unlimited. */
const MAX_FRAGMENTS = 4096;
/** How long a client may take to answer a close frame. */
const CLOSE_GRACE_MS = 2000;

export interface WebSocketHandlers {
  message(data: Buffer): void;
  /** Called once, whichever side closed the connection. */
  closed(): void;
}

export class WebSocket {
  readonly #socket: Duplex;
  readonly #handlers: WebSocketHandlers;
  readonly #clock: Clock;
  /** Received bytes that are not a whole frame yet. */
  #input: Buffer = Buffer.alloc(0);
  #fragments: Buffer[] = [];
  #fragmentBytes = 0;
  #inMessage = false;
  #closing = false;
  #closed = false;

  constructor(socket: Duplex, head: Buffer, clock: Clock, handlers: WebSocketHandlers) {
    this.#socket = socket;
    this.#clock = clock;
    this.#handlers = handlers;
    // Connections break regularly; `close` follows and notifies the owner.
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.once("close", () => this.#end());
    socket.once("end", () => socket.end());
    if (head.byteLength > 0) this.#receive(head);
  }

  /** Returns false when the caller should wait for `drained`. */
  send(data: Uint8Array): boolean {
    if (this.#closing || this.#closed) return true;
    return this.#write(OPCODE.binary, data);
  }

  /** Resolves when there is room for more, or the connection is closed. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closed || !this.#socket.writableNeedDrain) return resolve();
      const done = (): void => {
        this.#socket.off("drain", done).off("close", done);
        resolve();
      };
      this.#socket.once("drain", done).once("close", done);
    });
  }

  /** Stops reading until `resume`; the client's data waits in the network. */
  pause(): void {
    this.#socket.pause();
  }
  resume(): void {
    if (!this.#closed) this.#socket.resume();
  }

  close(code: number = CLOSE_NORMAL, reason = ""): void {
    if (this.#closing || this.#closed) return;
    const body = Buffer.alloc(2 + Math.min(Buffer.byteLength(reason), MAX_CONTROL_BYTES - 2));
    body.writeUInt16BE(code);
    body.write(reason, 2);
    this.#write(OPCODE.close, body);
    this.#closing = true;
    // Further data is discarded; the client only has to close.
    this.#socket.resume();
    const closeTimer = this.#clock.after(CLOSE_GRACE_MS, () => this.#socket.destroy());
    this.#socket.once("close", () => closeTimer.cancel());
    this.#socket.end();
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#handlers.closed();
  }

  #write(opcode: number, data: Uint8Array): boolean {
    const { byteLength } = data;
    const head = Buffer.alloc(byteLength < 126 ? 2 : byteLength < 65_536 ? 4 : 10);
    head[0] = 0x80 | opcode;
    if (byteLength < 126) head[1] = byteLength;
    else if (byteLength < 65_536) {
      head[1] = 126;
      head.writeUInt16BE(byteLength, 2);
    } else {
      head[1] = 127;
      head.writeBigUInt64BE(BigInt(byteLength), 2);
    }
    this.#socket.cork();
    this.#socket.write(head);
    const hasRoom = this.#socket.write(data);
    this.#socket.uncork();
    return hasRoom;
  }

  #receive(chunk: Buffer): void {
    if (this.#closing || this.#closed) return;
    this.#input = this.#input.byteLength === 0 ? chunk : Buffer.concat([this.#input, chunk]);
    while (!this.#closing && this.#takeFrame());
  }

  /** Takes one frame from the received bytes; returns false when it is incomplete. */
  #takeFrame(): boolean {
    const input = this.#input;
    if (input.byteLength < 2) return false;
    const first = input[0] ?? 0;
    const second = input[1] ?? 0;
    const opcode = first & 0x0f;
    const isFinal = (first & 0x80) !== 0;
    if ((first & 0x70) !== 0 || (second & 0x80) === 0)
      return this.#fail(CLOSE_PROTOCOL, "frames must be masked and must not use extensions");
    const short = second & 0x7f;
    const lengthSize = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (input.byteLength < 2 + lengthSize + 4) return false;
    const length =
      lengthSize === 0 ? short : lengthSize === 2 ? input.readUInt16BE(2) : Number(input.readBigUInt64BE(2));
    const isControl = opcode >= OPCODE.close;
    if (isControl && (length > MAX_CONTROL_BYTES || !isFinal))
      return this.#fail(CLOSE_PROTOCOL, "control frames must be short and not fragmented");
    if (this.#fragmentBytes + length > MAX_MESSAGE_BYTES)
      return this.#fail(CLOSE_TOO_BIG, `messages are at most ${MAX_MESSAGE_BYTES} bytes`);
    const start = 2 + lengthSize + 4;
    if (input.byteLength < start + length) return false;
    const data = Buffer.from(input.subarray(start, start + length));
    for (let index = 0; index < length; index++)
      data[index] = (data[index] ?? 0) ^ (input[start - 4 + (index & 3)] ?? 0);
    this.#input = input.subarray(start + length);
    return isControl ? this.#control(opcode, data) : this.#data(opcode, isFinal, data);
  }

  #control(opcode: number, data: Buffer): boolean {
    if (opcode === OPCODE.ping) this.#write(OPCODE.pong, data);
    else if (opcode === OPCODE.close) this.close();
    else if (opcode !== OPCODE.pong) return this.#fail(CLOSE_PROTOCOL, "unknown opcode");
    return true;
  }

  #data(opcode: number, isFinal: boolean, data: Buffer): boolean {
    const isContinuation = opcode === OPCODE.continuation;
    if (opcode > OPCODE.binary || isContinuation !== this.#inMessage)
      return this.#fail(CLOSE_PROTOCOL, "fragments out of order");
    this.#inMessage = !isFinal;
    if (isFinal && this.#fragments.length === 0) {
      this.#handlers.message(data);
      return true;
    }
    if (this.#fragments.length === MAX_FRAGMENTS)
      return this.#fail(CLOSE_TOO_BIG, `messages have at most ${MAX_FRAGMENTS} fragments`);
    this.#fragments.push(data);
    this.#fragmentBytes += data.byteLength;
    if (!isFinal) return true;
    const message = Buffer.concat(this.#fragments, this.#fragmentBytes);
    this.#fragments = [];
    this.#fragmentBytes = 0;
    this.#handlers.message(message);
    return true;
  }

  #fail(code: number, reason: string): false {
    this.close(code, reason);
    return false;
  }
}
