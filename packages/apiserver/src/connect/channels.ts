/**
 * `v5.channel.k8s.io` and `v4.channel.k8s.io`: the streams of a command over one WebSocket. The first byte of a message
 * identifies its stream. The result of the command comes last, as a Status. In v5 the client can also close a stream.
 */
import type { Clock, JsonObject } from "@flotilla/base";
import type { WebSocket, WebSocketOptions } from "@flotilla/client";
import type { ApiError } from "@flotilla/apimachinery";
import type { ContainerStreams } from "./backend.ts";
import { exitStatus, failureStatus, terminalSize } from "./command-result.ts";
import { InputQueue } from "./input-queue.ts";

/** In order of preference. */
export const CHANNEL_PROTOCOLS: readonly string[] = ["v5.channel.k8s.io", "v4.channel.k8s.io"];

const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

const MAX_MESSAGE_BYTES = 1024 * 1024;
/** How long a client may take to answer a close frame. */
const CLOSE_GRACE_MS = 2000;
/** The limit of unread input; beyond it the client is paused. */
const MAX_WAITING_BYTES = 1024 * 1024;

export interface ChannelSession {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  run(streams: ContainerStreams, signal: AbortSignal): Promise<{ exitCode: number }>;
}

/** Runs a command over a WebSocket, which `open` creates. Returns a function that ends it early. */
export function serveChannels(
  open: (options: WebSocketOptions) => WebSocket,
  clock: Clock,
  session: ChannelSession,
): () => void {
  const abort = new AbortController();
  const stdin = new InputQueue();
  let resize: ((size: { width: number; height: number }) => void) | undefined;
  const web = open({
    side: "server",
    maxMessageBytes: MAX_MESSAGE_BYTES,
    closeGrace: { clock, ms: CLOSE_GRACE_MS },
    message(data) {
      const [channel] = data;
      const content = data.subarray(1);
      if (channel === CHANNEL.stdin && session.stdin) {
        if (stdin.push(content) > MAX_WAITING_BYTES) web.pause();
      } else if (channel === CHANNEL.close && content[0] === CHANNEL.stdin) stdin.end();
      else if (channel === CHANNEL.resize) {
        const size = terminalSize(content);
        if (size) resize?.(size);
      }
      // Data for any other stream is dropped, as in Kubernetes.
    },
    closed() {
      stdin.end();
      abort.abort(new Error("the client closed the connection"));
    },
  });
  if (!session.stdin) stdin.end();
  stdin.onTaken = (waiting) => {
    if (waiting <= MAX_WAITING_BYTES) web.resume();
  };
  const send = async (channel: number, chunk: Uint8Array): Promise<void> => {
    const message = Buffer.allocUnsafe(chunk.byteLength + 1);
    message[0] = channel;
    message.set(chunk, 1);
    if (!web.send(message)) await web.drained();
  };
  const output = (channel: number, wanted: boolean) => (chunk: Uint8Array) =>
    wanted ? send(channel, chunk) : Promise.resolve();
  // Confirms the connection to the client before the command has any output.
  void send(session.stdout ? CHANNEL.stdout : session.stderr ? CHANNEL.stderr : CHANNEL.error, new Uint8Array());
  const streams: ContainerStreams = {
    stdin: stdin.chunks(),
    stdout: output(CHANNEL.stdout, session.stdout),
    stderr: output(CHANNEL.stderr, session.stderr),
    onResize(listener) {
      resize = listener;
    },
  };
  const finish = async (status: JsonObject | ApiError["status"]): Promise<void> => {
    await send(CHANNEL.error, Buffer.from(JSON.stringify(status)));
    web.close();
  };
  session.run(streams, abort.signal).then(
    ({ exitCode }) => finish(exitStatus(exitCode)),
    (error: unknown) => finish(failureStatus(error)),
  );
  return () => web.close();
}
