/** Serves a console on loopback over plain HTTP: for `flotilla up` and `flotilla ui`, whose browser runs on this machine. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { FlotillaError, messageOf } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import { upgradeWire } from "@flotilla/apiserver";
import type { ApiResponse } from "@flotilla/apiserver";
import type { Console, ConsoleRequest } from "./console.ts";

/**
 * An import would create a module namespace of `node:http`, for which Node also loads its fetch and WebSocket: 10 MB.
 */
const { createServer } = process.getBuiltinModule("node:http");

export interface ServedConsole {
  port: number;
  /** The address that signs in once. */
  link(): string;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";

export async function serveConsole(
  console: Console,
  { port, log }: { port: number; log: Log },
): Promise<ServedConsole> {
  const sockets = new Set<Socket>();
  const server = createServer({ maxHeaderSize: 32 * 1024 }, (request, response) => {
    void answer(console, request, response).catch((error: unknown) => {
      log.debug("answering the console failed", { error });
      response.destroy();
    });
  });
  server.maxConnections = 1_000;
  server.headersTimeout = 20_000;
  server.requestTimeout = 60_000;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    const stop = new AbortController();
    const asked = requestOf(request, new Uint8Array(), stop.signal, true);
    console.handle(asked).then(
      (response) => {
        const wire = upgradeWire(request, socket, head);
        wire.respond(response.status, response.headers, undefined, response.upgrade === undefined);
        if (response.upgrade) {
          const end = response.upgrade(socket, head);
          socket.once("close", end);
        } else socket.end();
      },
      () => socket.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(
        new FlotillaError(
          "Listen",
          `the web UI cannot listen on ${HOST} port ${port}: ${messageOf(cause)}; choose another port`,
          {
            cause,
          },
        ),
      ),
    );
    server.listen(port, HOST, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    link: () => `http://${HOST}:${bound}/ui/#code=${console.issueCode()}`,
    async close() {
      await console.close();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function answer(console: Console, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const stop = new AbortController();
  response.once("close", () => stop.abort());
  const head = requestOf(request, new Uint8Array(), stop.signal, false);
  const body = await readBody(request, console.bodyLimit(head));
  if (!body) {
    send(response, { status: 413, headers: { connection: "close" }, body: new Uint8Array() });
    return;
  }
  const asked = { ...head, body };
  if (asked.path === "/") {
    send(response, { status: 308, headers: { location: "/ui/" }, body: new Uint8Array() });
    return;
  }
  send(
    response,
    console.owns(asked.path)
      ? await console.handle(asked)
      : { status: 404, headers: { "content-type": "text/plain" }, body: Buffer.from("the web UI is at /ui/\n") },
  );
}

function requestOf(
  { method = "GET", url = "/", headers }: IncomingMessage,
  body: Uint8Array,
  signal: AbortSignal,
  canUpgrade: boolean,
): ConsoleRequest {
  const mark = url.indexOf("?");
  return {
    method,
    path: mark < 0 ? url : url.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)),
    headers: headers as Record<string, string | undefined>,
    body,
    signal,
    canUpgrade,
  };
}

/** Undefined when it is too large. */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += (chunk as Buffer).length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, { status, headers, body }: ApiResponse): void {
  if (response.destroyed) return;
  const whole =
    body instanceof Uint8Array ? body : Array.isArray(body) ? Buffer.concat(body as Uint8Array[]) : undefined;
  response.writeHead(status, { ...(headers as OutgoingHttpHeaders), "content-length": whole?.length ?? 0 });
  response.end(whole);
}
