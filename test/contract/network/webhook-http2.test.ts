/** Webhooks over HTTP/2, where they offer it: one connection, the same limits, and what happens when it breaks. */
import { once } from "node:events";
import http2 from "node:http2";
import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import https from "node:https";
import { BlockList, createConnection, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { CertificateAuthority, KeyPair } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { createWebhookConnection, WebhookError } from "@flotilla/client";

let authority: CertificateAuthority;
let serving: KeyPair;
beforeAll(async () => {
  authority = await createCertificateAuthority({ clock: systemClock });
  serving = await authority.issueServing(["127.0.0.1"]);
});
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

const NEVER = new AbortController().signal;
type Answer = (stream: ServerHttp2Stream, calls: number) => void;

function connect() {
  const connection = createWebhookConnection(Buffer.from(authority.certificate).toString("base64"));
  closing.push(() => connection.close());
  return connection;
}

async function serve(answer: Answer, allowHTTP1 = true) {
  const sessions = new Set<ServerHttp2Session>();
  let calls = 0;
  const server: Http2SecureServer = http2.createSecureServer({
    cert: serving.certificate,
    key: serving.key,
    allowHTTP1,
  });
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream) => {
    stream.on("error", () => {}); // Some answers break it on purpose.
    stream.resume();
    stream.on("end", () => answer(stream, ++calls));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const endpoint = { host: "127.0.0.1", port, path: "/hook", authority: `127.0.0.1:${port}` };
  const connection = connect();
  const post = (stop: AbortSignal = NEVER) => connection.post(endpoint, "?timeout=1s", Buffer.from("{}"), stop);
  return { post, sessions, calls: () => calls, connection };
}

const answerWith =
  (status: number, text: string): Answer =>
  (stream) => {
    stream.respond({ ":status": status, "content-type": "text/plain" });
    stream.end(text);
  };

test("calls share one connection", async () => {
  const { post, sessions } = await serve(answerWith(200, '{"ok":true}'));

  const answers = await Promise.all([post(), post(), post()]);
  answers.push(await post());

  expect(answers.map(String)).toEqual(Array(4).fill('{"ok":true}'));
  expect(sessions.size).toBe(1);
});

test("a server with HTTP/1.1 alone is called with it, and the connection of the handshake carries the first call", async () => {
  let connections = 0;
  const server = https.createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    request.resume().on("end", () => response.end(request.httpVersion));
  });
  server.on("secureConnection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const endpoint = { host: "127.0.0.1", port, path: "/", authority: `127.0.0.1:${port}` };
  const connection = connect();

  const first = await connection.post(endpoint, "", Buffer.from("{}"), NEVER);
  const second = await connection.post(endpoint, "", Buffer.from("{}"), NEVER);

  expect([String(first), String(second), connections]).toEqual(["1.1", "1.1", 1]);
});

test.each([true, false])(
  "a server is trusted whose own certificate is the bundle, as with the webhooks of envtest (HTTP/2: %s)",
  async (offersHttp2) => {
    const options = { cert: serving.certificate, key: serving.key, allowHTTP1: true };
    const answer = (_: unknown, response: { end(text: string): void }): void => response.end("{}");
    const server = offersHttp2 ? http2.createSecureServer(options, answer) : https.createServer(options, answer);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const endpoint = { host: "127.0.0.1", port, path: "/", authority: `127.0.0.1:${port}` };
    const connection = createWebhookConnection(Buffer.from(serving.certificate).toString("base64"));
    closing.push(() => connection.close());

    expect(String(await connection.post(endpoint, "", Buffer.from("{}"), NEVER))).toBe("{}");
  },
);

test("a connection that the server closed is opened again", async () => {
  const { post, sessions } = await serve(answerWith(200, "{}"));
  await post();
  const [session] = sessions;
  const closed = new Promise((resolve) => session?.once("close", resolve));
  session?.destroy();
  await closed;

  // The client may learn of it only with its next call.
  const again = await post().catch(() => post());

  expect(String(again)).toBe("{}");
  expect(sessions.size).toBe(2);
});

test("a call that the server refused without looking at it is repeated once", async () => {
  const { post, calls } = await serve((stream, call) =>
    call === 1 ? stream.close(http2.constants.NGHTTP2_REFUSED_STREAM) : answerWith(200, "{}")(stream, call),
  );

  expect(String(await post())).toBe("{}");
  expect(calls()).toBe(2);
});

describe("failures", () => {
  const cases: Record<string, [answer: Answer, want: object]> = {
    "an unsuccessful status": [answerWith(503, "busy"), { reason: "status", message: expect.stringContaining("503") }],
    "an answer that is too long": [
      (stream) => {
        stream.respond({ ":status": 200 });
        stream.end(Buffer.alloc(5 * 1024 * 1024));
      },
      { reason: "answer", message: expect.stringContaining("longer than 4194304 bytes") },
    ],
    "a length that is too large": [
      (stream) => {
        stream.respond({ ":status": 200, "content-length": "99999999" });
        stream.write("{");
      },
      { reason: "answer" },
    ],
    "a stream that breaks": [
      (stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR),
      { reason: "connection" },
    ],
    "a stream that ends without an answer": [(stream) => stream.close(), { reason: "connection" }],
  };
  test.each(Object.entries(cases))("%s", async (_, [answer, want]) => {
    const { post } = await serve(answer);

    await expect(post()).rejects.toMatchObject(want);
  });

  test("a call that is stopped rejects with the reason, and the next one uses the connection", async () => {
    const { post, sessions } = await serve((stream, call) => {
      if (call > 1) answerWith(200, "{}")(stream, call);
      else stop.abort(new Error("too late"));
    });
    const stop = new AbortController();

    await expect(post(stop.signal)).rejects.toThrow("too late");
    expect(String(await post())).toBe("{}");
    expect(sessions.size).toBe(1);
  });

  test("closing the connection ends calls in flight", async () => {
    const { post, connection } = await serve(() => connection.close());

    await expect(post()).rejects.toMatchObject({ reason: "connection" });
  });
});

test.each([true, false])(
  "after a call without an answer in time, the next one opens a connection: the old one may lead nowhere (HTTP/2: %s)",
  async (offersHttp2) => {
    const options = { cert: serving.certificate, key: serving.key, allowHTTP1: true };
    const answer = (_: unknown, response: { end(text: string): void }): void => response.end("{}");
    const server = offersHttp2 ? http2.createSecureServer(options, answer) : https.createServer(options, answer);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => server.close());
    const sockets: Socket[] = [];
    // Passes bytes on, as a network does.
    const network = createServer((client) => {
      const upstream = createConnection((server.address() as AddressInfo).port, "127.0.0.1");
      sockets.push(client, upstream);
      for (const socket of [client, upstream]) socket.on("error", () => {});
      client.pipe(upstream).pipe(client);
    });
    await new Promise<void>((resolve) => network.listen(0, "127.0.0.1", resolve));
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      network.close();
    });
    const { port } = network.address() as AddressInfo;
    const endpoint = { host: "127.0.0.1", port, path: "/", authority: `127.0.0.1:${port}` };
    const connection = connect();
    const post = (stop: AbortSignal) => connection.post(endpoint, "", Buffer.from("{}"), stop);
    await post(NEVER);
    for (const socket of sockets) socket.unpipe().resume();
    const dropped = once(sockets[0] as Socket, "data");
    const ending = new AbortController();
    const lost = post(ending.signal);
    await dropped;
    ending.abort(new WebhookError("timeout", "no response within 1 s"));
    await expect(lost).rejects.toMatchObject({ reason: "timeout" });

    expect(String(await post(NEVER))).toBe("{}");
  },
);

test("calls that time out one after the other replace their connection once", async () => {
  const late = Promise.withResolvers<void>();
  let unanswered = 0;
  const { post, sessions } = await serve((stream, call) => {
    if (call === 1 || call > 4) return answerWith(200, "{}")(stream, call);
    if (++unanswered === 3) late.resolve();
  });
  await post();
  const slow = Array.from({ length: 3 }, () => {
    const ending = new AbortController();
    return { ending, call: post(ending.signal) };
  });
  await late.promise;

  for (const { ending, call } of slow) {
    ending.abort(new WebhookError("timeout", "no response within 1 s"));
    await expect(call).rejects.toMatchObject({ reason: "timeout" });
    expect(String(await post())).toBe("{}");
  }

  expect(sessions.size).toBe(2);
});

test("a blocked address is not connected to", async () => {
  const blocked = new BlockList();
  blocked.addAddress("127.0.0.1");
  const connection = createWebhookConnection(undefined, blocked);
  closing.push(() => connection.close());

  const byAddress = connection.post(
    { host: "127.0.0.1", port: 1, path: "/", authority: "a" },
    "",
    Buffer.from(""),
    NEVER,
  );
  const byName = connection.post({ host: "localhost", port: 1, path: "/", authority: "a" }, "", Buffer.from(""), NEVER);

  await expect(byAddress).rejects.toMatchObject({ reason: "configuration" });
  await expect(byName).rejects.toMatchObject({ reason: "configuration" });
});
