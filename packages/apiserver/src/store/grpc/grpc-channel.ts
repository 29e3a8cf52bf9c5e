/**
 * gRPC to one server over one HTTP/2 connection: unary calls and streams of messages. Written here because the framing is
 * small and a library takes three times the CPU time per write (docs/adr/0047).
 */
import http2 from "node:http2";
import { connect } from "node:net";
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import { FlotillaError } from "@flotilla/base";
import type { Clock, Timer } from "@flotilla/base";

/** Status codes of gRPC that callers distinguish. */
export const grpcStatus = {
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const CONNECT_TIMEOUT_MS = 3_000;
/** A peer that went away without closing its connection is noticed within both together. */
const PING_AFTER_MS = 5_000;
const PING_TIMEOUT_MS = 3_000;
const STREAM_WINDOW_BYTES = 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;
/** Before each message: whether it is compressed, and its length. */
const FRAME_BYTES = 5;
/** Larger than any answer to a request of ours: a page of a scan has a few megabytes. */
const MAX_MESSAGE_BYTES = 512 * 1024 * 1024;

export class GrpcError extends FlotillaError {
  readonly status: number;
  /** False when the server cannot have begun to carry the call out. */
  readonly mayHaveArrived: boolean;
  constructor(status: number, message: string, mayHaveArrived: boolean, options?: ErrorOptions) {
    super("Store", message, options);
    this.status = status;
    this.mayHaveArrived = mayHaveArrived;
  }
}

export interface GrpcChannelOptions {
  /** `http://host:port` or `https://host:port`; the name of the server where there is a socket. */
  endpoint: URL;
  /** A Unix socket to connect to instead. */
  socketPath?: string;
  /** The longest message of the server; unset is enough for a page of a scan. */
  maxMessageBytes?: number;
  tls?: { ca?: string; certificate?: string; key?: string };
  clock: Clock;
}

export interface GrpcStream {
  send(message: Uint8Array): void;
  /** Messages of the server; throws `GrpcError` when the stream ends with a status other than OK, or breaks. */
  messages(): AsyncIterable<Uint8Array>;
  close(): void;
}

export interface GrpcChannel {
  readonly isClosed: boolean;
  call(
    path: string,
    message: Uint8Array,
    metadata: Readonly<Record<string, string>>,
    timeoutMs: number,
  ): Promise<Uint8Array>;
  stream(path: string, metadata: Readonly<Record<string, string>>): GrpcStream;
  close(): void;
}

/** Resolves when the connection is established. */
export async function openGrpcChannel(options: GrpcChannelOptions): Promise<GrpcChannel> {
  const { endpoint, socketPath, tls, clock, maxMessageBytes = MAX_MESSAGE_BYTES } = options;
  const session = http2.connect(endpoint, {
    createConnection: socketPath !== undefined ? () => connect(socketPath) : undefined,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    maxSessionMemory: 512,
    ca: tls?.ca,
    cert: tls?.certificate,
    key: tls?.key,
  });
  await whenConnected(session, endpoint, clock);
  // An error of the session also ends its streams, and they report it.
  session.on("error", () => {});
  const stopPings = keepPinging(session, clock);
  session.once("close", stopPings);
  session.once("goaway", () => session.close());
  return new Http2Channel(session, endpoint, clock, maxMessageBytes);
}

function whenConnected(session: ClientHttp2Session, { host }: URL, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: Error): void => {
      timer.cancel();
      session.destroy();
      reject(new GrpcError(grpcStatus.unavailable, `cannot connect to ${host}: ${reason}`, false, { cause }));
    };
    const timer = clock.after(CONNECT_TIMEOUT_MS, () => fail(`no answer within ${CONNECT_TIMEOUT_MS / 1000} s`));
    session.on("error", (error) => fail(error.message, error));
    // The settings of the server show that it speaks HTTP/2.
    session.once("remoteSettings", () => {
      if (session.destroyed) return; // Its close follows.
      timer.cancel();
      session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
      resolve();
    });
    session.once("close", () => fail("the connection was closed"));
  });
}

function keepPinging(session: ClientHttp2Session, clock: Clock): () => void {
  let timer: Timer;
  const next = (): void => {
    timer = clock.after(PING_AFTER_MS, () => {
      // A destroyed session closes later, and rejects pings until then.
      if (session.destroyed) return;
      timer = clock.after(PING_TIMEOUT_MS, () => session.destroy(new Error("the server stopped answering pings")));
      session.ping(() => {
        timer.cancel();
        if (!session.destroyed) next();
      });
    });
  };
  next();
  return () => timer.cancel();
}

class Http2Channel implements GrpcChannel {
  readonly #session: ClientHttp2Session;
  readonly #endpoint: URL;
  readonly #clock: Clock;
  readonly #maxMessageBytes: number;

  constructor(session: ClientHttp2Session, endpoint: URL, clock: Clock, maxMessageBytes: number) {
    this.#session = session;
    this.#endpoint = endpoint;
    this.#clock = clock;
    this.#maxMessageBytes = maxMessageBytes;
  }

  get isClosed(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  async call(
    path: string,
    message: Uint8Array,
    metadata: Readonly<Record<string, string>>,
    timeoutMs: number,
  ): Promise<Uint8Array> {
    const stream = this.#request(path, { ...metadata, "grpc-timeout": `${timeoutMs}m` });
    const timer = this.#clock.after(timeoutMs, () =>
      stream.destroy(
        new GrpcError(grpcStatus.deadlineExceeded, `no answer of ${this.#endpoint.host} within ${timeoutMs} ms`, true),
      ),
    );
    stream.end(frame(message));
    try {
      let answer: Uint8Array | undefined;
      for await (const received of this.#read(stream)) answer = received;
      if (!answer) throw new GrpcError(grpcStatus.unknown, `${this.#endpoint.host} sent an empty answer`, true);
      return answer;
    } finally {
      timer.cancel();
    }
  }

  stream(path: string, metadata: Readonly<Record<string, string>>): GrpcStream {
    const stream = this.#request(path, metadata);
    // Reported by `messages`; before they are read, nothing else listens.
    stream.on("error", () => {});
    return {
      send: (message) => {
        if (!stream.destroyed && stream.writable) stream.write(frame(message));
      },
      messages: () => this.#read(stream),
      close: () => stream.destroy(),
    };
  }

  close(): void {
    this.#session.destroy();
  }

  #request(path: string, metadata: Readonly<Record<string, string>>): ClientHttp2Stream {
    if (this.isClosed) throw this.#broken("the connection is closed", false);
    return this.#session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...metadata,
    });
  }

  async *#read(stream: ClientHttp2Stream): AsyncGenerator<Uint8Array, void, undefined> {
    let status: IncomingHttpHeaders | undefined;
    const note = (headers: IncomingHttpHeaders): void => {
      if (headers["grpc-status"] !== undefined) status = headers;
    };
    // An answer without messages has its status in the headers.
    stream.on("response", note);
    stream.on("trailers", note);
    try {
      yield* unframed(stream, this.#maxMessageBytes);
    } catch (error) {
      if (error instanceof GrpcError) throw error;
      // The server refused the stream before it looked at it.
      const isRefused = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
      throw this.#broken(error instanceof Error ? error.message : String(error), !isRefused, error);
    }
    if (!status) throw this.#broken("the answer has no status", true);
    const code = Number(status["grpc-status"]);
    if (code !== 0) throw new GrpcError(code, statusMessage(status, code), true);
  }

  #broken(reason: string, mayHaveArrived: boolean, cause?: unknown): GrpcError {
    const { host } = this.#endpoint;
    return new GrpcError(grpcStatus.unavailable, `the connection to ${host} broke: ${reason}`, mayHaveArrived, {
      cause,
    });
  }
}

function statusMessage({ "grpc-message": text }: IncomingHttpHeaders, code: number): string {
  if (typeof text !== "string" || text === "") return `status ${code}`;
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Not percent-encoded, against the protocol; readable all the same.
  }
}

function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(FRAME_BYTES + message.byteLength);
  framed[0] = 0;
  framed.writeUInt32BE(message.byteLength, 1);
  framed.set(message, FRAME_BYTES);
  return framed;
}

/** The messages in the bytes of a stream. A reader that is slow slows the server down. */
async function* unframed(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let chunks: Buffer[] = [];
  let available = 0;
  /** What the next message needs, with its frame; before its frame is known, the frame. */
  let needed = FRAME_BYTES;
  for await (const chunk of stream) {
    chunks.push(chunk);
    available += chunk.byteLength;
    while (available >= needed) {
      const all: Buffer = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      chunks = [all];
      if (needed === FRAME_BYTES) needed = FRAME_BYTES + lengthOf(all, maxBytes);
      if (available < needed) break;
      yield all.subarray(FRAME_BYTES, needed);
      chunks = [all.subarray(needed)];
      available -= needed;
      needed = FRAME_BYTES;
    }
  }
}

function lengthOf(framed: Buffer, maxBytes: number): number {
  const length = framed.readUInt32BE(1);
  if (framed[0] !== 0)
    throw new GrpcError(
      grpcStatus.unknown,
      "the server sent a compressed message without being asked for compression",
      true,
    );
  if (length > maxBytes) throw new GrpcError(grpcStatus.unknown, `the server sent a message of ${length} bytes`, true);
  return length;
}
