/**
 * Commands over SPDY/3.1, for clients older than kubectl 1.31: the client opens one stream for the result and one for each
 * of input, output, errors and the size of its terminal.
 */
import type { Duplex } from "node:stream";
import type { Clock } from "@flotilla/base";
import type { ContainerStreams } from "./backend.ts";
import type { ChannelSession } from "./channels.ts";
import { exitStatus, failureStatus, terminalSize } from "./command-result.ts";
import { InputQueue } from "./input-queue.ts";
import { SpdyConnection } from "./spdy-connection.ts";
import type { SpdyStream, SpdyTransport } from "./spdy-connection.ts";

/** In order of preference; older ones state the result as text. */
export const COMMAND_PROTOCOLS: readonly string[] = ["v5.channel.k8s.io", "v4.channel.k8s.io"];

const MAX_STREAMS = 8;
const MAX_WAITING_BYTES = 1024 * 1024;
/** How long a client may take to open its streams. */
const OPEN_LIMIT_MS = 30_000;

/** Runs a command over an upgraded connection. Returns a function that ends it early. */
export function serveSpdyCommand(socket: Duplex, head: Buffer, clock: Clock, session: ChannelSession): () => void {
  const abort = new AbortController();
  const stdin = new InputQueue();
  const streams = new Map<string, SpdyStream>();
  const expected = ["error", ...(["stdin", "stdout", "stderr"] as const).filter((name) => session[name])];
  let resize: ((size: { width: number; height: number }) => void) | undefined;
  let hasStarted = false;
  if (!session.stdin) stdin.end();

  const connection = new SpdyConnection(socketTransport(socket), MAX_STREAMS, (stream) => {
    const type = stream.headers.get("streamtype") ?? "";
    streams.set(type, stream);
    if (type === "stdin")
      stream.onData((chunk) => {
        if (chunk === undefined) stdin.end();
        // A copy: the chunk is a part of what the socket read.
        else if (stdin.push(Buffer.from(chunk)) > MAX_WAITING_BYTES) socket.pause();
      });
    if (type === "resize")
      stream.onData((chunk) => {
        const size = chunk && terminalSize(chunk);
        if (size) resize?.(size);
      });
    if (hasStarted || !expected.every((name) => streams.has(name))) return;
    hasStarted = true;
    timer.cancel();
    start();
  });
  const close = (): void => {
    timer.cancel();
    stdin.end();
    abort.abort(new Error("the client closed the connection"));
    connection.close();
  };
  const timer = clock.after(OPEN_LIMIT_MS, close);
  stdin.onTaken = (waiting) => {
    if (waiting <= MAX_WAITING_BYTES) socket.resume();
  };

  const start = (): void => {
    const output = (name: string) => (chunk: Uint8Array) => streams.get(name)?.write(chunk) ?? Promise.resolve();
    const io: ContainerStreams = {
      stdin: stdin.chunks(),
      stdout: output("stdout"),
      stderr: output("stderr"),
      onResize(listener) {
        resize = listener;
      },
    };
    const finish = async (status: object): Promise<void> => {
      for (const name of ["stdout", "stderr"]) await streams.get(name)?.end();
      await streams.get("error")?.write(Buffer.from(JSON.stringify(status)));
      await streams.get("error")?.end();
      close();
    };
    session.run(io, abort.signal).then(
      ({ exitCode }) => finish(exitStatus(exitCode)),
      (error: unknown) => finish(failureStatus(error)),
    );
  };

  listen(socket, head, connection, close);
  return close;
}

/** Passes what the socket reads to the connection, and ends it with the socket. */
export function listen(socket: Duplex, head: Buffer, connection: SpdyConnection, close: () => void): void {
  const receive = (chunk: Buffer): void => {
    // Bytes that are not SPDY end the connection, as a closed one does.
    connection.receive(chunk).catch(close);
  };
  socket.on("data", receive);
  socket.once("close", close);
  socket.once("end", close);
  socket.once("error", close);
  if (head.length > 0) receive(head);
}

export function socketTransport(socket: Duplex): SpdyTransport {
  return {
    async write(chunk) {
      if (socket.destroyed || socket.writableEnded || socket.write(chunk)) return;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          socket.off("drain", done);
          socket.off("close", done);
          resolve();
        };
        socket.on("drain", done);
        socket.on("close", done);
      });
    },
    end() {
      if (!socket.writableEnded) socket.end();
    },
  };
}
