/**
 * A server without TLS on loopback that echoes its input in upper case, and a proxy in front of it; TLS is tested end
 * to end.
 */
import http from "node:http";
import net from "node:net";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { openUpgrade } from "../../../packages/client/src/upgrade.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listen(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}

/** Accepts every client with the token. */
function serveShouts(seen: http.IncomingHttpHeaders[]): Promise<number> {
  const server = http.createServer((_request, response) => response.writeHead(403).end("not you"));
  server.on("upgrade", (request, socket: Duplex) => {
    seen.push({ ...request.headers, path: request.url ?? "" });
    if (request.headers.authorization !== "Bearer s3cret") {
      socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 7\r\n\r\nnot you");
      return;
    }
    socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: shout\r\nconnection: Upgrade\r\n\r\n");
    socket.on("data", (chunk: Buffer) => socket.write(chunk.toString().toUpperCase()));
  });
  return listen(server);
}

const signal = new AbortController().signal;
const REQUEST = { method: "GET", path: "/exec?command=ls", headers: { connection: "Upgrade", upgrade: "shout" } };

test("the connection is upgraded to another protocol, with the caller's credentials", async () => {
  const seen: http.IncomingHttpHeaders[] = [];
  const port = await serveShouts(seen);

  const answer = await openUpgrade(
    { server: new URL(`http://127.0.0.1:${port}/clusters/far`), token: "s3cret" },
    { ...REQUEST, impersonate: { user: "ann", groups: ["ops", "dev"] } },
    signal,
  );
  const reply = new Promise<string>((resolve) =>
    answer.upgraded?.socket.once("data", (chunk: Buffer) => resolve(chunk.toString())),
  );
  answer.upgraded?.socket.write("hello");

  expect(answer).toMatchObject({ status: 101, headers: { upgrade: "shout" } });
  expect(await reply).toBe("HELLO");
  expect(seen).toMatchObject([
    { path: "/clusters/far/exec?command=ls", "impersonate-user": "ann", "impersonate-group": "ops, dev" },
  ]);
  answer.upgraded?.socket.destroy();
});

test("a rejection by the server is returned", async () => {
  const port = await serveShouts([]);

  const { status, upgraded, body } = await openUpgrade(
    { server: new URL(`http://127.0.0.1:${port}`) },
    REQUEST,
    signal,
  );
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);

  expect({ status, upgraded, text: Buffer.concat(chunks).toString() }).toEqual({
    status: 403,
    upgraded: undefined,
    text: "not you",
  });
});

test("the proxy in between receives its headers", async () => {
  const port = await serveShouts([]);
  const asked: http.IncomingHttpHeaders[] = [];
  const proxy = http.createServer();
  proxy.on("connect", (request, socket: Duplex) => {
    asked.push(request.headers);
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    const target = net.connect(port, "127.0.0.1");
    socket.pipe(target).pipe(socket);
  });
  const proxyPort = await listen(proxy);

  const { status, upgraded } = await openUpgrade(
    {
      server: new URL("http://far.example.com:6443"),
      token: "s3cret",
      proxy: new URL(`http://127.0.0.1:${proxyPort}`),
      proxyHeaders: { "X-Team": ["a", "b"] },
    },
    REQUEST,
    signal,
  );
  upgraded?.socket.destroy();

  expect(status).toBe(101);
  expect(asked).toMatchObject([{ host: "far.example.com:6443", "x-team": "a, b" }]);
});

test("a server that is down is unreachable", async () => {
  await expect(openUpgrade({ server: new URL("http://127.0.0.1:1") }, REQUEST, signal)).rejects.toMatchObject({
    code: "Unreachable",
  });
});
