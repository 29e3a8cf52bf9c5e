/**
 * An HTTP/1.1 request that counts the chunks of its body as the parser delivers them: before it is authenticated, and
 * before Node spends time on each of them. The parser finishes what it has read of the connection in one go, thousands of
 * chunks of one byte, so a client that is not read any more must not cost anything further.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { BodyChunks, ChunkAllowance } from "./chunk-allowance.ts";
import { tooManyChunks } from "./request-body.ts";

/**
 * An import would create a module namespace of `node:http`, for which Node also loads its fetch and WebSocket: 10 MB.
 */
const http = process.getBuiltinModule("node:http");

/** A class of requests for a server; connections share nothing. */
export function countedRequests(nowMs: () => number): typeof IncomingMessage {
  const allowances = new WeakMap<Socket, ChunkAllowance>();
  const chunksOf = (socket: Socket): BodyChunks => {
    let allowance = allowances.get(socket);
    if (!allowance) allowances.set(socket, (allowance = new ChunkAllowance()));
    return new BodyChunks(allowance, nowMs);
  };
  return class CountedRequest extends http.IncomingMessage {
    #chunks: BodyChunks | undefined;
    #isRejected = false;

    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (this.#isRejected) return false;
      if (chunk && !(this.#chunks ??= chunksOf(this.socket)).accept(chunk.length)) {
        this.#isRejected = true;
        rejectChunks(this.socket);
        return false;
      }
      return super.push(chunk, encoding);
    }
  };
}

/** Written to the connection, because a response of Node would first read the rest of the request. */
function rejectChunks(socket: Socket): void {
  ignoreBody(socket);
  const text = JSON.stringify(tooManyChunks().status);
  socket.write(
    `HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  socket.destroySoon();
}

/** The parser of a connection; Node keeps it for later connections. */
interface Parser {
  constructor: { kOnBody?: unknown };
  [listener: number]: unknown;
}

/**
 * Node's parser cannot be stopped in the middle of what it has read, and calls a listener for each chunk. Without a listener
 * the rest of tens of thousands of chunks takes no time.
 */
function ignoreBody(socket: Socket & { parser?: Parser | null }): void {
  const { parser } = socket;
  const event = parser?.constructor.kOnBody;
  if (!parser || typeof event !== "number") return;
  const listener = parser[event];
  parser[event] = null;
  socket.once("close", () => (parser[event] = listener));
}
