/**
 * Uses plain HTTP/1.1, where a small server shows everything; HTTP/2 and TLS are tested with the API server's front
 * end.
 */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { CredentialsError } from "../../../packages/client/src/credentials.ts";
import type { CredentialSource } from "../../../packages/client/src/credentials.ts";
import { createHttp2Transport } from "../../../packages/client/src/http2-transport.ts";
import type { Http2TransportOptions } from "../../../packages/client/src/http2-transport.ts";
import type { Transport } from "../../../packages/client/src/transport.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Handler = (request: http.IncomingMessage, response: http.ServerResponse, count: number) => void;

async function connect(
  handler: Handler,
  options: Partial<Http2TransportOptions> & { basePath?: string } = {},
): Promise<{ transport: Transport; urls: string[] }> {
  const urls: string[] = [];
  const server = http.createServer((request, response) => {
    urls.push(request.url ?? "");
    handler(request, response, urls.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const transport = createHttp2Transport({
    server: new URL(`http://127.0.0.1:${port}${options.basePath ?? ""}`),
    cluster: { root: "hub" },
    ...options,
  });
  closing.push(() => transport.close());
  return { transport, urls };
}

const pod = { cluster: "hub", group: "", version: "v1", resource: "pods", namespace: "shop", name: "a" };
const getPod = (transport: Transport): Promise<unknown> => transport.send({ verb: "get", path: pod });
const answer = (
  response: http.ServerResponse,
  status: number,
  body: string,
  headers: http.OutgoingHttpHeaders = {},
): void => void response.writeHead(status, headers).end(body);

/** Lets sockets make progress until the clock's next timer is due after exactly `delayMs`. */
async function timerAfter(clock: FakeClock, delayMs: number): Promise<void> {
  const due = clock.now() + delayMs;
  while (clock.nextDue() !== due) await new Promise((resolve) => setImmediate(resolve));
}

describe("the cluster mapping of a server", () => {
  const cases: Record<
    string,
    { options: Partial<Http2TransportOptions> & { basePath?: string }; cluster: string; want: string }
  > = {
    "the hub is at its root": { options: {}, cluster: "hub", want: "/api/v1/namespaces/shop/pods/a" },
    "other logical clusters are under their prefix": {
      options: {},
      cluster: "paris",
      want: "/clusters/paris/api/v1/namespaces/shop/pods/a",
    },
    "the path of the server URL comes first": {
      options: { basePath: "/base/" },
      cluster: "paris",
      want: "/base/clusters/paris/api/v1/namespaces/shop/pods/a",
    },
    "a real cluster serves only itself": {
      options: { cluster: { only: "oslo" }, basePath: "/k8s" },
      cluster: "oslo",
      want: "/k8s/api/v1/namespaces/shop/pods/a",
    },
  };
  for (const [behaviour, { options, cluster, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const { transport, urls } = await connect((_request, response) => answer(response, 200, "{}"), options);

      await transport.send({ verb: "get", path: { ...pod, cluster } });

      expect(urls).toEqual([want]);
    });
  }

  test("a request for another cluster than the real one is never sent", async () => {
    const { transport, urls } = await connect((_request, response) => answer(response, 200, "{}"), {
      cluster: { only: "oslo" },
    });

    await expect(getPod(transport)).rejects.toThrow("is the API server of cluster oslo, not of hub");

    expect(urls).toEqual([]);
  });
});

describe("failures", () => {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: 'pods "a" not found',
    reason: "NotFound",
    code: 404,
  };
  const cases: Record<string, { code: number; body: string; headers?: http.OutgoingHttpHeaders; want: unknown }> = {
    "a Status is passed on unchanged": { code: 404, body: JSON.stringify(status), want: { code: "NotFound", status } },
    "a text response from a proxy becomes a Status": {
      code: 503,
      body: "upstream is down\n",
      headers: { "content-type": "text/plain" },
      want: {
        code: "ServiceUnavailable",
        message: "the server responded with 503: upstream is down",
        status: { code: 503 },
      },
    },
    "an HTML page from a proxy is not quoted": {
      code: 502,
      body: "<html>",
      headers: { "content-type": "text/html" },
      want: { message: "the server responded with 502", status: { code: 502 } },
    },
    "a response that is not JSON is an error": { code: 200, body: "<html>", want: { code: "Unreachable" } },
    "a response that is not an object is an error": { code: 200, body: "[]", want: { code: "Unreachable" } },
  };
  for (const [behaviour, { code, body, headers, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const { transport } = await connect((_request, response) => answer(response, code, body, headers));

      await expect(getPod(transport)).rejects.toMatchObject(want as object);
    });
  }

  test("a refused connection is explained, with the attempted operation", async () => {
    const transport = createHttp2Transport({ server: new URL("http://127.0.0.1:1"), cluster: { root: "hub" } });
    closing.push(() => transport.close());

    await expect(getPod(transport)).rejects.toMatchObject({
      code: "Unreachable",
      message:
        "get pods shop/a of cluster hub at 127.0.0.1:1: connection refused; check the address and port, and that the server is running",
    });
  });

  test("a truncated response is an error", async () => {
    const { transport } = await connect((_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("{}");
      response.socket?.end();
    });

    await expect(getPod(transport)).rejects.toMatchObject({ code: "Unreachable" });
  });

  test("a read is retried when the connection broke, a write is not", async () => {
    const { transport, urls } = await connect((_request, response, count) =>
      count === 2 ? answer(response, 200, '{"a":1}') : response.socket?.resetAndDestroy(),
    );

    const read = await getPod(transport);
    const write = transport.send({ verb: "create", path: pod, body: {} });

    expect(read).toEqual({ a: 1 });
    await expect(write).rejects.toMatchObject({ code: "Unreachable" });
    expect(urls).toHaveLength(3);
  });
});

describe("retries and deadlines", () => {
  test("a request is retried after the server's Retry-After", async () => {
    const clock = createFakeClock();
    const { transport, urls } = await connect(
      (_request, response, count) =>
        count < 3 ? answer(response, 429, "", { "retry-after": "1" }) : answer(response, 200, '{"a":1}'),
      { clock },
    );

    const result = getPod(transport);
    for (let wait = 0; wait < 2; wait++) {
      await timerAfter(clock, 1000);
      clock.advance(1000);
    }

    expect(await result).toEqual({ a: 1 });
    expect(urls).toHaveLength(3);
  });

  test("the Retry-After delay and the number of retries are limited", async () => {
    const clock = createFakeClock();
    const { transport, urls } = await connect(
      (_request, response) => answer(response, 503, "", { "retry-after": "86400" }),
      { clock },
    );

    const result = getPod(transport).catch((error: unknown) => error);
    for (let wait = 0; wait < 4; wait++) {
      await timerAfter(clock, 10_000);
      clock.advance(10_000);
    }

    expect(await result).toMatchObject({ status: { code: 503 } });
    expect(urls).toHaveLength(5);
  });

  test("a 429 or 503 without Retry-After is not retried", async () => {
    const { transport, urls } = await connect((_request, response) => answer(response, 503, ""));

    await expect(getPod(transport)).rejects.toMatchObject({ status: { code: 503 } });

    expect(urls).toHaveLength(1);
  });

  test("a request ends at its deadline", async () => {
    const clock = createFakeClock();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { transport } = await connect(() => arrive(), { clock, requestTimeoutMs: 5000 });

    const result = getPod(transport);
    await arrived;
    clock.advance(5000);

    await expect(result).rejects.toMatchObject({
      code: "Unreachable",
      message: expect.stringContaining("no response within 5 s") as string,
    });
    expect(clock.nextDue()).toBeUndefined();
  });

  test("an aborted request rejects with the signal's reason", async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { transport } = await connect(() => arrive());
    const controller = new AbortController();

    const result = transport.send({ verb: "get", path: pod }, controller.signal);
    await arrived;
    controller.abort(new Error("changed my mind"));

    await expect(result).rejects.toThrow("changed my mind");
  });
});

describe("watch", () => {
  const pods = { cluster: "hub", group: "", version: "v1", resource: "pods" };
  const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;
  const watchAll = (transport: Transport): Promise<unknown[]> =>
    Array.fromAsync(
      transport.watch({ path: pods, query: { resourceVersion: "5" } }, new AbortController().signal),
    ).then((batches) => batches.flat());

  test("requests a watch and yields events until the server ends it", async () => {
    const { transport, urls } = await connect(
      (_request, response) => answer(response, 200, line("ADDED", { a: 1 }) + line("BOOKMARK", {})),
      { random: { next: () => 0.5, bytes: (length) => new Uint8Array(length) } },
    );

    expect(await watchAll(transport)).toEqual([
      { type: "ADDED", object: { a: 1 } },
      { type: "BOOKMARK", object: {} },
    ]);
    expect(urls).toEqual(["/api/v1/pods?resourceVersion=5&timeoutSeconds=450&watch=true"]);
  });

  test("outlives the deadline of a request", async () => {
    const clock = createFakeClock();
    const { transport } = await connect((_request, response) => void response.writeHead(200).write(line("ADDED", {})), {
      clock,
    });
    const watch = transport.watch({ path: pods }, new AbortController().signal)[Symbol.asyncIterator]();

    await watch.next();
    clock.advance(300_000);
    const ended = await Promise.race([watch.next(), new Promise((resolve) => setImmediate(resolve, "open"))]);

    expect(ended).toBe("open");
  });

  test("watch that is silent is aborted when the server should have ended it", async () => {
    const clock = createFakeClock();
    const { transport } = await connect((_request, response) => void response.writeHead(200).write(line("ADDED", {})), {
      clock,
    });
    const watch = transport
      .watch({ path: pods, query: { timeoutSeconds: "300" } }, new AbortController().signal)
      [Symbol.asyncIterator]();

    await watch.next();
    const next = watch.next();
    clock.advance(330_000);

    await expect(next).rejects.toMatchObject({
      code: "Unreachable",
      message: expect.stringContaining("sent nothing and did not end the watch in time") as string,
    });
    expect(clock.nextDue()).toBeUndefined();
  });

  const failing: Record<string, { handler: Handler; want: object }> = {
    "a rejected watch is an error": {
      handler: (_request, response) =>
        answer(response, 403, JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden" })),
      want: { code: "Forbidden" },
    },
    "an ERROR event is an error": {
      handler: (_request, response) =>
        answer(response, 200, line("ERROR", { kind: "Status", code: 410, reason: "Expired" })),
      want: { code: "Expired" },
    },
    "a stream that ends inside an event is an error": {
      handler: (_request, response) => answer(response, 200, '{"type":"AD'),
      want: { code: "Unreachable" },
    },
    "a broken connection is an error": {
      handler: (_request, response) => {
        response.writeHead(200).write(line("ADDED", {}));
        setImmediate(() => response.socket?.resetAndDestroy());
      },
      want: { code: "Unreachable" },
    },
  };
  for (const [behaviour, { handler, want }] of Object.entries(failing)) {
    test(behaviour, async () => {
      const { transport } = await connect(handler);

      await expect(watchAll(transport)).rejects.toMatchObject(want);
    });
  }

  test("covers the logical clusters that match a filter, with the name of the cluster on every event", async () => {
    const line = (cluster: string): string =>
      `${JSON.stringify({ cluster, type: "ADDED", object: { metadata: { name: "web" } } })}\n`;
    const { transport, urls } = await connect((_request, response) =>
      answer(response, 200, line("oslo") + line("paris")),
    );

    const batches = await Array.fromAsync(
      transport.watch(
        { path: { ...pods, cluster: "*" }, where: (cluster) => cluster === "paris" },
        new AbortController().signal,
      ),
    );

    expect(batches.flat().map(({ cluster }) => cluster)).toEqual(["paris"]);
    expect(urls[0]).toMatch(/^\/clusters\/\*\/api\/v1\//);
  });
});

test("sends the current token, the user agent and the media type, and passes warnings on", async () => {
  const seen: http.IncomingHttpHeaders[] = [];
  const warnings: string[] = [];
  let token = 0;
  const { transport } = await connect(
    (request, response) => {
      seen.push(request.headers);
      answer(response, 200, "{}", { Warning: ['299 - "use \\"b\\""', '299 - "and c"'] });
    },
    { token: async () => `t${++token}`, userAgent: "flotilla/test", onWarning: (message) => warnings.push(message) },
  );

  await transport.send({ verb: "patch", path: pod, patchType: "apply", body: {} });
  await transport.send({ verb: "update", path: pod, body: {} });

  expect(seen.map((headers) => [headers.authorization, headers["user-agent"], headers["content-type"]])).toEqual([
    ["Bearer t1", "flotilla/test", "application/apply-patch+yaml"],
    ["Bearer t2", "flotilla/test", "application/json"],
  ]);
  expect(warnings).toEqual(['use "b"', "and c", 'use "b"', "and c"]);
});

test("sends impersonation headers, one for each group and extra value", async () => {
  const seen: string[][] = [];
  const { transport } = await connect(
    (request, response) => {
      const pairs = Array.from({ length: request.rawHeaders.length / 2 }, (_, index) =>
        request.rawHeaders.slice(index * 2, index * 2 + 2),
      );
      seen.push(
        ...pairs
          .filter(([name]) => name?.toLowerCase().startsWith("impersonate"))
          .map(([name = "", value = ""]) => [name.toLowerCase(), value]),
      );
      answer(response, 200, "{}");
    },
    {
      impersonate: {
        user: "eve",
        uid: "7",
        groups: ["admins", "a, b"],
        extra: { "example.com/Scopes": ["read", "write"], "50%": ["x"] },
      },
    },
  );

  await getPod(transport);

  expect(seen).toEqual([
    ["impersonate-user", "eve"],
    ["impersonate-uid", "7"],
    ["impersonate-group", "admins"],
    ["impersonate-group", "a, b"],
    ["impersonate-extra-example.com%2fscopes", "read"],
    ["impersonate-extra-example.com%2fscopes", "write"],
    ["impersonate-extra-50%25", "x"],
  ]);
});

describe("credentials that change", () => {
  const makeSource = (...tokens: string[]): CredentialSource => ({
    current: async () => ({ token: tokens[0] ?? "" }),
    async replace() {
      if (tokens.length === 1) return undefined;
      tokens.shift();
      return { token: tokens[0] ?? "" };
    },
  });
  const refuseOld: Handler = (request, response) =>
    answer(response, request.headers.authorization === "Bearer new" ? 200 : 401, "{}");

  test("a request rejected with 401 is retried with new credentials, including writes", async () => {
    const { transport, urls } = await connect(refuseOld, { credentials: makeSource("old", "new") });

    const answers = [await transport.send({ verb: "create", path: pod, body: {} }), await getPod(transport)];

    expect(answers).toEqual([{}, {}]);
    expect(urls).toHaveLength(3);
  });

  const refused: Record<string, { tokens: string[]; requests: number }> = {
    "a 401 is returned when there are no new credentials": { tokens: ["old"], requests: 1 },
    "a 401 is returned when the new credentials are rejected too": { tokens: ["old", "older", "new"], requests: 2 },
  };
  for (const [behaviour, { tokens, requests }] of Object.entries(refused)) {
    test(behaviour, async () => {
      const { transport, urls } = await connect(refuseOld, { credentials: makeSource(...tokens) });

      await expect(getPod(transport)).rejects.toMatchObject({ status: { code: 401 } });

      expect(urls).toHaveLength(requests);
    });
  }

  test("no request is sent without credentials", async () => {
    const broken = {
      current: () => Promise.reject(new CredentialsError("the plugin is missing")),
      replace: async () => undefined,
    };
    const { transport, urls } = await connect(refuseOld, { credentials: broken });

    await expect(getPod(transport)).rejects.toThrow("the plugin is missing");

    expect(urls).toEqual([]);
  });
});
