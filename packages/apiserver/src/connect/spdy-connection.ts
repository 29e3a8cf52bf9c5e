/**
 * A SPDY/3.1 connection: the client opens streams, each with headers that state its purpose. The server is the client of
 * kubelets. Kubernetes' programs do not use flow control, so the pace is that of the connection.
 */
import { FlotillaError } from "@flotilla/base";
import { controlFrame, dataFrame, FIN, FRAME, FrameReader, HeaderBlocks } from "./spdy-wire.ts";
import type { Frame } from "./spdy-wire.ts";

/** What carries the frames: a socket, or the messages of a WebSocket. */
export interface SpdyTransport {
  /** Resolves when there is room for more. */
  write(chunk: Uint8Array): Promise<void>;
  end(): void;
}

export interface SpdyStream {
  readonly headers: ReadonlyMap<string, string>;
  write(chunk: Uint8Array): Promise<void>;
  /** No more is written. */
  end(): Promise<void>;
  /** Called for each chunk that the other side sends, and once without one when it sends no more. */
  onData(listener: (chunk: Uint8Array | undefined) => void): void;
}

/** A data frame has 24 bits for its length; Go reads them in parts of 32 KiB. */
const MAX_DATA_BYTES = 32 * 1024;
const RESET_REFUSED = 3;
/** Two numbers of streams, the priority and a slot; the headers follow. */
const SYN_HEAD_BYTES = 10;

export class SpdyConnection {
  readonly #transport: SpdyTransport;
  readonly #onStream: (stream: SpdyStream) => void;
  readonly #maxStreams: number;
  readonly #reader = new FrameReader();
  readonly #headers = new HeaderBlocks();
  readonly #streams = new Map<number, Stream>();
  #isReading = false;
  #hasEnded = false;
  #closed = false;
  /** Streams that are opened here have odd numbers. */
  #nextId = 1;
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();

  constructor(transport: SpdyTransport, maxStreams: number, onStream: (stream: SpdyStream) => void) {
    this.#transport = transport;
    this.#maxStreams = maxStreams;
    this.#onStream = onStream;
  }

  /**
   * Opens a stream as the client of the connection, one at a time: the compression of headers depends on the order. Resolves
   * when the other side has accepted it: Go drops data that arrives before that.
   */
  async open(headers: ReadonlyMap<string, string>): Promise<SpdyStream> {
    if (this.#closed) throw new FlotillaError("Stream", "the connection is closed");
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = new Stream(id, headers, this.#transport, () => this.#remove(id));
    this.#streams.set(id, stream);
    const head = Buffer.alloc(SYN_HEAD_BYTES);
    head.writeUInt32BE(id, 0);
    const block = await this.#headers.write(headers);
    const accepted = Promise.withResolvers<void>();
    this.#waiting.set(id, accepted);
    await this.#transport.write(controlFrame(FRAME.synStream, 0, Buffer.concat([head, block])));
    await accepted.promise;
    return stream;
  }

  /** Bytes from the other side, in order. Rejects when they are not SPDY; the connection must then be closed. */
  async receive(chunk: Buffer): Promise<void> {
    this.#reader.push(chunk);
    // One frame after another: the compression of headers depends on the order.
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (let frame = this.#reader.next(); frame && !this.#closed; frame = this.#reader.next())
        await this.#handle(frame);
    } finally {
      this.#isReading = false;
      if (this.#hasEnded) this.close();
    }
  }

  /** No more bytes come: closes when those that came are handled. */
  end(): void {
    this.#hasEnded = true;
    if (!this.#isReading) this.close();
  }

  /** The client left, or everything is sent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const stream of this.#streams.values()) stream.receive(undefined);
    this.#streams.clear();
    for (const { reject } of this.#waiting.values()) reject(new FlotillaError("Stream", "the connection was closed"));
    this.#waiting.clear();
    this.#headers.close();
    this.#transport.end();
  }

  async #handle(frame: Frame): Promise<void> {
    if (frame.type === "data") {
      const stream = this.#streams.get(frame.stream);
      if (frame.content.length > 0) stream?.receive(frame.content);
      if (frame.isLast) stream?.receive(undefined);
      return;
    }
    switch (frame.kind) {
      case FRAME.synStream:
        return this.#openStream(frame.content, frame.flags);
      case FRAME.ping:
        return this.#transport.write(controlFrame(FRAME.ping, 0, frame.content));
      case FRAME.rstStream: {
        const id = idIn(frame.content);
        this.#waiting.get(id)?.reject(new FlotillaError("Stream", "the stream was refused"));
        this.#waiting.delete(id);
        this.#remove(id);
        return;
      }
      case FRAME.goAway:
        return this.close();
      case FRAME.synReply:
      case FRAME.headers: {
        // Read for the sake of the compression.
        await this.#headers.read(frame.content.subarray(4));
        const id = idIn(frame.content);
        this.#waiting.get(id)?.resolve();
        this.#waiting.delete(id);
        return;
      }
      default:
    }
  }

  async #openStream(content: Buffer, flags: number): Promise<void> {
    const id = idIn(content);
    const headers = await this.#headers.read(content.subarray(SYN_HEAD_BYTES));
    const idBytes = content.subarray(0, 4);
    if (this.#streams.size >= this.#maxStreams || this.#streams.has(id)) {
      const refused = Buffer.from([...idBytes, 0, 0, 0, RESET_REFUSED]);
      return this.#transport.write(controlFrame(FRAME.rstStream, 0, refused));
    }
    const stream = new Stream(id, headers, this.#transport, () => this.#remove(id));
    this.#streams.set(id, stream);
    const block = await this.#headers.write(new Map());
    await this.#transport.write(controlFrame(FRAME.synReply, 0, Buffer.concat([idBytes, block])));
    this.#onStream(stream);
    if (flags & FIN) stream.receive(undefined);
  }

  #remove(id: number): void {
    this.#streams.get(id)?.receive(undefined);
    this.#streams.delete(id);
  }
}

const idIn = (content: Buffer): number => content.readUInt32BE(0) & 0x7fffffff;

class Stream implements SpdyStream {
  readonly headers: ReadonlyMap<string, string>;
  readonly #id: number;
  readonly #transport: SpdyTransport;
  readonly #onDone: () => void;
  #listener: ((chunk: Uint8Array | undefined) => void) | undefined;
  /** What arrived before there was a listener. */
  #early: (Uint8Array | undefined)[] = [];
  #hasEnded = false;
  #isReadEnded = false;

  constructor(id: number, headers: ReadonlyMap<string, string>, transport: SpdyTransport, onDone: () => void) {
    this.#id = id;
    this.headers = headers;
    this.#transport = transport;
    this.#onDone = onDone;
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length && !this.#hasEnded; at += MAX_DATA_BYTES)
      await this.#transport.write(dataFrame(this.#id, chunk.subarray(at, at + MAX_DATA_BYTES)));
  }

  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await this.#transport.write(dataFrame(this.#id, new Uint8Array(), true));
    if (this.#isReadEnded) this.#onDone();
  }

  onData(listener: (chunk: Uint8Array | undefined) => void): void {
    this.#listener = listener;
    for (const chunk of this.#early.splice(0)) listener(chunk);
  }

  receive(chunk: Uint8Array | undefined): void {
    if (this.#isReadEnded) return;
    if (chunk === undefined) this.#isReadEnded = true;
    if (this.#listener) this.#listener(chunk);
    else this.#early.push(chunk && Buffer.from(chunk));
    if (this.#isReadEnded && this.#hasEnded) this.#onDone();
  }
}
