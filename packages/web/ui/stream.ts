/** The one connection to the server. It comes back by itself, and then subscribes again to everything that is shown. */
import { FRAME } from "../src/wire.ts";
import type { ClientMessage, ServerMessage, Topic } from "../src/wire.ts";
import { endSession } from "./session.ts";

export type LinkState = "connecting" | "live" | "lost";

interface Subscriber {
  topic: Topic;
  receive(data: unknown): void;
  fail(reason: string): void;
}

const FIRST_RETRY_MS = 300;
const LAST_RETRY_MS = 5_000;
const SESSION_OVER = 4401;

let socket: WebSocket | undefined;
let state: LinkState = "connecting";
let retryMs = FIRST_RETRY_MS;
let nextSub = 1;
const subscribers = new Map<number, Subscriber>();
const watchers = new Set<(state: LinkState) => void>();

export const linkState = (): LinkState => state;
export function onLink(watcher: (state: LinkState) => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

function setState(next: LinkState): void {
  if (state === next) return;
  state = next;
  for (const watcher of watchers) watcher(next);
}

/** Receives the topic until the returned function is called. */
export function subscribe<T>(
  topic: Topic,
  receive: (data: T) => void,
  fail: (reason: string) => void = () => {},
): () => void {
  const sub = nextSub++;
  subscribers.set(sub, { topic, receive: (data) => receive(data as T), fail });
  send({ type: "subscribe", sub, topic });
  return () => {
    subscribers.delete(sub);
    send({ type: "unsubscribe", sub });
  };
}

function send(message: ClientMessage): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

export function connect(): void {
  const url = new URL("stream", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  const opened = new WebSocket(url);
  opened.binaryType = "arraybuffer";
  socket = opened;
  opened.addEventListener("open", () => {
    retryMs = FIRST_RETRY_MS;
    setState("live");
    send({ type: "visible", visible: !document.hidden });
    for (const [sub, { topic }] of subscribers) send({ type: "subscribe", sub, topic });
  });
  /** Compressed messages take a moment to unpack; the order stays. */
  let order = Promise.resolve();
  opened.addEventListener("message", ({ data }) => {
    order = order.then(() => read(data as ArrayBuffer)).catch(() => opened.close());
  });
  opened.addEventListener("close", ({ code, reason }) => {
    socket = undefined;
    if (code === SESSION_OVER) {
      endSession(reason);
      return;
    }
    setState("lost");
    // Not all pages at the same moment.
    setTimeout(connect, retryMs * (0.5 + Math.random()));
    retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
  });
}

export function disconnect(): void {
  subscribers.clear();
  socket?.close();
}

document.addEventListener("visibilitychange", () => send({ type: "visible", visible: !document.hidden }));

async function read(frame: ArrayBuffer): Promise<void> {
  const head = new DataView(frame);
  const sub = head.getUint32(1);
  const bytes = frame.slice(5);
  const json =
    head.getUint8(0) === FRAME.gzip
      ? await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text()
      : new TextDecoder().decode(bytes);
  const value = JSON.parse(json) as unknown;
  if (sub !== 0) {
    subscribers.get(sub)?.receive(value);
    return;
  }
  const message = value as ServerMessage;
  if ("end" in message) endSession(message.end);
  else if ("error" in message) {
    subscribers.get(message.sub)?.fail(message.error);
  } else subscribers.get(message.sub)?.receive(message.data);
}
