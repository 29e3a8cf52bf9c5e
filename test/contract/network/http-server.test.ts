import { once } from "node:events";
import https from "node:https";
import http2 from "node:http2";
import { connect as tlsConnect } from "node:tls";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createFakeClock, silentLog, systemClock } from "@flotilla/base";
import { createHttp2Transport } from "@flotilla/client";
import type { Http2TransportOptions, Transport } from "@flotilla/client";
import type { ApiRequest, ApiResponse, ByteSink } from "../../../packages/apiserver/src/request/request.ts";
import { createAuthenticator } from "../../../packages/apiserver/src/http/authenticator.ts";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { CertificateAuthority, KeyPair } from "@flotilla/apimachinery";
import { createHttpServer } from "../../../packages/apiserver/src/http/server.ts";
import type { HttpServer, HttpServerOptions } from "../../../packages/apiserver/src/http/server.ts";

let authority: CertificateAuthority;
let serving: KeyPair;
let alice: KeyPair;
let untrusted: KeyPair;
beforeAll(async () => {
  authority = await createCertificateAuthority({ clock: systemClock });
  serving = await authority.issueServing([]);
  alice = await authority.issueClient({ commonName: "alice", organizations: ["ops"] });
  untrusted = await (
    await createCertificateAuthority({ clock: systemClock })
  ).issueClient({ commonName: "alice", organizations: ["system:masters"] });
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const json = (value: unknown, status = 200, headers: Record<string, string> = {}): ApiResponse => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: Buffer.from(JSON.stringify(value)),
});
/** Returns the request that it received. */
const echo = async (request: ApiRequest): Promise<ApiResponse> =>
  json({
    method: request.method,
    path: request.path,
    query: Object.fromEntries(request.query),
    user: request.user,
    body: Buffer.from(request.body).toString(),
  });

async function serve(
  handle: (request: ApiRequest) => Promise<ApiResponse>,
  options: Partial<HttpServerOptions> & { port?: number } = {},
): Promise<{ server: HttpServer; port: number }> {
  const server = createHttpServer({
    handle,
    authenticator: createAuthenticator({
      clusterPrefix: "example.com:cluster:",
      tokens: [{ token: "s3cret", user: "robot" }],
      anonymous: true,
    }),
    tls: { ...serving, clientCa: authority.certificate },
    log: silentLog,
    ...options,
  });
  const { port } = await server.listen(options.port ?? 0);
  closing.push(() => server.close());
  return { server, port };
}

function connect(port: number, options: Partial<Http2TransportOptions> = {}): Transport {
  const transport = createHttp2Transport({
    server: new URL(`https://127.0.0.1:${port}`),
    cluster: { root: "hub" },
    ca: authority.certificate,
    ...options,
  });
  closing.push(() => transport.close());
  return transport;
}

const pods = { cluster: "hub", group: "", version: "v1", resource: "pods", namespace: "shop" };
const getPod = (transport: Transport): Promise<unknown> =>
  transport.send({ verb: "get", path: { ...pods, name: "a" } });

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: Buffer;
}

/** One HTTP/1.1 request, as simple clients send it. */
function http1(
  port: number,
  options: { path?: string; method?: string; headers?: Record<string, string>; body?: Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = https.request(
      {
        host: "127.0.0.1",
        port,
        ca: authority.certificate,
        path: options.path ?? "/",
        method: options.method ?? "GET",
        headers: options.headers,
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      },
    );
    request.on("error", reject);
    request.end(options.body);
  });
}

describe("authentication", () => {
  const anonymous = { name: "system:anonymous", groups: ["system:unauthenticated"] };
  const cases: Record<string, { options: () => Partial<Http2TransportOptions>; want: unknown }> = {
    "the anonymous user without credentials": { options: () => ({}), want: anonymous },
    "the user of a client certificate": {
      options: () => ({ cert: alice.certificate, key: alice.key }),
      want: { name: "alice", groups: ["ops", "system:authenticated"] },
    },
    "the user of a token": {
      options: () => ({ token: "s3cret" }),
      want: { name: "robot", groups: ["system:authenticated"] },
    },
    "the user of a valid token, even with a certificate of an untrusted authority": {
      options: () => ({ token: "s3cret", cert: untrusted.certificate, key: untrusted.key }),
      want: { name: "robot", groups: ["system:authenticated"] },
    },
  };
  for (const [who, { options, want }] of Object.entries(cases)) {
    test(who, async () => {
      const { port } = await serve(echo);

      expect(await getPod(connect(port, options()))).toMatchObject({ user: want });
    });
  }

  const refused: Record<string, () => Partial<Http2TransportOptions>> = {
    "an invalid token is rejected": () => ({ token: "guess" }),
    "a certificate of an untrusted authority is rejected": () => ({ cert: untrusted.certificate, key: untrusted.key }),
  };
  for (const [behaviour, options] of Object.entries(refused)) {
    test(behaviour, async () => {
      const { port } = await serve(echo);

      await expect(getPod(connect(port, options()))).rejects.toMatchObject({
        status: { code: 401, reason: "Unauthorized" },
      });
    });
  }

  test("basic credentials are rejected instead of being treated as anonymous", async () => {
    const { port } = await serve(echo);

    expect((await http1(port, { headers: { authorization: "Basic YTpi" } })).status).toBe(401);
  });
});

describe("a request that times out", () => {
  const slow = (method: string, afterMs: number, path = "/"): Promise<Answer> => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const clock = createFakeClock();
    const arrived = async ({ signal }: ApiRequest): Promise<ApiResponse> => {
      queueMicrotask(() => clock.advance(afterMs));
      await new Promise((over) => signal.addEventListener("abort", over, { once: true }));
      return json({});
    };
    void serve(arrived, { clock }).then(({ port }) =>
      http1(port, { method, path, headers: { authorization: "Bearer s3cret" } }).then(resolve),
    );
    return promise;
  };

  for (const [method, afterMs] of [
    ["GET", 70_000],
    ["DELETE", 40_000],
  ] as const) {
    test(`${method} returns 504`, async () => {
      const { status, body } = await slow(method, afterMs);

      expect(status).toBe(504);
      expect(JSON.parse(body.toString())).toMatchObject({
        reason: "Timeout",
        message: "Timeout: request did not complete within the allotted timeout",
      });
    });
  }

  test("an object named proxy has the usual timeout", async () => {
    expect((await slow("GET", 70_000, "/api/v1/namespaces/default/configmaps/proxy")).status).toBe(504);
  });

  test("a proxied request has no timeout", async () => {
    const clock = createFakeClock();
    const patient = async (): Promise<ApiResponse> => {
      clock.advance(600_000);
      return json({ late: true });
    };
    const { port } = await serve(patient, { clock });

    const { status } = await http1(port, {
      path: "/clusters/a/api/v1/namespaces/default/services/web/proxy/slow",
      headers: { authorization: "Bearer s3cret" },
    });

    expect(status).toBe(200);
  });
});

describe("a stopping server", () => {
  test("first reports not ready, then finishes running requests and closes keep-alive connections", async () => {
    const stopping: string[] = [];
    const { promise: free, resolve: release } = Promise.withResolvers<void>();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { server, port } = await serve(
      async () => {
        arrive();
        await free;
        return json({});
      },
      { onStopping: () => stopping.push("not ready") },
    );

    const running = http1(port, { headers: { connection: "keep-alive" } });
    await arrived;
    const closed = server.close();
    release();
    const { status, headers } = await running;
    await closed;

    expect([stopping, status, headers.connection]).toEqual([["not ready"], 200, "close"]);
    await expect(http1(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("requests", () => {
  test("the core receives method, path, query and body, and requests to other clusters under their prefix", async () => {
    const { port } = await serve(echo);

    const answer = await connect(port, { token: "s3cret" }).send({
      verb: "create",
      path: { ...pods, cluster: "paris" },
      query: { fieldManager: "a b" },
      body: { name: "é" },
    });

    expect(answer).toMatchObject({
      method: "POST",
      path: "/clusters/paris/api/v1/namespaces/shop/pods",
      query: { fieldManager: "a b" },
      body: '{"name":"é"}',
    });
  });

  test("HTTP/1.1 works on the same port", async () => {
    const { port } = await serve(echo);

    const answer = await http1(port, {
      method: "POST",
      path: "/x?y=z",
      headers: { authorization: "Bearer s3cret" },
      body: Buffer.from("hello"),
    });

    expect(JSON.parse(answer.body.toString())).toMatchObject({
      method: "POST",
      path: "/x",
      query: { y: "z" },
      body: "hello",
    });
    expect(answer.headers["content-length"]).toBe(String(answer.body.length));
  });

  test("a body of more than 3 MiB is rejected, with or without a content length", async () => {
    const { port } = await serve(echo);
    const body = { data: "x".repeat(3 * 1024 * 1024) };

    await expect(connect(port, { token: "s3cret" }).send({ verb: "create", path: pods, body })).rejects.toMatchObject({
      status: { code: 413, reason: "RequestEntityTooLarge" },
    });
    expect(
      (
        await http1(port, {
          method: "POST",
          headers: { authorization: "Bearer s3cret", "content-length": "4000000", expect: "100-continue" },
        })
      ).status,
    ).toBe(413);
  });

  test("the body of an unauthenticated request is not buffered", async () => {
    const { port } = await serve(echo);

    expect(
      await connect(port).send({ verb: "create", path: pods, body: { data: "x".repeat(1024 * 1024) } }),
    ).toMatchObject({ body: "", user: { name: "system:anonymous" } });
    expect(
      JSON.parse((await http1(port, { method: "POST", path: "/x", body: Buffer.from("hello") })).body.toString()),
    ).toMatchObject({ body: "" });
  });

  test("HEAD returns headers only", async () => {
    const { port } = await serve(async () => json({ a: 1 }));

    const answer = await http1(port, { method: "HEAD" });

    expect([answer.status, answer.headers["content-length"], answer.body.length]).toEqual([200, "7", 0]);
  });

  test("a response in chunks arrives complete", async () => {
    const { port } = await serve(async () => ({
      status: 200,
      headers: { "content-type": "application/json" },
      body: ['{"items":[', "1", ",2", "]}"].map((text) => Buffer.from(text)),
    }));

    expect(await connect(port).send({ verb: "list", path: pods })).toEqual({ items: [1, 2] });
    expect((await http1(port)).body.toString()).toBe('{"items":[1,2]}');
  });

  test("long responses are compressed for clients that accept it", async () => {
    const text = JSON.stringify({ data: "flotilla ".repeat(20_000) });
    const { port } = await serve(async () => ({ status: 200, headers: {}, body: [Buffer.from(text)] }));

    const packed = await http1(port, { headers: { "accept-encoding": "deflate, gzip;q=0.5" } });
    const plain = await http1(port, { headers: { "accept-encoding": "gzip;q=0" } });

    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(packed.body).toString()).toBe(text);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.body.toString()).toBe(text);
  });

  test("a failure of the core becomes a Status without details", async () => {
    const { port } = await serve(() => Promise.reject(new Error("password is hunter2")));

    const failure = await getPod(connect(port)).catch((error: unknown) => error);

    expect(failure).toMatchObject({ status: { code: 500, reason: "InternalError" } });
    expect(JSON.stringify(failure)).not.toContain("hunter2");
  });

  test("an upgrade request that cannot be upgraded is answered normally", async () => {
    const { port } = await serve((request) => echo(request));

    const answer = await http1(port, { headers: { connection: "Upgrade", upgrade: "websocket" } });

    expect(answer.status).toBe(200);
    expect(answer.headers.connection).toBe("close");
  });

  test("the connection is handed over when the core accepts an upgrade", async () => {
    const { port } = await serve(async ({ canUpgrade }) => ({
      status: canUpgrade ? 101 : 400,
      headers: { upgrade: "shout", connection: "Upgrade" },
      body: new Uint8Array(),
      upgrade(socket) {
        socket.on("data", (chunk: Buffer) => socket.end(chunk.toString().toUpperCase()));
        return () => socket.end();
      },
    }));

    const socket = tlsConnect({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
    socket.write(
      "GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: shout\r\nAuthorization: Bearer s3cret\r\n\r\n",
    );
    const [head] = (await once(socket, "data")) as [Buffer];
    socket.write("hello");
    const [rest] = (await once(socket, "data")) as [Buffer];
    socket.destroy();

    expect(head.toString()).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\nupgrade: shout/);
    expect(rest.toString()).toBe("HELLO");
  });

  test("headers beyond the limit do not reach the core", async () => {
    let reached = 0;
    const { port } = await serve((request) => (reached++, echo(request)));

    const [answer] = await Promise.allSettled([http1(port, { headers: { "x-long": "x".repeat(70_000) } })]);
    await expect(
      connect(port).raw({ cluster: "hub", method: "GET", path: "/", headers: { "x-long": "x".repeat(70_000) } }),
    ).rejects.toMatchObject({ code: "Unreachable" });

    expect(answer.status === "rejected" || answer.value.status >= 400).toBe(true);
    expect(reached).toBe(0);
  });

  test("the request's signal is aborted when the client disconnects", async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const { port } = await serve(({ signal }) => {
      signal.addEventListener("abort", () => leave());
      arrive();
      return new Promise(() => {});
    });
    const controller = new AbortController();

    const answer = connect(port).send({ verb: "get", path: { ...pods, name: "a" } }, controller.signal);
    await arrived;
    controller.abort(new Error("enough"));

    await expect(answer).rejects.toThrow("enough");
    await left;
  });
});

describe("watches", () => {
  const event = (name: string, size = 0): Buffer =>
    Buffer.from(`${JSON.stringify({ type: "ADDED", object: { name, data: "x".repeat(size) } })}\n`);
  /** A handler whose watch passes its sink to the test. */
  function watching(): { handle: () => Promise<ApiResponse>; opened: Promise<ByteSink>; stopped: Promise<void> } {
    const { promise: opened, resolve: open } = Promise.withResolvers<ByteSink>();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const body = { open: (sink: ByteSink) => (open(sink), () => stop()) };
    return {
      handle: async () => ({ status: 200, headers: { "content-type": "application/json" }, body }),
      opened,
      stopped,
    };
  }
  const namesOf = (events: { object: unknown }[]): unknown[] =>
    events.map(({ object }) => (object as { name: unknown }).name);

  test("events arrive until the server ends the watch", async () => {
    const { handle, opened } = watching();
    const { port } = await serve(handle);
    const events = Array.fromAsync(connect(port).watch({ path: pods }, new AbortController().signal));

    const sink = await opened;
    sink.write(event("a"));
    sink.write(event("b"));
    sink.end();

    expect(namesOf((await events).flat())).toEqual(["a", "b"]);
  });

  const leaving: Record<string, (transport: Transport, opened: Promise<ByteSink>) => Promise<void>> = {
    "the source is notified when the reader stops reading": async (transport, opened) => {
      void opened.then((sink) => sink.write(event("a")));
      for await (const events of transport.watch({ path: pods }, new AbortController().signal))
        if (events.length > 0) break;
    },
    "the source is notified when the reader's signal is aborted, and the reader ends without an error": async (
      transport,
      opened,
    ) => {
      const controller = new AbortController();
      void opened.then(() => controller.abort());
      expect(await Array.fromAsync(transport.watch({ path: pods }, controller.signal))).toEqual([]);
    },
  };
  for (const [behaviour, leave] of Object.entries(leaving)) {
    test(behaviour, async () => {
      const { handle, opened, stopped } = watching();
      const { port } = await serve(handle);

      await leave(connect(port), opened);

      await expect(stopped).resolves.toBeUndefined();
    });
  }

  test("a reader that does not read blocks its source, loses nothing, and does not stall other readers", async () => {
    const { handle, opened } = watching();
    const { port } = await serve((request) => (request.query.has("watch") ? handle() : echo(request)));
    const transport = connect(port);
    const reader = transport.watch({ path: pods }, new AbortController().signal)[Symbol.asyncIterator]();
    const first = reader.next();
    const sink = await opened;
    sink.write(event("0"));
    let seen = namesOf((await first).value as { object: unknown }[]).length;

    // Far more than all windows and buffers in between can hold.
    let written = 1;
    let full = false;
    for (let round = 0; round < 200 && !full; round++) {
      full = !sink.write(event(String(written++), 256 * 1024));
      if (full) full = await stillFull(sink);
    }
    expect(full).toBe(true);
    expect(await getPod(transport)).toMatchObject({ method: "GET" });
    sink.end();
    for (let next = await reader.next(); !next.done; next = await reader.next()) seen += next.value.length;

    expect(seen).toBe(written);
  });

  /** Whether the sink stays full although all pending work on this machine had its turn. */
  async function stillFull(sink: ByteSink): Promise<boolean> {
    const seen = { drained: false };
    sink.onDrain(() => (seen.drained = true));
    for (let turn = 0; turn < 200 && !seen.drained; turn++) await new Promise((resolve) => setImmediate(resolve));
    return !seen.drained;
  }

  test("a reader that does not even read the end is disconnected, so that nothing is buffered for it", async () => {
    const clock = createFakeClock();
    const { handle, opened, stopped } = watching();
    const { port } = await serve(handle, { clock });
    const reader = connect(port).watch({ path: pods }, new AbortController().signal)[Symbol.asyncIterator]();
    const first = reader.next();
    const sink = await opened;
    sink.write(event("0"));
    await first;
    for (let full = false; !full;) full = !sink.write(event("more", 256 * 1024)) && (await stillFull(sink));

    sink.end();
    // Slowly, so that the connection is evidently alive and only this watch is stuck.
    for (let second = 0; second < 90; second++) {
      clock.advance(1000);
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    }

    await expect(stopped).resolves.toBeUndefined();
  });

  test("more watches than fit on one connection share the server with other requests", async () => {
    const sinks: ByteSink[] = [];
    const { port } = await serve((request) =>
      request.query.has("watch")
        ? Promise.resolve({
            status: 200,
            headers: {},
            body: { open: (sink: ByteSink) => (sinks.push(sink), sink.write(event("a")), () => {}) },
          })
        : echo(request),
    );
    const transport = connect(port);
    const controller = new AbortController();
    const watches = Array.from({ length: 1100 }, () =>
      transport.watch({ path: pods }, controller.signal)[Symbol.asyncIterator](),
    );

    await Promise.all(watches.map((watch) => watch.next()));
    const answer = await getPod(transport);
    controller.abort();

    expect(sinks).toHaveLength(1100);
    expect(answer).toMatchObject({ method: "GET" });
  });
});

describe("stopping", () => {
  test("running requests finish, watches end cleanly, new requests are rejected", async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { server, port } = await serve(async (request) => {
      if (request.query.has("watch"))
        return {
          status: 200,
          headers: {},
          body: { open: (sink) => (sink.write(Buffer.from('{"type":"ADDED","object":{}}\n')), () => {}) },
        };
      arrive();
      await released;
      return json({ answered: true });
    });
    const transport = connect(port);
    const watch = transport.watch({ path: pods }, new AbortController().signal)[Symbol.asyncIterator]();
    await watch.next();
    const running = getPod(transport);
    await arrived;

    const closed = server.close();
    const ended = await watch.next();
    release();

    expect(await running).toEqual({ answered: true });
    expect(ended.done).toBe(true);
    await closed;
    await expect(getPod(connect(port))).rejects.toMatchObject({
      code: "Unreachable",
      message: expect.stringContaining("connection refused") as string,
    });
  });

  test("a long response in flight is finished", async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    let requests = 0;
    const { server, port } = await serve(async () => {
      if (++requests === 2) setImmediate(answer);
      return { status: 200, headers: {}, body: Array.from({ length: 8 }, () => Buffer.alloc(1024 * 1024)) };
    });
    const transport = connect(port);
    const overHttp1 = http1(port);
    const overHttp2 = transport
      .raw({ cluster: "hub", method: "GET", path: "/" })
      .then(async ({ body }) => Buffer.concat(await Array.fromAsync(body)));

    await answered;
    const closed = server.close();

    expect([(await overHttp1).body.length, (await overHttp2).length]).toEqual([8 * 1024 * 1024, 8 * 1024 * 1024]);
    await closed;
  });

  test("a request that does not end is aborted after the drain timeout", async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<AbortSignal>();
    const { server, port } = await serve(
      ({ signal }) => {
        arrive(signal);
        return new Promise(() => {});
      },
      { drainMs: 1 },
    );
    const answer = getPod(connect(port)).catch((error: unknown) => error);
    const signal = await arrived;

    await server.close();

    expect(await answer).toMatchObject({ code: "Unreachable" });
    expect(signal.aborted).toBe(true);
  });

  test("a transport reconnects to a restarted server", async () => {
    const { server, port } = await serve(echo);
    const transport = connect(port);
    await getPod(transport);
    await server.close();

    await serve(echo, { port });

    expect(await getPod(transport)).toMatchObject({ method: "GET" });
  });

  test("new certificates are used for new connections", async () => {
    const { server, port } = await serve(echo);
    const other = await createCertificateAuthority({ clock: systemClock });

    server.setTls({ ...(await other.issueServing([])), clientCa: authority.certificate });

    await expect(getPod(connect(port))).rejects.toMatchObject({ code: "Unreachable" });
    expect(
      await getPod(connect(port, { ca: other.certificate, cert: alice.certificate, key: alice.key })),
    ).toMatchObject({ user: { name: "alice" } });
  });

  test("the error names a port that is in use", async () => {
    const { port } = await serve(echo);

    await expect(serve(echo, { port })).rejects.toMatchObject({
      code: "Listen",
      message: expect.stringContaining(`port ${port}`) as string,
    });
  });
});

test("a stock HTTP/2 client may keep hundreds of streams on one connection", async () => {
  const { port } = await serve(echo);
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca: authority.certificate });

  const settings = await new Promise<http2.Settings>((resolve) => session.once("remoteSettings", resolve));
  session.destroy();

  expect(settings.maxConcurrentStreams).toBeGreaterThanOrEqual(250);
});

describe("a request at the root with the credentials of one logical cluster", () => {
  const authenticator = createAuthenticator({
    clusterPrefix: "example.com:cluster:",
    tokens: [
      { token: "s3cret", user: "robot" },
      { token: "paris-only", user: "admin", cluster: "paris" },
    ],
  });
  const pathSeen = async (path: string, token: string): Promise<unknown> => {
    const { port } = await serve(echo, { authenticator });
    const { status, body } = await http1(port, { path, headers: { authorization: `Bearer ${token}` } });
    return status === 200 ? (JSON.parse(body.toString()) as { path: string }).path : status;
  };

  test("is for that cluster", async () => {
    expect(await pathSeen("/api/v1/pods?limit=1", "paris-only")).toBe("/clusters/paris/api/v1/pods");
  });

  test("is for the hub when the hub accepts them", async () => {
    expect(await pathSeen("/api/v1/pods", "s3cret")).toBe("/api/v1/pods");
  });

  test("is rejected when the path names another cluster", async () => {
    expect(await pathSeen("/clusters/rome/api/v1/pods", "paris-only")).toBe(401);
    expect(await pathSeen("/clusters/hub/api/v1/pods", "paris-only")).toBe(401);
  });
});
