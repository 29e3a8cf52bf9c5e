/**
 * Sends a response: in chunks that are never joined, compressed when it is long and the client accepts that, or as a
 * stream.
 */
import type { Writable } from "node:stream";
import { constants, createGzip, gzip } from "node:zlib";
import { promisify } from "node:util";
import { ApiError, internalError } from "@flotilla/apimachinery";
import type { Log } from "@flotilla/base";
import type { ApiResponse, ByteSink, ByteStream } from "../request/request.ts";
import { statusResponse } from "../request/respond.ts";
import type { Wire } from "./wire.ts";

/** Below this size compressing costs more time than it saves. The threshold and the level are those of Kubernetes. */
const GZIP_FROM_BYTES = 128 * 1024;
/** One TLS record: up to this size a copy costs less than several writes. */
const JOIN_UP_TO_BYTES = 16 * 1024;
const compress = promisify(gzip);

/**
 * The answer to a request that fails before the API server handles it: it cannot be read, or its client cannot be
 * authenticated. An error that is not an `ApiError` is a bug: it is logged, and the client receives no details.
 */
export function httpFailureResponse(error: unknown, log: Log): ApiResponse {
  if (!(error instanceof ApiError)) log.error("request failed unexpectedly", { error });
  const response = statusResponse(error instanceof ApiError ? error : internalError("see the server's log"));
  return response.status === 401
    ? { ...response, headers: { ...response.headers, "www-authenticate": 'Bearer realm="flotilla"' } }
    : response;
}

/**
 * Writes a response to the connection, immediately unless it has to be compressed first. `onStream` receives the
 * function that stops a stream.
 */
export function sendResponse(
  wire: Wire,
  response: ApiResponse,
  onStream: (stop: () => void) => void,
): void | Promise<void> {
  const { status, headers, body } = response;
  if (response.upgrade && wire.upgrade) {
    wire.respond(status, headers, undefined, false);
    onStream(response.upgrade(wire.upgrade.socket, wire.upgrade.head));
    return;
  }
  const withoutBody = wire.method === "HEAD" || status === 204 || status === 304;
  if (isStream(body)) {
    const isPacked = response.isFinite === true && acceptsGzip(wire.headers["accept-encoding"]);
    wire.respond(status, isPacked ? packedHeaders(headers) : headers, undefined, withoutBody);
    if (!withoutBody) onStream(isPacked ? openPacked(wire, body) : openStream(wire.output, body));
    return;
  }
  const pieces: readonly Uint8Array[] = body instanceof Uint8Array ? [body] : body;
  let length = 0;
  for (const piece of pieces) length += piece.length;
  if (
    length > GZIP_FROM_BYTES &&
    !withoutBody &&
    acceptsGzip(wire.headers["accept-encoding"]) &&
    headers["content-encoding"] === undefined
  ) {
    return sendCompressed(wire, response, pieces, length);
  }
  // If the client disconnects early there is no finish event, and the body is garbage collected.
  if (response.release) wire.output.once("finish", response.release);
  sendWhole(wire, status, headers, pieces, length, withoutBody);
}

function sendWhole(
  wire: Wire,
  status: number,
  headers: ApiResponse["headers"],
  pieces: readonly Uint8Array[],
  length: number,
  withoutBody: boolean,
): void {
  const end = withoutBody || length === 0;
  wire.respond(status, headers, length, end);
  if (!end) writePieces(wire, pieces, length);
}

async function sendCompressed(
  wire: Wire,
  { status, headers }: ApiResponse,
  pieces: readonly Uint8Array[],
  length: number,
): Promise<void> {
  // Runs in a worker of Node's pool, which takes one buffer; the copy is cheap compared with the compression.
  const packed = await compress(Buffer.concat(pieces, length), { level: constants.Z_BEST_SPEED });
  if (wire.closed) return;
  sendWhole(wire, status, packedHeaders(headers), [packed], packed.length, false);
}

function packedHeaders(headers: ApiResponse["headers"]): ApiResponse["headers"] {
  const vary = headers.vary === undefined ? "Accept-Encoding" : `${String(headers.vary)}, Accept-Encoding`;
  return { ...headers, "content-encoding": "gzip", vary };
}

function writePieces({ output }: Wire, pieces: readonly Uint8Array[], length: number): void {
  if (pieces.length === 1 || length <= JOIN_UP_TO_BYTES) {
    output.end(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces, length));
    return;
  }
  // Corked, the chunks reach the socket as one vector.
  output.cork();
  for (const piece of pieces) output.write(piece);
  output.end();
}

/** The same, compressed at the pace at which the client reads. */
function openPacked({ output }: Wire, body: ByteStream): () => void {
  const packed = createGzip({ level: constants.Z_BEST_SPEED });
  packed.pipe(output);
  const close = openStream(packed, body);
  const stop = (): void => {
    close();
    packed.destroy();
  };
  output.once("close", stop);
  return stop;
}

function openStream(output: Writable, body: ByteStream): () => void {
  let resume: (() => void) | undefined;
  const sink: ByteSink = {
    write: (chunk) => !output.destroyed && !output.writableEnded && output.write(chunk),
    onDrain(callback) {
      // The listener is added only when there is something to wait for, which keeps an idle watch small.
      if (!resume) output.on("drain", () => resume?.());
      resume = callback;
    },
    end() {
      if (!output.writableEnded) output.end();
    },
  };
  return body.open(sink);
}

function isStream(body: ApiResponse["body"]): body is ByteStream {
  return "open" in body;
}

function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false;
  return header.split(",").some((clause) => {
    const [coding = "", ...parameters] = clause.split(";").map((part) => part.trim().toLowerCase());
    return coding === "gzip" && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
