/**
 * Client identity over TLS: kubeconfigs with changing certificates, exec plugins and proxies, tested against the front
 * end.
 */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createFakeClock, silentLog, systemClock } from "@flotilla/base";
import { connectionOf, createHttp2Transport, parseKubeconfig } from "@flotilla/client";
import type { KubeconfigConnection, Transport } from "@flotilla/client";
import type { ApiRequest, ApiResponse } from "../../../packages/apiserver/src/request/request.ts";
import { createAuthenticator } from "../../../packages/apiserver/src/http/authenticator.ts";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { CertificateAuthority, KeyPair } from "@flotilla/apimachinery";
import { createHttpServer } from "../../../packages/apiserver/src/http/server.ts";

let authority: CertificateAuthority;
let serving: KeyPair;
let directory: string;
beforeAll(async () => {
  authority = await createCertificateAuthority({ clock: systemClock });
  serving = await authority.issueServing(["kube.example"]);
  directory = await mkdtemp(join(tmpdir(), "flotilla-identity-"));
});
afterAll(() => rm(directory, { recursive: true }));
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Returns the requesting user; a watch sends it once and stays open. */
const whoami = async ({ user, query }: ApiRequest): Promise<ApiResponse> => {
  const body = Buffer.from(JSON.stringify({ name: user?.name }));
  if (query.get("watch") === null) return { status: 200, headers: { "content-type": "application/json" }, body };
  return {
    status: 200,
    headers: {},
    body: { open: (sink) => (sink.write(Buffer.from(`{"type":"ADDED","object":${body.toString()}}\n`)), () => {}) },
  };
};

async function serve(): Promise<number> {
  const server = createHttpServer({
    handle: whoami,
    authenticator: createAuthenticator({
      clusterPrefix: "example.com:cluster:",
      tokens: [{ token: "s3cret", user: "robot" }],
      anonymous: true,
    }),
    tls: { ...serving, clientCa: authority.certificate },
    log: silentLog,
  });
  closing.push(() => server.close());
  return (await server.listen(0)).port;
}

/** The connection of a kubeconfig with one user and these fields. */
function connection(
  server: string,
  user: object,
  cluster: object = {},
  clock = createFakeClock(),
): Promise<KubeconfigConnection> {
  const ca = Buffer.from(authority.certificate).toString("base64");
  const config = {
    "current-context": "a",
    clusters: [{ name: "a", cluster: { server, "certificate-authority-data": ca, ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "a", context: { cluster: "a", user: "u" } }],
  };
  return connectionOf(parseKubeconfig(JSON.stringify(config), { directory }), undefined, {
    environment: { PATH: process.env["PATH"] },
    isTerminal: false,
    clock,
  });
}
function open(settings: KubeconfigConnection, clock = createFakeClock()): Transport {
  const transport = createHttp2Transport({ ...settings, cluster: { only: "oslo" }, clock });
  closing.push(() => transport.close());
  return transport;
}
const pods = { cluster: "oslo", group: "", version: "v1", resource: "pods" };
const ask = (transport: Transport): Promise<unknown> =>
  transport.send({ verb: "get", path: { ...pods, namespace: "shop", name: "a" } });

async function writePair(name: string): Promise<void> {
  const { certificate, key } = await authority.issueClient({ commonName: name, organizations: [] });
  await writeFile(join(directory, "new.crt"), certificate);
  await writeFile(join(directory, "new.key"), key);
  await rename(join(directory, "new.crt"), join(directory, "client.crt"));
  await rename(join(directory, "new.key"), join(directory, "client.key"));
}

test("a client certificate that changes on disk is used for new requests, and old watches end", async () => {
  const clock = createFakeClock();
  const port = await serve();
  await writePair("first");
  const transport = open(
    await connection(
      `https://127.0.0.1:${port}`,
      { "client-certificate": "client.crt", "client-key": "client.key" },
      {},
      clock,
    ),
    clock,
  );
  const before = await ask(transport);
  const watch = transport.watch({ path: pods }, new AbortController().signal)[Symbol.asyncIterator]();
  await watch.next();
  const ended = watch.next().catch((error: unknown) => error);

  await writePair("second");
  clock.advance(60_000);
  const after = await ask(transport);
  clock.advance(30_000);

  expect([before, after]).toEqual([{ name: "first" }, { name: "second" }]);
  expect(await ended).toMatchObject({ code: "Unreachable" });
});

test("a half-written key pair is skipped", async () => {
  const clock = createFakeClock();
  const port = await serve();
  await writePair("first");
  const transport = open(
    await connection(
      `https://127.0.0.1:${port}`,
      { "client-certificate": "client.crt", "client-key": "client.key" },
      {},
      clock,
    ),
    clock,
  );
  await ask(transport);
  const { certificate } = await authority.issueClient({ commonName: "second", organizations: [] });

  await writeFile(join(directory, "client.crt"), certificate);
  clock.advance(60_000);

  expect(await ask(transport)).toEqual({ name: "first" });
});

test("an exec plugin provides a client certificate", async () => {
  const port = await serve();
  const { certificate, key } = await authority.issueClient({ commonName: "plugged-in", organizations: [] });
  const credential = {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status: { clientCertificateData: certificate, clientKeyData: key },
  };
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: process.execPath,
    args: ["-e", "console.log(process.env.CREDENTIAL)"],
    env: [{ name: "CREDENTIAL", value: JSON.stringify(credential) }],
    interactiveMode: "Never",
  };

  const transport = open(await connection(`https://127.0.0.1:${port}`, { exec }));

  expect(await ask(transport)).toEqual({ name: "plugged-in" });
});

test("tls-server-name of the kubeconfig is verified against the server's certificate", async () => {
  const port = await serve();
  const named = open(
    await connection(`https://127.0.0.1:${port}`, { token: "s3cret" }, { "tls-server-name": "kube.example" }),
  );
  const wrong = open(
    await connection(`https://127.0.0.1:${port}`, { token: "s3cret" }, { "tls-server-name": "10.9.9.9" }),
  );
  const unchecked = open(
    await connection(
      `https://127.0.0.1:${port}`,
      { token: "s3cret" },
      { "tls-server-name": "other.example", "insecure-skip-tls-verify": true },
    ),
  );

  expect([await ask(named), await ask(unchecked)]).toEqual([{ name: "robot" }, { name: "robot" }]);
  await expect(ask(wrong)).rejects.toThrow(/is for another name/);
});

/** Connects every CONNECT request to the port, in plain text or over TLS. */
async function serveProxy(
  target: number,
  seen: string[],
  secure: boolean,
  onClose: () => void = () => {},
): Promise<number> {
  const proxy = secure ? https.createServer({ cert: serving.certificate, key: serving.key }) : http.createServer();
  const sockets = new Set<net.Socket>();
  proxy.on("connect", (request, socket) => {
    seen.push(request.url ?? "");
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const onward = net.connect(target, "127.0.0.1").on("error", () => socket.destroy());
    sockets.add(onward).add(socket as net.Socket);
    socket.on("error", () => onward.destroy()).once("end", onClose);
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.closeAllConnections();
    return new Promise((resolve) => proxy.close(() => resolve()));
  });
  return (proxy.address() as AddressInfo).port;
}

test("HTTP/2 works through a proxy, with the server's own certificate behind it", async () => {
  const seen: string[] = [];
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const proxy = await serveProxy(await serve(), seen, false, close);
  const transport = open(
    await connection("https://kube.example:6443", { token: "s3cret" }, { "proxy-url": `http://127.0.0.1:${proxy}` }),
  );

  const answers = await Promise.all([ask(transport), ask(transport)]);
  await transport.close();
  await closed;

  expect(answers).toEqual([{ name: "robot" }, { name: "robot" }]);
  expect(seen).toEqual(["kube.example:6443"]);
});

test("HTTP/1.1 works through a proxy", async () => {
  const seen: string[] = [];
  const old = https.createServer({ cert: serving.certificate, key: serving.key }, (request, response) =>
    response.end(JSON.stringify({ version: request.httpVersion })),
  );
  await new Promise<void>((resolve) => old.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    old.closeAllConnections();
    return new Promise((resolve) => old.close(() => resolve()));
  });
  const proxy = await serveProxy((old.address() as AddressInfo).port, seen, false);
  const transport = open(
    await connection("https://kube.example:6443", {}, { "proxy-url": `http://127.0.0.1:${proxy}` }),
  );

  const answers = [await ask(transport), await ask(transport)];

  expect(answers).toEqual([{ version: "1.1" }, { version: "1.1" }]);
  // One connection to negotiate the protocol, and one that is kept.
  expect(seen).toEqual(["kube.example:6443", "kube.example:6443"]);
});

test("a proxy over TLS must be trusted by the system", async () => {
  const proxy = await serveProxy(await serve(), [], true);
  const transport = open(
    await connection("https://kube.example:6443", {}, { "proxy-url": `https://127.0.0.1:${proxy}` }),
  );

  await expect(ask(transport)).rejects.toThrow(
    /through the proxy https:\/\/127.0.0.1:\d+: the server's certificate is signed by an untrusted CA|self-signed/,
  );
});
