/**
 * `/ui/stream`: the one connection through which a page receives everything that changes.
 *
 * A page subscribes to topics. A page that reads slower than data arrives gets a new snapshot instead of a queue, and
 * of logs the newest lines with the number of those that were left out; a hidden page gets one message in five seconds.
 */
import type { Duplex } from "node:stream";
import { FlotillaError, isObject, messageOf } from "@flotilla/base";
import type { Clock, Log, Timer } from "@flotilla/base";
import { loadWebSockets } from "@flotilla/client";
import type { WebSocket } from "@flotilla/client";
import { FRAME } from "@flotilla/web";
import type { ClientMessage, LogsMessage, ServerMessage, Topic } from "@flotilla/web";
import { openHistoryTopic } from "./history-topic.ts";
import { mergeBatches } from "./logs-batch.ts";
import { openLogsTopic } from "./logs-topic.ts";
import { openObjectTopic } from "./object-topic.ts";
import type { Session } from "./sessions.ts";
import type { View } from "./viewers.ts";

export interface StreamOptions {
  session: Session;
  clock: Clock;
  log: Log;
  closed(): void;
}

const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_SUBSCRIPTIONS = 32;
const HIDDEN_MS = 5_000;
const CLOSE_GRACE_MS = 1_000;

interface Subscription {
  topic: Topic;
  stop: AbortController;
  /** The newest message that could not be sent yet; of a fleet only the fact that one is missing. */
  waiting: (() => Uint8Array) | undefined;
}

/** Returns the function that ends the stream. */
export async function openStream(
  socket: Duplex,
  head: Buffer,
  { session, clock, log, closed }: StreamOptions,
): Promise<() => void> {
  const createWebSocket = await loadWebSockets();
  const subscriptions = new Map<number, Subscription>();
  const closing = new AbortController();
  let isVisible = true;
  let isBehind = false;
  let hiddenTimer: Timer | undefined;
  let joining: Promise<View> | undefined;

  const end = (): void => {
    if (closing.signal.aborted) return;
    closing.abort();
    hiddenTimer?.cancel();
    for (const { stop } of subscriptions.values()) stop.abort();
    subscriptions.clear();
    stopRights();
    session.ended.removeEventListener("abort", endSession);
    if (joining) session.viewer.leave();
    closed();
  };
  const web: WebSocket = createWebSocket(socket, head, {
    side: "server",
    maxMessageBytes: MAX_MESSAGE_BYTES,
    closeGrace: { clock, ms: CLOSE_GRACE_MS },
    message: (data) => {
      try {
        receive(JSON.parse(data.toString("utf8")) as ClientMessage);
      } catch (error) {
        web.close(1008, messageOf(error));
      }
    },
    closed: end,
  });
  const endSession = (): void => {
    write(encode({ end: String(session.ended.reason) }));
    web.close(4401, "the session is over");
    end();
  };
  session.ended.addEventListener("abort", endSession);
  const stopRights = session.viewer.onRights(() => {
    // The old view is closed: everything is subscribed again, with what may be seen now.
    if (joining) session.viewer.leave();
    joining = undefined;
    for (const [sub, { topic, stop }] of Array.from(subscriptions)) {
      stop.abort();
      subscribe(sub, topic);
    }
  });

  function write(bytes: Uint8Array): void {
    if (web.send(bytes)) return;
    isBehind = true;
    void web.drained().then(() => {
      isBehind = false;
      flush();
    });
  }
  /** Sends what waited while the page was slow or hidden. */
  function flush(): void {
    if (closing.signal.aborted) return;
    for (const subscription of subscriptions.values()) {
      const { waiting } = subscription;
      if (!waiting) continue;
      if (isBehind) return;
      subscription.waiting = undefined;
      write(waiting());
    }
  }
  /**
   * `whole` builds a message that replaces all earlier ones of this subscription. Both are called when the message is
   * sent, and not at all when a later one replaces it.
   */
  function offer(sub: number, bytes: () => Uint8Array, whole: () => Uint8Array = bytes): void {
    const subscription = subscriptions.get(sub);
    if (!subscription || closing.signal.aborted) return;
    if (!isBehind && isVisible && !subscription.waiting) {
      write(bytes());
      return;
    }
    subscription.waiting = whole;
    if (!isVisible && !isBehind) hiddenTimer ??= clock.after(HIDDEN_MS, () => ((hiddenTimer = undefined), flush()));
  }
  function receive(message: ClientMessage): void {
    if (typeof message !== "object" || message === null)
      throw new FlotillaError("ConsoleMessage", "a message is an object");
    switch (message.type) {
      case "subscribe": {
        if (!Number.isSafeInteger(message.sub) || !isObject(message.topic))
          throw new FlotillaError("ConsoleMessage", "a subscription has a number and a topic");
        if (subscriptions.size >= MAX_SUBSCRIPTIONS)
          throw new FlotillaError("ConsoleMessage", "too many subscriptions");
        subscribe(message.sub, message.topic);
        return;
      }
      case "unsubscribe":
        subscriptions.get(message.sub)?.stop.abort();
        subscriptions.delete(message.sub);
        return;
      case "visible":
        isVisible = message.visible;
        if (isVisible) {
          hiddenTimer?.cancel();
          hiddenTimer = undefined;
          flush();
        }
        return;
      default:
        throw new FlotillaError("ConsoleMessage", "unknown message");
    }
  }
  function subscribe(sub: number, topic: Topic): void {
    subscriptions.get(sub)?.stop.abort();
    const stop = new AbortController();
    subscriptions.set(sub, { topic, stop, waiting: undefined });
    const signal = AbortSignal.any([closing.signal, stop.signal]);
    open(sub, topic, signal).catch((error: unknown) => {
      if (signal.aborted) return;
      log.debug("a topic of the console failed", { topic: topic.name, error });
      fail(sub, messageOf(error));
    });
  }
  function fail(sub: number, reason: string): void {
    const subscription = subscriptions.get(sub);
    if (!subscription) return;
    subscriptions.delete(sub);
    subscription.stop.abort();
    write(encode({ sub, error: reason }));
  }
  async function open(sub: number, topic: Topic, signal: AbortSignal): Promise<void> {
    joining ??= session.viewer.join(signal);
    const attempt = joining;
    let view: View;
    try {
      view = await attempt;
    } catch (error) {
      if (joining === attempt) {
        joining = undefined;
        session.viewer.leave();
      }
      throw error;
    }
    if (signal.aborted) return;
    const { feed, findings } = view;
    const { client } = session.viewer.hub;
    const isReady = (member: string): boolean => feed.members().find(({ name }) => name === member)?.state !== "away";
    const send = (data: Extract<ServerMessage, { data: unknown }>["data"]): void =>
      offer(sub, () => encode({ sub, data }));
    switch (topic.name) {
      case "fleet": {
        const whole = (): Uint8Array => withSub(sub, feed.snapshot());
        offer(sub, whole);
        signal.addEventListener(
          "abort",
          feed.subscribe((change) => offer(sub, () => withSub(sub, change), whole)),
        );
        return;
      }
      case "findings": {
        const current = findings.current();
        if (current) send(current);
        signal.addEventListener("abort", findings.subscribe(send));
        return;
      }
      case "object":
        return openObjectTopic({
          client,
          clock,
          log,
          ref: refOf(topic.ref),
          isReady,
          send,
          fail: (reason) => fail(sub, reason),
          signal,
        });
      case "history":
        return openHistoryTopic({
          client,
          clock,
          log,
          scope: feed.scope,
          ref: topic.ref === undefined ? undefined : refOf(topic.ref),
          send,
          signal,
        });
      case "logs": {
        const ref = refOf(topic.ref);
        const row = feed
          .workloads()
          .find(({ kind, namespace, name }) => kind === ref.kind && namespace === ref.namespace && name === ref.name);
        const known = row?.cells.map(({ member }) => member) ?? feed.members().map(({ name }) => name);
        // Batches are increments: those that wait for a slow or hidden page become one.
        let unsent: LogsMessage | undefined;
        const sendBatch = (batch: LogsMessage): void => {
          const joined = unsent ? mergeBatches(unsent, batch) : batch;
          unsent = joined;
          offer(sub, () => {
            unsent = undefined;
            return encode({ sub, data: joined });
          });
        };
        return openLogsTopic({
          client,
          clock,
          ref,
          members: topic.members ? topic.members.map(String) : known,
          pod: topic.pod,
          container: topic.container,
          tail: Number.isSafeInteger(topic.tail) ? topic.tail : 100,
          send: sendBatch,
          fail: (reason) => fail(sub, reason),
          signal,
        });
      }
      default:
        throw new FlotillaError("ConsoleMessage", "unknown topic");
    }
  }
  return () => {
    web.close(1001, "the server is stopping");
    end();
  };
}

/** A topic comes from a browser: its fields may be anything. */
function refOf(ref: unknown): { apiVersion: string; kind: string; namespace: string; name: string } {
  if (!isObject(ref)) throw new FlotillaError("ConsoleMessage", "the topic names no object");
  const { apiVersion, kind, namespace, name } = ref;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof name !== "string" || name === "")
    throw new FlotillaError("ConsoleMessage", "an object has an apiVersion, a kind and a name");
  return { apiVersion, kind, name, namespace: typeof namespace === "string" ? namespace : "" };
}

function encode(message: ServerMessage): Uint8Array {
  return Buffer.concat([Buffer.from([FRAME.plain, 0, 0, 0, 0]), Buffer.from(JSON.stringify(message))]);
}

/** The bytes of a fleet message are shared by all tabs; the subscription stands in front of them. */
function withSub(sub: number, frame: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(frame.length + 4);
  bytes[0] = frame[0] ?? 0;
  bytes.writeUInt32BE(sub, 1);
  bytes.set(frame.subarray(1), 5);
  return bytes;
}
