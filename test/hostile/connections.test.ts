/**
 * Connections that are slow, truncated, half-open or flooding: each is closed or waits alone, and others are served
 * meanwhile.
 */
import { once } from "node:events";
import http2 from "node:http2";
import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { END_HEADERS, END_STREAM, frame, headerBlock, PREFACE, TYPE, uint32 } from "./frames.ts";
import { openFrontDoor, parseAnswer, restOf, TOKENS, type FrontDoor } from "./front-door.ts";

let door: FrontDoor;
afterEach(async () => {
  expect(await door.isServing()).toBe(true);
  expect(door.failures).toEqual([]);
  await door.close();
});

const BEARER = `Bearer ${TOKENS.admin}`;
const head = (lines: readonly string[]): string => `${lines.join("\r\n")}\r\n\r\n`;
const NAMESPACE = "/api/v1/namespaces/default";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const UPLOAD = headerBlock({
  ":method": "POST",
  ":scheme": "https",
  ":authority": "a",
  ":path": CONFIG_MAPS,
  authorization: BEARER,
  "content-type": "application/json",
});

const notHttp: Record<string, string | Buffer> = {
  "a request that is not HTTP": "\u0016\u0003\u0001 hello\r\n\r\n",
  "an unknown HTTP version": "GET / HTTP/9.9\r\nhost: a\r\n\r\n",
  "a header without a name": head(["GET / HTTP/1.1", "host: a", ": x"]),
  "a header with a line break in its name": head(["GET / HTTP/1.1", "host: a", "x\ny: z"]),
  "two content lengths": head(["POST / HTTP/1.1", "host: a", "content-length: 5", "content-length: 6"]),
  "a content length and chunked encoding": head([
    "POST / HTTP/1.1",
    "host: a",
    "content-length: 5",
    "transfer-encoding: chunked",
  ]),
  "a content length that is not a number": head(["POST / HTTP/1.1", "host: a", "content-length: -1"]),
  "no host header": head(["GET / HTTP/1.1"]),
  "a hundred kilobytes of headers": head([
    "GET / HTTP/1.1",
    "host: a",
    ...Array.from({ length: 1000 }, (_, index) => `x-${index}: ${"y".repeat(100)}`),
  ]),
  "one header of a hundred kilobytes": head(["GET / HTTP/1.1", "host: a", `x: ${"y".repeat(100_000)}`]),
  "a URL of a hundred kilobytes": head([`GET /${"a".repeat(100_000)} HTTP/1.1`, "host: a"]),
};
for (const [what, bytes] of Object.entries(notHttp)) {
  test(`${what} over HTTP/1.1 closes the connection`, async () => {
    door = await openFrontDoor();
    const socket = await door.socket();
    const ended = restOf(socket);

    socket.write(bytes);

    // Unread data can discard the response when the connection closes.
    expect(parseAnswer(await ended).status).toBeOneOf([400, 431, ...(bytes.length > 50_000 ? [0] : [])]);
  });
}

test("a chunk announced larger than the largest body is not waited for", async () => {
  door = await openFrontDoor();
  const socket = await door.socket();
  const ended = restOf(socket);

  socket.write(
    head([
      `POST ${CONFIG_MAPS} HTTP/1.1`,
      "host: a",
      `authorization: ${BEARER}`,
      "content-type: application/json",
      "transfer-encoding: chunked",
    ]),
  );
  const chunk = Buffer.alloc(1024 * 1024, 0x20);
  for (let sent = 0; sent < 4; sent++)
    socket.write(Buffer.concat([Buffer.from("100000\r\n"), chunk, Buffer.from("\r\n")]));

  expect(parseAnswer(await ended)).toMatchObject({
    status: 413,
    body: { kind: "Status", reason: "RequestEntityTooLarge" },
  });
});

describe("a body in thousands of chunks of one byte", () => {
  const text = JSON.stringify({ metadata: { name: "tiny" } }).padEnd(5_000);

  test("is rejected over HTTP/1.1, and its connection is closed", async () => {
    door = await openFrontDoor();
    const socket = await door.socket();
    const ended = restOf(socket);

    socket.write(
      `${head([`POST ${CONFIG_MAPS} HTTP/1.1`, "host: a", `authorization: ${BEARER}`, "content-type: application/json", "transfer-encoding: chunked"])}${text
        .split("")
        .map((letter) => `1\r\n${letter}\r\n`)
        .join("")}`,
    );

    expect(parseAnswer(await ended)).toMatchObject({
      status: 400,
      body: { message: "the body arrives in too many small chunks; send larger ones" },
    });
  });

  test("closes its connection over HTTP/2", async () => {
    door = await openFrontDoor();
    const socket = await door.socket("h2");
    const ended = restOf(socket);

    socket.write(
      Buffer.concat([
        PREFACE,
        frame(TYPE.settings, 0, 0),
        frame(TYPE.headers, END_HEADERS, 1, UPLOAD),
        ...text.split("").map((letter) => frame(TYPE.data, 0, 1, Buffer.from(letter))),
      ]),
    );

    await ended;
    expect((await door.api({ token: TOKENS.admin }).get(`${CONFIG_MAPS}/tiny`)).status).toBe(404);
  });

  test("is accepted in chunks of the size of small packets", async () => {
    door = await openFrontDoor();
    const stream = (await door.session()).request({
      ":method": "POST",
      ":path": CONFIG_MAPS,
      authorization: BEARER,
      "content-type": "application/json",
    });
    const response = once(stream, "response");
    for (let at = 0; at < text.length; at += 500) stream.write(text.slice(at, at + 500));
    stream.end();

    expect((await response)[0]).toMatchObject({ ":status": 201 });
  });
});

test("headers that arrive byte by byte time out", async () => {
  door = await openFrontDoor({ headersTimeoutMs: 200 });
  const socket = await door.socket();
  const ended = restOf(socket);
  let sent = 0;
  const text = head([`GET ${NAMESPACE} HTTP/1.1`, "host: a", `x: ${"y".repeat(10_000)}`]);
  const drip = setInterval(() => socket.writable && socket.write(text[sent++] ?? "y"), 5);

  const answer = parseAnswer(await ended);
  clearInterval(drip);

  expect(answer.status).toBeOneOf([0, 400, 408]);
});

for (const protocol of ["http/1.1", "h2"] as const) {
  test(`a body that never ends times out over ${protocol}`, async () => {
    const clock = createFakeClock();
    door = await openFrontDoor({ clock });
    let ended: Promise<unknown>;
    if (protocol === "h2") {
      const stream = (await door.session()).request({
        ":method": "POST",
        ":path": CONFIG_MAPS,
        authorization: BEARER,
        "content-type": "application/json",
      });
      stream.on("error", () => stream.destroy());
      stream.write("{");
      ended = once(stream, "close");
    } else {
      const socket = await door.socket();
      socket.write(
        `${head([`POST ${CONFIG_MAPS} HTTP/1.1`, "host: a", `authorization: ${BEARER}`, "content-type: application/json", "content-length: 100"])}{`,
      );
      ended = restOf(socket);
    }
    // The head has arrived once a later client was answered.
    expect(await door.isServing()).toBe(true);

    clock.advance(71_000);

    await expect(ended).resolves.toBeDefined();
  });
}

test("a rejected peer cannot keep its connection open", async () => {
  door = await openFrontDoor();
  const socket = connectTls({
    socket: connectTcp({ host: "127.0.0.1", port: door.port, allowHalfOpen: true }),
    ca: door.authority.certificate,
  });
  await once(socket, "secureConnect");
  socket.on("error", () => socket.destroy());
  const ended = restOf(socket);

  socket.write("no HTTP\r\n\r\n");
  const drip = setInterval(() => socket.writable && socket.write("x"), 1);

  expect(parseAnswer(await ended).status).toBeOneOf([0, 400]);
  clearInterval(drip);
});

test("an aborted upload leaves nothing behind", async () => {
  door = await openFrontDoor();
  const socket = await door.socket();
  socket.write(
    head([
      `POST ${CONFIG_MAPS} HTTP/1.1`,
      "host: a",
      `authorization: ${BEARER}`,
      "content-type: application/json",
      "content-length: 100",
    ]) + '{"metadata":{"name":"half"}}',
  );
  const second = await door.socket("h2");
  second.write(
    Buffer.concat([
      PREFACE,
      frame(TYPE.settings, 0, 0),
      frame(TYPE.headers, END_HEADERS, 1, UPLOAD),
      frame(TYPE.data, 0, 1, Buffer.from('{"metadata":{"name":"half"}}')),
    ]),
  );
  const third = await door.socket("h2");
  third.write(
    Buffer.concat([
      PREFACE,
      frame(TYPE.settings, 0, 0),
      frame(TYPE.headers, END_HEADERS, 1, UPLOAD),
      frame(TYPE.data, 0, 1, Buffer.from('{"metadata":{"name":"half"}}')),
    ]),
  );
  expect(await door.isServing()).toBe(true);

  socket.destroy();
  second.write(frame(TYPE.reset, 0, 1, uint32(http2.constants.NGHTTP2_CANCEL)));
  third.destroy();
  expect(await door.isServing()).toBe(true);

  expect((await door.api({ token: TOKENS.admin }).get(`${CONFIG_MAPS}/half`)).status).toBe(404);
  second.destroy();
});

test("connections without a TLS handshake block no other client", async () => {
  door = await openFrontDoor();
  const idle = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const socket = connectTcp(door.port, "127.0.0.1");
      socket.on("error", () => socket.destroy());
      await once(socket, "connect");
      if (index % 2 === 0) socket.write("not TLS");
      return socket;
    }),
  );

  expect(await door.isServing()).toBe(true);

  for (const socket of idle) socket.destroy();
});

/** Connections that never start the TLS handshake, each with a promise of its end. */
async function openSilently(count: number): Promise<{ closed: Promise<unknown> }[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connectTcp(door.port, "127.0.0.1");
      socket.on("error", () => socket.destroy());
      await once(socket, "connect");
      // Data must be read before the end of a connection is noticed.
      socket.resume();
      return { closed: new Promise((resolve) => void socket.once("close", resolve)) };
    }),
  );
}

test("a connection whose TLS handshake never finishes is closed by the server", async () => {
  // Longer than a handshake takes on a busy machine: another client connects afterwards.
  door = await openFrontDoor({ handshakeTimeoutMs: 2000 });

  const silent = await openSilently(20);

  await expect(Promise.all(silent.map(({ closed }) => closed))).resolves.toHaveLength(20);
});

test("connections without a TLS handshake have a bound of their own: the oldest is closed for the next", async () => {
  door = await openFrontDoor({ maxHandshakes: 10 });
  const [first] = await openSilently(1);

  await openSilently(10);

  await expect(first?.closed).resolves.toBeDefined();
});

test("a server that stops does not wait for connections whose TLS handshake is not finished", async () => {
  const stopping = await openFrontDoor();
  door = stopping;
  const silent = await openSilently(5);

  await stopping.close();

  await expect(Promise.all(silent.map(({ closed }) => closed))).resolves.toHaveLength(5);
  door = await openFrontDoor();
});

test("a half-closed peer still gets its response", async () => {
  door = await openFrontDoor();
  const socket = await door.socket();
  const ended = restOf(socket);

  socket.end(head([`GET ${NAMESPACE} HTTP/1.1`, "host: a", `authorization: ${BEARER}`, "connection: close"]));

  expect(parseAnswer(await ended).status).toBeOneOf([0, 200]);
});

test("thousands of streams opened and reset at once do not affect other clients", async () => {
  door = await openFrontDoor();
  const session = await door.session();
  const closed = once(session, "close");

  for (let count = 0; count < 5000 && !session.destroyed; count++) {
    const stream = session.request({ ":path": NAMESPACE, authorization: BEARER });
    stream.on("error", () => stream.destroy());
    stream.close(http2.constants.NGHTTP2_CANCEL);
  }
  expect(await door.isServing()).toBe(true);

  session.destroy();
  await closed;
});

test("a thousand idle watches on one connection leave room for other clients", async () => {
  door = await openFrontDoor();
  const session = await door.session();
  const streams = Array.from({ length: 1000 }, () =>
    session.request({ ":path": `${CONFIG_MAPS}?watch=true&resourceVersion=0`, authorization: BEARER }),
  );
  for (const stream of streams) stream.on("error", () => stream.destroy());
  await Promise.all(streams.map((stream) => once(stream, "response")));

  expect(await door.isServing()).toBe(true);
  const statuses = streams.map((stream) => stream.sentHeaders !== undefined && !stream.destroyed);

  expect(statuses.every(Boolean)).toBe(true);
});

test("a watch that is never read is closed, and neither writers nor other watches wait for it", async () => {
  door = await openFrontDoor();
  const api = door.api({ token: TOKENS.admin });
  const stuck = (await door.session()).request({
    ":path": `${CONFIG_MAPS}?watch=true&resourceVersion=0`,
    authorization: BEARER,
  });
  stuck.on("error", () => stuck.destroy());
  await once(stuck, "response");
  stuck.pause();
  const watch = await api.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=0&fieldSelector=metadata.name%3Dlast`);

  const data = { a: "x".repeat(900_000) };
  await api.create(CONFIG_MAPS, { metadata: { name: "big" }, data });
  for (let round = 0; round < 25; round++)
    await api.patch("merge", `${CONFIG_MAPS}/big`, { data: { b: String(round) } });
  await api.create(CONFIG_MAPS, { metadata: { name: "last" } });

  expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "last" } } });
  watch.close();
  const chunks: Buffer[] = [];
  stuck.on("data", (chunk: Buffer) => chunks.push(chunk)).resume();
  await once(stuck, "end");
  expect(Buffer.concat(chunks).toString().trimEnd().split("\n").at(-1)).toContain('"code":410');
});

const REQUEST = headerBlock({
  ":method": "GET",
  ":scheme": "https",
  ":authority": "a",
  ":path": NAMESPACE,
  authorization: BEARER,
});
const floods: Record<string, () => Iterable<Buffer>> = {
  "endless CONTINUATION frames": function* () {
    yield frame(TYPE.headers, 0, 1, REQUEST);
    for (let count = 0; count < 5000; count++)
      yield frame(TYPE.continuation, 0, 1, headerBlock({ [`x-${count}`]: "y".repeat(100) }));
  },
  "a frame larger than the negotiated maximum": () => [frame(TYPE.data, 0, 1, Buffer.alloc(1_000_000))],
  "data on a stream that was never opened": () => [frame(TYPE.data, 0, 7, Buffer.from("x"))],
  "a window update out of range": () => [
    frame(TYPE.headers, END_HEADERS | END_STREAM, 1, REQUEST),
    ...Array.from({ length: 3 }, () => frame(TYPE.windowUpdate, 0, 0, uint32(0x7fffffff))),
  ],
  "headers that cannot be decoded": () => [frame(TYPE.headers, END_HEADERS | END_STREAM, 1, Buffer.alloc(100, 0xff))],
  "an even stream id": () => [frame(TYPE.headers, END_HEADERS | END_STREAM, 2, REQUEST)],
  "settings of an odd length": () => [frame(TYPE.settings, 0, 0, Buffer.alloc(5))],
};
for (const [what, frames] of Object.entries(floods)) {
  test(`${what} over HTTP/2 closes the connection`, async () => {
    door = await openFrontDoor();
    const socket = await door.socket("h2");
    const ended = restOf(socket);

    socket.write(Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0), ...frames()]));

    await expect(ended).resolves.toBeTypeOf("string");
  });
}

test("tens of thousands of pings and settings block no other client", async () => {
  door = await openFrontDoor();
  const socket = await door.socket("h2");

  socket.write(
    Buffer.concat([
      PREFACE,
      frame(TYPE.settings, 0, 0),
      ...Array.from({ length: 10_000 }, (_, index) =>
        index % 2 === 0 ? frame(TYPE.ping, 0, 0, Buffer.alloc(8)) : frame(TYPE.settings, 0, 0),
      ),
    ]),
  );

  expect(await door.isServing()).toBe(true);
});

test("a flood of headers over HTTP/2 is rejected", async () => {
  door = await openFrontDoor();
  const session = await door.session();
  const headers = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`x-${index}`, "y".repeat(100)]));

  const outcome = await new Promise<unknown>((resolve) => {
    const stream = session.request({ ":path": NAMESPACE, authorization: BEARER, ...headers });
    stream.on("response", ({ ":status": status }) => resolve(status));
    stream.on("error", () => resolve("reset"));
    stream.on("close", () => resolve("closed"));
    session.on("error", () => resolve("ended"));
  });

  expect(outcome).toBeOneOf([400, 431, "reset", "closed", "ended"]);
});

for (const http1 of [false, true]) {
  test(`URLs with odd escapes, long queries and many options are answered over HTTP/${http1 ? "1.1" : "2"}`, async () => {
    door = await openFrontDoor();
    const api = door.api({ token: TOKENS.admin, http1 });
    const queries = [
      "?%",
      "?%zz=%",
      "?a=%ff%fe",
      `?${"a=1&".repeat(5000)}`,
      `?labelSelector=${"a%2C".repeat(4000)}a`,
      `?fieldSelector=${"x".repeat(20_000)}`,
      "?limit=-1",
      "?limit=9999999999999999999999",
      "?continue=%00",
      "?continue=e30",
      "?resourceVersion=-1",
      "?timeoutSeconds=NaN&watch=maybe",
      "?__proto__=1&constructor=2",
    ];

    const answers = await Promise.all(queries.map((query) => api.get(CONFIG_MAPS + query)));

    for (const [index, { status, body }] of answers.entries()) {
      expect([200, 400, 410, 500], queries[index]).toContain(status);
      expect(body, queries[index]).toMatchObject(
        status === 200 ? { kind: "ConfigMapList" } : { kind: "Status", code: status },
      );
    }
  });
}
