/** A terminal in a container: joins the page's WebSocket to the exec request of the hub, with the viewer's credentials. */
import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { HUB } from "@flotilla/apimachinery";
import type { Clock } from "@flotilla/base";
import { loadWebSockets, readText, resourcePath } from "@flotilla/client";
import { reasonIn } from "./json-access.ts";
import { memberPath } from "./member-path.ts";
import type { Viewer } from "./viewers.ts";

interface ExecOptions {
  viewer: Viewer;
  query: URLSearchParams;
  ended: AbortSignal;
  clock: Clock;
  closed(): void;
}

const MAX_MESSAGE_BYTES = 1024 * 1024;
const PROTOCOL = "v5.channel.k8s.io";
const OPEN_MS = 10_000;

/** Messages are those of Kubernetes: the first byte is the channel. Channel 3 carries the result. */
export async function openExec(socket: Duplex, head: Buffer, options: ExecOptions): Promise<() => void> {
  const { viewer, query, ended, clock, closed } = options;
  const createWebSocket = await loadWebSockets();
  const stop = new AbortController();
  let member: ReturnType<typeof createWebSocket> | undefined;
  const early: Buffer[] = [];
  const end = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    member?.close();
    page.close(1000);
    ended.removeEventListener("abort", end);
    closed();
  };
  const page = createWebSocket(socket, head, {
    side: "server",
    maxMessageBytes: MAX_MESSAGE_BYTES,
    closeGrace: { clock, ms: 1_000 },
    message(data) {
      if (!member) early.push(data);
      else if (!member.send(data)) {
        page.pause();
        void member.drained().then(() => page.resume());
      }
    },
    closed: end,
  });
  ended.addEventListener("abort", end);
  // Until the member answers, the page is not read: what it sends would have to be kept.
  page.pause();

  const fail = (message: string): void => {
    page.send(Buffer.concat([Buffer.from([3]), Buffer.from(JSON.stringify({ status: "Failure", message }))]));
    end();
  };
  const timer = clock.after(OPEN_MS, () => fail("the member did not answer in time"));
  try {
    const answer = await viewer.hub.upgrade(
      {
        method: "GET",
        path: execPath(query),
        headers: {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": randomBytes(16).toString("base64"),
          "sec-websocket-protocol": PROTOCOL,
        },
      },
      stop.signal,
    );
    if (!answer.upgraded) {
      fail(reasonIn(await readText(answer.body)));
      return end;
    }
    const upstream = createWebSocket(answer.upgraded.socket, answer.upgraded.head, {
      side: "client",
      maxMessageBytes: MAX_MESSAGE_BYTES,
      message(data) {
        if (page.send(data)) return;
        upstream.pause();
        void page.drained().then(() => upstream.resume());
      },
      closed: end,
    });
    member = upstream;
    for (const data of early.splice(0)) upstream.send(data);
    page.resume();
  } catch (error) {
    fail(error instanceof Error ? error.message : "the member cannot be reached");
  } finally {
    timer.cancel();
  }
  return end;
}

function execPath(query: URLSearchParams): string {
  const path = resourcePath({
    cluster: HUB,
    group: "",
    version: "v1",
    resource: "pods",
    namespace: query.get("namespace") ?? "",
    name: query.get("pod") ?? "",
    subresource: "exec",
  });
  const asked = new URLSearchParams(query.getAll("command").map((word): [string, string] => ["command", word]));
  asked.set("container", query.get("container") ?? "");
  for (const stream of ["stdin", "stdout", "tty"]) asked.set(stream, "true");
  return `${memberPath(query.get("member") ?? "", path)}?${asked.toString()}`;
}
