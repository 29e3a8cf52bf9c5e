/**
 * `/ui/stream`: the one connection through which a page receives everything that changes.
 *
 * A page subscribes to topics. A page that reads slower than data arrives gets a new snapshot instead of a queue, and
 * of logs the newest lines with the number of those that were left out; a hidden page gets one message in five seconds.
 */
import type { Duplex } from "node:stream";
import { FlotillaError, isObject, messageOf } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import { loadWebSockets } from "@flotilla/client";
import type { WebSocket } from "@flotilla/client";
import type { ClientMessage, Topic } from "@flotilla/web";
import { openTopic } from "./open-topic.ts";
import { createPageOutput } from "./page-output.ts";
import type { Session } from "./sessions.ts";
import type { View } from "./viewers.ts";

interface StreamOptions {
  session: Session;
  clock: Clock;
  log: Log;
  closed(): void;
}

const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_SUBSCRIPTIONS = 32;
const CLOSE_GRACE_MS = 1_000;

interface Subscription {
  topic: Topic;
  stop: AbortController;
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
  let joining: Promise<View> | undefined;

  const output = createPageOutput(() => web, clock);
  const end = (): void => {
    if (closing.signal.aborted) return;
    closing.abort();
    output.close();
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
    output.write({ end: String(session.ended.reason) });
    web.close(4401, "the session is over");
    end();
  };
  session.ended.addEventListener("abort", endSession);
  const stopRights = session.viewer.onRights(() => {
    // The old view is closed: everything is subscribed again, with what may be seen now.
    if (joining) session.viewer.leave();
    joining = undefined;
    for (const [sub, { topic }] of Array.from(subscriptions)) subscribe(sub, topic);
  });

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
        unsubscribe(message.sub);
        return;
      case "visible":
        output.setVisible(message.visible);
        return;
      default:
        throw new FlotillaError("ConsoleMessage", "unknown message");
    }
  }
  function subscribe(sub: number, topic: Topic): void {
    unsubscribe(sub);
    const stop = new AbortController();
    subscriptions.set(sub, { topic, stop });
    const signal = AbortSignal.any([closing.signal, stop.signal]);
    open(sub, topic, signal).catch((error: unknown) => {
      if (signal.aborted) return;
      log.debug("a topic of the console failed", { topic: topic.name, error });
      fail(sub, messageOf(error));
    });
  }
  function unsubscribe(sub: number): void {
    subscriptions.get(sub)?.stop.abort();
    subscriptions.delete(sub);
    output.drop(sub);
  }
  function fail(sub: number, reason: string): void {
    if (!subscriptions.has(sub)) return;
    unsubscribe(sub);
    output.write({ sub, error: reason });
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
    return openTopic(
      topic,
      {
        sub,
        view,
        client: session.viewer.hub.client,
        output,
        fail: (reason) => fail(sub, reason),
        clock,
        log,
      },
      signal,
    );
  }
  return () => {
    web.close(1001, "the server is stopping");
    end();
  };
}
