/** A page for tests of the console: the browser's side of a stream, whose messages the test reads. */
import { duplexPair } from "node:stream";
import { gunzipSync } from "node:zlib";
import { silentLog } from "@flotilla/base";
import type { FakeClock, JsonObject } from "@flotilla/base";
import { loadWebSockets } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { FRAME } from "@flotilla/web";
import type { ClientMessage } from "@flotilla/web";
import type { Session } from "./sessions.ts";
import { openStream } from "./stream.ts";
import type { View, Viewer } from "./viewers.ts";

export interface TestPage {
  /** What was received and not taken yet. */
  take(): JsonObject[];
  send(message: ClientMessage): void;
  /** Stops and starts to read from the connection. */
  pause(): void;
  resume(): void;
  readonly isClosed: boolean;
  /** What the server reported about the end of the stream. */
  readonly isForgotten: boolean;
  close(): void;
}

export async function openTestPage(session: Session, clock: FakeClock): Promise<TestPage> {
  const [near, far] = duplexPair();
  const received: JsonObject[] = [];
  let isClosed = false;
  let isForgotten = false;
  const createWebSocket = await loadWebSockets();
  await openStream(near, Buffer.alloc(0), { session, clock, log: silentLog, closed: () => (isForgotten = true) });
  const web = createWebSocket(far, Buffer.alloc(0), {
    side: "client",
    maxMessageBytes: 64 * 1024 * 1024,
    message: (data) => received.push(decode(data)),
    closed: () => (isClosed = true),
  });
  return {
    take: () => received.splice(0),
    send: (message) => void web.send(Buffer.from(JSON.stringify(message))),
    pause: () => web.pause(),
    resume: () => web.resume(),
    get isClosed() {
      return isClosed;
    },
    get isForgotten() {
      return isForgotten;
    },
    close: () => web.close(1000),
  };
}

/** The subscription is in front of the bytes that tabs share, except in messages that have it as a field. */
function decode(data: Buffer): JsonObject {
  const sub = data.readUInt32BE(1);
  const bytes = data.subarray(5);
  const message = JSON.parse((data[0] === FRAME.gzip ? gunzipSync(bytes) : bytes).toString("utf8")) as JsonObject;
  return sub === 0 ? message : { sub, data: message };
}

export interface TestSession {
  session: Session;
  end(reason: string): void;
  changeRights(view: View): void;
  /** How many have joined the view. */
  joined(): number;
}

export function makeSession(client: Client, view: View): TestSession {
  const ending = new AbortController();
  const listeners = new Set<() => void>();
  let current = view;
  let joined = 0;
  const viewer: Viewer = {
    key: "viewer",
    user: "ann",
    groups: [],
    hub: { client, server: "https://hub", upgrade: () => Promise.reject(new Error("not part of this test")) },
    async join() {
      joined += 1;
      return current;
    },
    leave: () => void (joined -= 1),
    onRights(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {},
  };
  return {
    session: { id: "id", csrf: "csrf", viewer, ended: ending.signal },
    end: (reason) => ending.abort(reason),
    changeRights(next) {
      current = next;
      for (const listener of Array.from(listeners)) listener();
    },
    joined: () => joined,
  };
}
