/** Connections that are silent, slow, malformed or flooding (A2, and the rows of protocols in section 7). */
import { defined } from "@flotilla/base";
import { once } from "node:events";
import http2 from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { setTimeout as delay } from "node:timers/promises";
import { readdirSync } from "node:fs";
import { notTried, verdictOf, type Attack, type Verdict } from "../attack.ts";
import type { World } from "../world.ts";
import {
  END_HEADERS,
  END_STREAM,
  frame,
  headerBlock,
  longHeader,
  PREFACE,
  TYPE,
  uint32,
} from "../../../test/hostile/frames.ts";

const NAMESPACE = "/api/v1/namespaces/default";
/** The hub closes a handshake after 10 s and headers after 30 s; a busy machine is later. */
const CLOSED_LIMIT_MS = 45_000;

const silentHandshakes: Attack = {
  name: "connections/silent-handshakes",
  claim: "connections that never finish the TLS handshake are closed, and their descriptors are released (A2)",
  async run(world) {
    const count = world.isShort ? 50 : 1_000;
    const before = descriptorsOf(world.pid);
    const sockets = await openAll(count, () => silent(world.port));
    const closed = await countClosed(sockets, CLOSED_LIMIT_MS);
    for (const socket of sockets) socket.destroy();
    await delay(2_000);
    const left = before === undefined ? undefined : (descriptorsOf(world.pid) ?? 0) - before;
    const failures = [
      ...(closed < sockets.length
        ? [`${sockets.length - closed} of ${sockets.length} are still open after ${CLOSED_LIMIT_MS / 1000} s`]
        : []),
      ...(left !== undefined && left > LEFT_DESCRIPTORS ? [`${left} descriptors are left`] : []),
    ];
    return verdictOf(
      `${count} TCP connections that send nothing`,
      failures,
      `${closed} of ${sockets.length} closed by the hub, ${left ?? "unknown"} descriptors left`,
    );
  },
};
const LEFT_DESCRIPTORS = 50;

const slowloris: Attack = {
  name: "connections/slowloris",
  claim: "headers that arrive byte by byte do not keep a connection open",
  async run(world) {
    const count = world.isShort ? 20 : 200;
    const sockets = await Promise.all(Array.from({ length: count }, () => world.socket()));
    const timer = setInterval(() => {
      for (const socket of sockets) if (!socket.destroyed) socket.write("x");
    }, 500);
    for (const socket of sockets) socket.write("GET / HTTP/1.1\r\nhost: a\r\nx-slow: ");
    const closed = await countClosed(sockets, CLOSED_LIMIT_MS);
    clearInterval(timer);
    const failures =
      closed < count ? [`${count - closed} of ${count} are still open after ${CLOSED_LIMIT_MS / 1000} s`] : [];
    return verdictOf(
      `${count} connections that send a header byte by byte`,
      failures,
      `${closed} of ${count} closed by the hub`,
    );
  },
};

const head = (...lines: string[]): string => `${lines.join("\r\n")}\r\n\r\n`;
const smuggled = `GET ${NAMESPACE} HTTP/1.1\r\nhost: a\r\n\r\n`;
const raw: Record<string, string> = {
  "length and chunks": `${head("POST / HTTP/1.1", "host: a", "content-length: 4", "transfer-encoding: chunked")}0\r\n\r\n${smuggled}`,
  "two lengths": `${head("POST / HTTP/1.1", "host: a", "content-length: 0", "content-length: 44")}${smuggled}`,
  "an odd transfer encoding": `${head("POST / HTTP/1.1", "host: a", "transfer-encoding: xchunked")}0\r\n\r\n${smuggled}`,
  "a hidden transfer encoding": `${head("POST / HTTP/1.1", "host: a", "content-length: 4", "transfer-encoding : chunked")}0\r\n\r\n${smuggled}`,
  "bare line feeds": `POST / HTTP/1.1\nhost: a\ncontent-length: 0\n\n${smuggled}`,
  "a negative length": `${head("POST / HTTP/1.1", "host: a", "content-length: -1")}${smuggled}`,
  "a folded header": head("GET / HTTP/1.1", "host: a", "x-a: b", " transfer-encoding: chunked"),
  "a large header": head("GET / HTTP/1.1", "host: a", `x-large: ${"x".repeat(100_000)}`),
  CONNECT: head("CONNECT 127.0.0.1:1 HTTP/1.1", "host: a"),
  "no host": head("GET / HTTP/1.1"),
  "an odd version": head("GET / HTTP/3.7", "host: a"),
  "not HTTP": "\u0016\u0003\u0001 hello\r\n\r\n",
};

const smuggling: Attack = {
  name: "connections/smuggling",
  claim: "ambiguous HTTP/1.1 requests are rejected, and the request hidden in them is never answered",
  short: true,
  async run(world) {
    const failures: string[] = [];
    const seen: string[] = [];
    for (const [what, text] of Object.entries(raw)) {
      const socket = await world.socket();
      socket.write(text);
      const answers = [...(await received(socket, 1_000)).matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) =>
        Number(status),
      );
      seen.push(answers.join("+") || "closed");
      // The hidden request is anonymous: 401 would show that it was read as a request of its own.
      if (answers.some((status) => status < 400) || answers.length > 1) failures.push(`${what}: ${answers.join(", ")}`);
    }
    return verdictOf(`${seen.length} ambiguous or malformed requests`, failures, seen.join(", "));
  },
};

const oldTls: Attack = {
  name: "connections/old-tls",
  claim: "TLS 1.0 and 1.1 are refused",
  short: true,
  async run({ port, ca }) {
    const failures: string[] = [];
    for (const version of ["TLSv1", "TLSv1.1"] as const) {
      const socket = connectTls({
        host: "127.0.0.1",
        port,
        ca,
        minVersion: version,
        maxVersion: version,
        ciphers: "DEFAULT@SECLEVEL=0",
      });
      const outcome = await Promise.race([
        once(socket, "secureConnect").then(() => "connected"),
        new Promise<string>((resolve) => socket.on("error", () => resolve("refused"))),
      ]).catch(() => "refused");
      socket.destroy();
      if (outcome !== "refused") failures.push(`${version} is accepted`);
    }
    return verdictOf("handshakes with TLS 1.0 and 1.1", failures, "both refused");
  },
};

const request = (token: string): Buffer =>
  headerBlock({
    ":method": "GET",
    ":scheme": "https",
    ":authority": "a",
    ":path": NAMESPACE,
    ...defined({ authorization: token.length < 120 ? `Bearer ${token}` : undefined }),
  });
const floods: Record<string, { short?: boolean; frames(world: World): Iterable<Buffer> }> = {
  pings: {
    short: true,
    frames: ({ isShort }) => repeat(isShort ? 10_000 : 200_000, () => frame(TYPE.ping, 0, 0, Buffer.alloc(8))),
  },
  settings: { frames: () => repeat(100_000, () => frame(TYPE.settings, 0, 0)) },
  "window-updates": { frames: () => repeat(100_000, () => frame(TYPE.windowUpdate, 0, 0, uint32(1))) },
  "empty-data": {
    *frames({ adminToken }) {
      yield frame(TYPE.headers, END_HEADERS, 1, request(adminToken));
      yield* repeat(100_000, () => frame(TYPE.data, 0, 1));
    },
  },
  continuation: {
    short: true,
    *frames({ adminToken }) {
      yield frame(TYPE.headers, 0, 1, request(adminToken));
      for (let count = 0; count < 5_000; count++)
        yield frame(TYPE.continuation, 0, 1, headerBlock({ [`x-${count}`]: "y".repeat(100) }));
    },
  },
  "rapid-reset": {
    short: true,
    *frames({ adminToken, isShort }) {
      for (let stream = 1; stream < (isShort ? 10_000 : 200_000); stream += 2) {
        yield frame(TYPE.headers, END_HEADERS | END_STREAM, stream, request(adminToken));
        yield frame(TYPE.reset, 0, stream, uint32(8));
      }
    },
  },
  "broken-hpack": { frames: () => [frame(TYPE.headers, END_HEADERS | END_STREAM, 1, Buffer.alloc(100, 0xff))] },
};

const http2Floods: readonly Attack[] = Object.entries(floods).map(([name, { short, frames }]) => ({
  name: `connections/http2-${name}`,
  claim: "a flood of HTTP/2 frames delays no other client",
  short,
  async run(world: World): Promise<Verdict> {
    const socket = await world.socket("h2");
    socket.write(PREFACE);
    socket.write(frame(TYPE.settings, 0, 0));
    let sent = 0;
    for (const part of frames(world)) {
      if (socket.destroyed) break;
      sent++;
      if (!socket.write(part)) await drained(socket);
    }
    await delay(500);
    return sent === 0
      ? notTried("HTTP/2 frames", "the connection was closed before the first frame")
      : verdictOf(
          `${sent} frames on one connection`,
          [],
          socket.destroyed ? "the hub closed the connection" : "the connection stays open",
        );
  },
}));

const TINY_CHUNKS = 200_000;
/** A chunk or frame of one byte, a thousand times. */
const tinyBodies: Record<"http/1.1" | "h2", { head(token: string): Buffer; part: Buffer }> = {
  "http/1.1": {
    head: (token) =>
      Buffer.from(
        head(
          `POST ${NAMESPACE}/configmaps HTTP/1.1`,
          "host: a",
          `authorization: Bearer ${token}`,
          "content-type: application/json",
          "transfer-encoding: chunked",
        ),
      ),
    part: Buffer.from("1\r\n \r\n".repeat(1_000)),
  },
  h2: {
    head: (token) =>
      Buffer.concat([
        PREFACE,
        frame(TYPE.settings, 0, 0),
        frame(
          TYPE.headers,
          END_HEADERS,
          1,
          Buffer.concat([
            headerBlock({
              ":method": "POST",
              ":scheme": "https",
              ":authority": "a",
              ":path": `${NAMESPACE}/configmaps`,
              "content-type": "application/json",
            }),
            longHeader("authorization", `Bearer ${token}`),
          ]),
        ),
      ]),
    part: Buffer.concat(Array.from({ length: 1_000 }, () => frame(TYPE.data, 0, 1, Buffer.from(" ")))),
  },
};

const tinyChunks: readonly Attack[] = (["http/1.1", "h2"] as const).map((protocol) => ({
  name: `connections/tiny-chunks-${protocol === "h2" ? "http2" : "http1"}`,
  claim: "bodies in chunks of one byte on twenty connections delay no other client",
  short: true,
  async run(world: World): Promise<Verdict> {
    const { token } = await world.account();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => world.socket(protocol)));
    const { head: begin, part } = tinyBodies[protocol];
    let sent = 0;
    await Promise.all(
      sockets.map(async (socket) => {
        socket.resume();
        socket.write(begin(token));
        for (let chunks = 0; chunks < TINY_CHUNKS && !socket.destroyed; chunks += 1_000) {
          sent += 1_000;
          if (!socket.write(part)) await drained(socket);
        }
      }),
    );
    const open = sockets.length - (await countClosed(sockets, CLOSED_LIMIT_MS));
    return verdictOf(
      `bodies in chunks of one byte on ${sockets.length} connections, ${sent} chunks`,
      open > 0 ? [`${open} connections are still open`] : [],
      "all connections were closed by the hub",
    );
  },
}));

const manyStreams: Attack = {
  name: "connections/many-streams",
  claim: "thousands of requests on one HTTP/2 connection delay no other client",
  short: true,
  async run(world) {
    const session = await world.session();
    const count = world.isShort ? 500 : 5_000;
    const statuses = await Promise.all(
      Array.from(
        { length: count },
        () =>
          new Promise<number>((resolve) => {
            const stream = session.request({ ":path": NAMESPACE, authorization: `Bearer ${world.adminToken}` });
            stream.on("response", ({ ":status": status }) => resolve(Number(status)));
            stream.on("error", () => resolve(0));
            stream.resume();
          }),
      ),
    );
    const odd = statuses.filter((status) => ![200, 429, 0].includes(status));
    return verdictOf(
      `${count} requests at once`,
      odd.length > 0 ? [`${odd.length} × ${odd[0]}`] : [],
      `${statuses.filter((status) => status === 200).length} answered`,
    );
  },
};

const wrongTokens: Attack = {
  name: "connections/wrong-tokens",
  claim: "thousands of requests with wrong credentials are rejected, and delay no other client",
  short: true,
  async run(world) {
    const session = await world.session();
    const count = world.isShort ? 300 : 3_000;
    const jwt = `${Buffer.from('{"alg":"RS256"}').toString("base64url")}.${Buffer.from('{"sub":"x"}').toString("base64url")}.${"A".repeat(300)}`;
    const statuses = await Promise.all(
      Array.from(
        { length: count },
        (_, index) =>
          new Promise<number>((resolve) => {
            const stream = session.request({
              ":path": NAMESPACE,
              authorization: `Bearer ${index % 2 ? jwt : `abcdef.${index}`}`,
            });
            stream.on("response", ({ ":status": status }) => resolve(Number(status)));
            stream.on("error", () => resolve(http2.constants.NGHTTP2_REFUSED_STREAM));
            stream.resume();
          }),
      ),
    );
    const accepted = statuses.filter((status) => status >= 200 && status < 400).length;
    return verdictOf(
      `${count} requests with wrong tokens`,
      accepted > 0 ? [`${accepted} were accepted`] : [],
      `${statuses.filter((status) => status === 401).length} × 401`,
    );
  },
};

export const connections: readonly Attack[] = [
  silentHandshakes,
  slowloris,
  smuggling,
  oldTls,
  ...http2Floods,
  ...tinyChunks,
  manyStreams,
  wrongTokens,
];

/** Until more can be written, or the server has closed the connection or does not read any more. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, 1_000);
    function done(): void {
      clearTimeout(timer);
      socket.off("drain", done).off("close", done);
      resolve();
    }
    socket.once("drain", done).once("close", done);
  });
}

function* repeat(count: number, make: () => Buffer): Generator<Buffer> {
  for (let index = 0; index < count; index++) yield make();
}

async function silent(port: number): Promise<Socket> {
  const socket = connectTcp(port, "127.0.0.1");
  socket.on("error", () => socket.destroy());
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  return socket;
}

async function openAll(count: number, open: () => Promise<Socket>): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index += 50)
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(50, count - index) }, open))));
  return sockets;
}

/** How many the server has closed after a while. Data must be read for the end to be noticed. */
async function countClosed(sockets: readonly Socket[], limitMs: number): Promise<number> {
  const end = performance.now() + limitMs;
  let closed = 0;
  for (const socket of sockets) {
    socket.resume();
    const onClosed = (): void => void closed++;
    if (socket.destroyed) onClosed();
    else socket.once("close", onClosed);
  }
  while (closed < sockets.length && performance.now() < end) await delay(200);
  return closed;
}

/** All data until the connection closes or nothing more arrives for a while. */
async function received(socket: Socket, quietMs: number): Promise<string> {
  const chunks: Buffer[] = [];
  let lastMs = performance.now();
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    lastMs = performance.now();
  });
  while (!socket.destroyed && performance.now() - lastMs < quietMs) await delay(20);
  return Buffer.concat(chunks).toString("latin1");
}

/** Open descriptors of a process; undefined where they cannot be read. */
function descriptorsOf(pid: number): number | undefined {
  return process.platform === "linux" ? readdirSync(`/proc/${pid}/fd`).length : undefined;
}
