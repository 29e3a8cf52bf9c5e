/**
 * Small real proxies on loopback, in front of a server without TLS; with TLS they are tested with the API server's
 * front end.
 */
import http from "node:http";
import net from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createHttp2Transport } from "../../../packages/client/src/http2-transport.ts";
import type { Http2TransportOptions } from "../../../packages/client/src/http2-transport.ts";
import type { Transport } from "../../../packages/client/src/transport.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listen(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}

const serveTarget = (): Promise<number> =>
  listen(http.createServer((request, response) => response.end(JSON.stringify({ path: request.url?.split("?")[0] }))));

function join(port: number, socket: net.Socket): net.Socket {
  const target = net.connect(port, "127.0.0.1").on("error", () => socket.destroy());
  socket.pipe(target).pipe(socket);
  return target;
}

/** Connects every request to the target. */
async function serveHttpProxy(
  target: number,
  seen: string[],
  { status = 200 }: { status?: number } = {},
): Promise<number> {
  const proxy = http.createServer((_request, response) => response.writeHead(400).end());
  proxy.on("connect", (request, socket) => {
    seen.push(`${request.url} ${request.headers["proxy-authorization"] ?? "-"}`);
    if (status === 200) {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      join(target, socket as net.Socket);
    } else socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
  });
  return listen(proxy);
}

/** SOCKS5 as far as we use it, with replies that arrive byte by byte. */
async function serveSocks(
  target: number,
  seen: string[],
  { method = 0, verdict = 0, reply = 0 }: { method?: number; verdict?: number; reply?: number } = {},
): Promise<number> {
  return listen(
    net.createServer((socket) => {
      const say = (...bytes: number[]): void => bytes.forEach((byte) => socket.write(Buffer.from([byte])));
      const steps: ((request: Buffer) => void)[] = [
        () => say(5, method),
        ...(method === 2
          ? [
              (request: Buffer): void => {
                seen.push(
                  request
                    .subarray(2)
                    .toString("latin1")
                    .replaceAll(/[^ -~]/g, "/"),
                );
                say(1, verdict);
              },
            ]
          : []),
        (request) => {
          const length = request[4] ?? 0;
          seen.push(`${request.subarray(5, 5 + length).toString()}:${request.readUInt16BE(5 + length)}`);
          say(5, reply, 0, 3, 2, 104, 105, 0, 80);
          if (reply === 0) join(target, socket);
        },
      ];
      socket.on("data", (request: Buffer) => steps.shift()?.(request));
    }),
  );
}

function connect(proxy: string, options: Partial<Http2TransportOptions> = {}): Transport {
  const transport = createHttp2Transport({
    server: new URL("http://kube.example:8080"),
    cluster: { only: "oslo" },
    proxy: new URL(proxy),
    ...options,
  });
  closing.push(() => transport.close());
  return transport;
}
const getPod = (transport: Transport): Promise<unknown> =>
  transport.send({
    verb: "get",
    path: { cluster: "oslo", group: "", version: "v1", resource: "pods", namespace: "shop", name: "a" },
  });
const POD = { path: "/api/v1/namespaces/shop/pods/a" };

describe("through an HTTP proxy", () => {
  test("the server is reached by name, with the proxy's credentials, and the connection is reused", async () => {
    const seen: string[] = [];
    const port = await serveHttpProxy(await serveTarget(), seen);
    const transport = connect(`http://me:s%40crt@127.0.0.1:${port}`);

    const answers = [await getPod(transport), await getPod(transport)];

    expect(answers).toEqual([POD, POD]);
    expect(seen).toEqual([`kube.example:8080 Basic ${Buffer.from("me:s@crt").toString("base64")}`]);
  });

  const refusals: Record<string, { status: number; message: RegExp }> = {
    "the error for a rejected CONNECT names the proxy": {
      status: 403,
      message: /through the proxy http:\/\/127.0.0.1:\d+: it refused to connect to kube.example:8080: 403 No$/,
    },
    "the error for a SOCKS5 proxy that requires a password explains how to set it": {
      status: 407,
      message: /407 No; set a user and password in its URL$/,
    },
  };
  for (const [behaviour, { status, message }] of Object.entries(refusals)) {
    test(behaviour, async () => {
      const port = await serveHttpProxy(0, [], { status });

      await expect(getPod(connect(`http://127.0.0.1:${port}`))).rejects.toMatchObject({
        code: "Unreachable",
        message: expect.stringMatching(message) as string,
      });
    });
  }

  test("an unreachable proxy is not reported as the server", async () => {
    await expect(getPod(connect("http://127.0.0.1:1"))).rejects.toThrow(
      /through the proxy http:\/\/127.0.0.1:1: connection refused/,
    );
  });

  test("a proxy that does not respond times out", async () => {
    const clock = createFakeClock();
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const port = await listen(net.createServer((socket) => void socket.once("data", () => reach())));

    const answer = getPod(connect(`http://127.0.0.1:${port}`, { clock })).catch((error: unknown) => error);
    await reached;
    clock.advance(10_000);

    expect(await answer).toMatchObject({
      code: "Unreachable",
      message: expect.stringContaining("no response within 10 s") as string,
    });
  });
});

describe("through a SOCKS5 proxy", () => {
  const working: Record<string, { user?: string; options?: Parameters<typeof serveSocks>[2]; want: string[] }> = {
    "the server is reached by name": { want: ["kube.example:8080"] },
    "user and password are sent when the proxy requires them": {
      user: "me:secret@",
      options: { method: 2 },
      want: ["me/secret", "kube.example:8080"],
    },
  };
  for (const [behaviour, { user = "", options, want }] of Object.entries(working)) {
    test(behaviour, async () => {
      const seen: string[] = [];
      const port = await serveSocks(await serveTarget(), seen, options);

      const answer = await getPod(connect(`socks5://${user}127.0.0.1:${port}`));

      expect(answer).toEqual(POD);
      expect(seen).toEqual(want);
    });
  }

  const failing: Record<string, { user?: string; options: Parameters<typeof serveSocks>[2]; message: RegExp }> = {
    "a rejected password is reported": {
      user: "me:wrong@",
      options: { method: 2, verdict: 1 },
      message: /it rejected the user and password/,
    },
    "the error for a SOCKS5 proxy that requires a password explains how to set it": {
      options: { method: 0xff },
      message: /requires a user and password; set them in its URL/,
    },
    "a server that the proxy cannot reach is reported": {
      options: { reply: 5 },
      message: /could not connect to kube.example:8080: the connection was refused/,
    },
  };
  for (const [behaviour, { user = "", options, message }] of Object.entries(failing)) {
    test(behaviour, async () => {
      const port = await serveSocks(await serveTarget(), [], options);

      await expect(getPod(connect(`socks5://${user}127.0.0.1:${port}`))).rejects.toThrow(message);
    });
  }
});
