/**
 * Port forwarding: SPDY/3.1 streams in pairs, one for data and one for errors, for each connection that the client
 * accepted. kubectl 1.31 and later send the same frames in the messages of a WebSocket.
 */
import type { Duplex } from "node:stream";
import { messageOf } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { WebSocket, WebSocketOptions } from "@flotilla/client";
import type { PortConnection } from "./backend.ts";
import { InputQueue } from "./input-queue.ts";
import { listen, socketTransport } from "./spdy-command.ts";
import { SpdyConnection } from "./spdy-connection.ts";
import type { SpdyStream, SpdyTransport } from "./spdy-connection.ts";

export const PORT_FORWARD_PROTOCOL = "portforward.k8s.io";
/** The subprotocol of a WebSocket that carries SPDY frames. */
export const TUNNEL_PROTOCOL = `SPDY/3.1+${PORT_FORWARD_PROTOCOL}`;

/** Two for each connection. */
const MAX_STREAMS = 256;
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_MESSAGE_BYTES = 1024 * 1024;
const CLOSE_GRACE_MS = 2000;

/** Connects to a port until one of the sides ends. */
export type Forward = (port: number, connection: PortConnection, signal: AbortSignal) => Promise<void>;

interface Flow {
  pause(): void;
  resume(): void;
}

export function servePortForward(socket: Duplex, head: Buffer, forward: Forward): () => void {
  const { connection, close } = createPortForward(socketTransport(socket), socket, forward);
  listen(socket, head, connection, close);
  return close;
}

/** The same in the messages of a WebSocket, which `open` creates. */
export function serveTunnel(
  open: (options: WebSocketOptions) => WebSocket,
  clock: Clock,
  forward: Forward,
): () => void {
  const web: WebSocket = open({
    side: "server",
    maxMessageBytes: MAX_MESSAGE_BYTES,
    closeGrace: { clock, ms: CLOSE_GRACE_MS },
    message(data) {
      connection.receive(Buffer.from(data)).catch(close);
    },
    closed: () => close(),
  });
  const transport: SpdyTransport = {
    async write(chunk) {
      if (!web.send(Buffer.from(chunk))) await web.drained();
    },
    end: () => web.close(),
  };
  const { connection, close } = createPortForward(transport, web, forward);
  return close;
}

/** The protocol of libraries such as Python's: two channels for each port of the request, for data and for errors. */
export const FORWARD_CHANNELS_PROTOCOL = "v4.channel.k8s.io";

export function serveForwardChannels(
  open: (options: WebSocketOptions) => WebSocket,
  clock: Clock,
  forward: Forward,
  ports: readonly number[],
): () => void {
  const abort = new AbortController();
  const inputs = ports.map(() => new InputQueue());
  const end = (): void => {
    for (const input of inputs) input.end();
    abort.abort(new Error("the client closed the connection"));
  };
  const web: WebSocket = open({
    side: "server",
    maxMessageBytes: MAX_MESSAGE_BYTES,
    closeGrace: { clock, ms: CLOSE_GRACE_MS },
    message(data) {
      const [channel = 0] = data;
      const input = channel % 2 === 0 ? inputs[channel / 2] : undefined;
      if ((input?.push(Buffer.from(data.subarray(1))) ?? 0) > MAX_WAITING_BYTES) web.pause();
    },
    closed: end,
  });
  const send = async (channel: number, content: Uint8Array): Promise<void> => {
    if (!web.send(Buffer.concat([Buffer.from([channel]), content]))) await web.drained();
  };
  const connect = async (input: InputQueue, index: number): Promise<void> => {
    const port = ports[index] ?? 0;
    input.onTaken = (waiting) => {
      if (waiting <= MAX_WAITING_BYTES) web.resume();
    };
    // Each channel begins with its port.
    for (const channel of [2 * index, 2 * index + 1]) await send(channel, Buffer.from([port & 0xff, port >>> 8]));
    try {
      await forward(port, { input: input.chunks(), output: (chunk) => send(2 * index, chunk) }, abort.signal);
    } catch (error) {
      await send(2 * index + 1, Buffer.from(messageOf(error)));
    }
  };
  void Promise.all(inputs.map(connect)).then(() => web.close());
  return () => {
    end();
    web.close();
  };
}

/** `flow` stops and continues what the client sends. */
function createPortForward(
  transport: SpdyTransport,
  flow: Flow,
  forward: Forward,
): { connection: SpdyConnection; close(): void } {
  const abort = new AbortController();
  /** Streams for errors whose data stream is not open yet, by request. */
  const errors = new Map<string, SpdyStream>();
  const connection = new SpdyConnection(transport, MAX_STREAMS, (stream) => {
    const request = stream.headers.get("requestid") ?? stream.headers.get("port") ?? "";
    if (stream.headers.get("streamtype") === "error") {
      errors.set(request, stream);
      return;
    }
    const errorStream = errors.get(request);
    errors.delete(request);
    void connect(stream, errorStream);
  });

  const connect = async (data: SpdyStream, errorStream: SpdyStream | undefined): Promise<void> => {
    const input = new InputQueue();
    input.onTaken = (waiting) => {
      if (waiting <= MAX_WAITING_BYTES) flow.resume();
    };
    data.onData((chunk) => {
      if (chunk === undefined) input.end();
      else if (input.push(Buffer.from(chunk)) > MAX_WAITING_BYTES) flow.pause();
    });
    try {
      const port = Number(data.headers.get("port"));
      await forward(port, { input: input.chunks(), output: (chunk) => data.write(chunk) }, abort.signal);
    } catch (error) {
      await errorStream?.write(Buffer.from(messageOf(error)));
    }
    await errorStream?.end();
    await data.end();
  };

  return {
    connection,
    close() {
      abort.abort(new Error("the client closed the connection"));
      connection.close();
    },
  };
}
