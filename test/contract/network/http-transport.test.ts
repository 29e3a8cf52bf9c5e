/** The client's HTTP transport with misbehaving or old servers, over TLS. */
import https from "node:https";
import net from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createFakeClock, silentLog, systemClock } from "@flotilla/base";
import { createHttp2Transport } from "@flotilla/client";
import type { Http2TransportOptions, Transport } from "@flotilla/client";
import { createAuthenticator } from "../../../packages/apiserver/src/http/authenticator.ts";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { CertificateAuthority, KeyPair } from "@flotilla/apimachinery";
import { createHttpServer } from "../../../packages/apiserver/src/http/server.ts";

let authority: CertificateAuthority;
let untrustedAuthority: CertificateAuthority;
let serving: KeyPair;
beforeAll(async () => {
  untrustedAuthority = await createCertificateAuthority({ clock: systemClock, commonName: "untrusted" });
  authority = await createCertificateAuthority({ clock: systemClock });
  serving = await authority.issueServing([]);
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function connect(port: number, options: Partial<Http2TransportOptions> = {}): Transport {
  const transport = createHttp2Transport({
    server: new URL(`https://127.0.0.1:${port}`),
    cluster: { only: "oslo" },
    ca: authority.certificate,
    ...options,
  });
  closing.push(() => transport.close());
  return transport;
}
const pod = { cluster: "oslo", group: "", version: "v1", resource: "pods", namespace: "shop", name: "a" };
const getPod = (transport: Transport): Promise<unknown> => transport.send({ verb: "get", path: pod });

async function listen(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}

/** A front end whose watches send one event and then nothing. */
async function serveQuietWatch(): Promise<number> {
  const server = createHttpServer({
    handle: async () => ({
      status: 200,
      headers: {},
      body: { open: (sink) => (sink.write(Buffer.from('{"type":"ADDED","object":{}}\n')), () => {}) },
    }),
    authenticator: createAuthenticator({ clusterPrefix: "example.com:cluster:", anonymous: true }),
    tls: serving,
    log: silentLog,
  });
  closing.push(() => server.close());
  return (await server.listen(0)).port;
}

test("a server is trusted whose own certificate is the configured authority", async () => {
  const server = https.createServer({ cert: serving.certificate, key: serving.key }, (_, response) =>
    response.end(JSON.stringify({ kind: "Pod" })),
  );
  const port = await listen(server);
  closing.push(async () => server.closeAllConnections());

  expect(await getPod(connect(port, { ca: serving.certificate }))).toEqual({ kind: "Pod" });
  await expect(getPod(connect(port, { ca: untrustedAuthority.certificate }))).rejects.toThrow("certificate");
});

test("supports a server that speaks only HTTP/1.1", async () => {
  const versions: string[] = [];
  const server = https.createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    versions.push(request.httpVersion);
    response.end(JSON.stringify({ method: request.method }));
  });
  const port = await listen(server);
  closing.push(async () => server.closeAllConnections());
  const transport = connect(port);

  const answers = [await getPod(transport), await transport.send({ verb: "create", path: pod, body: {} })];

  expect(answers).toEqual([{ method: "GET" }, { method: "POST" }]);
  expect(versions).toEqual(["1.1", "1.1"]);
});

describe("trust", () => {
  const cases: Record<string, { options: () => Partial<Http2TransportOptions>; want: RegExp }> = {
    "the error explains an unknown authority": {
      options: () => ({ ca: untrustedAuthority.certificate }),
      want: /untrusted CA; set certificate-authority-data/,
    },
    "the error explains a certificate for another name": {
      options: () => ({ serverName: "oslo.example" }),
      want: /is for another name; use a name that it contains, or set tls-server-name/,
    },
  };
  for (const [behaviour, { options, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const port = await serveQuietWatch();

      await expect(getPod(connect(port, options()))).rejects.toThrow(want);
    });
  }

  test("a server with another TLS server name is trusted under that name", async () => {
    const port = await serveQuietWatch();

    const answer = await connect(port, { serverName: "localhost" }).raw({ cluster: "oslo", method: "HEAD", path: "/" });

    expect(answer.status).toBe(200);
  });

  test("the error explains a port without TLS", async () => {
    const port = await listen(
      net.createServer(
        (socket) =>
          void socket
            .on("error", () => {})
            .resume()
            .end("HTTP/1.1 400 Bad Request\r\n\r\n"),
      ),
    );

    await expect(getPod(connect(port))).rejects.toThrow(/does not use TLS/);
  });
});

test("after a failed connection requests fail immediately until the backoff has passed", async () => {
  let attempts = 0;
  const port = await listen(
    net.createServer((socket) => {
      attempts++;
      socket.on("error", () => {}).destroy();
    }),
  );
  const clock = createFakeClock();
  const transport = connect(port, { clock });

  await expect(getPod(transport)).rejects.toMatchObject({ code: "Unreachable" });
  const afterFirst = attempts;
  for (let request = 0; request < 20; request++)
    await expect(getPod(transport)).rejects.toMatchObject({ code: "Unreachable" });
  const duringBackOff = attempts - afterFirst;
  clock.advance(2000);
  await expect(getPod(transport)).rejects.toMatchObject({ code: "Unreachable" });

  expect(duringBackOff).toBe(0);
  expect(attempts).toBeGreaterThan(afterFirst);
});

test("a server that stops responding is disconnected, and its watch ends with an error", async () => {
  const upstream = await serveQuietWatch();
  const sockets: net.Socket[] = [];
  const proxy = net.createServer((socket) => {
    const onward = net.connect(upstream, "127.0.0.1");
    sockets.push(
      socket.on("error", () => {}),
      onward.on("error", () => {}),
    );
    socket.pipe(onward).pipe(socket);
  });
  const port = await listen(proxy);
  closing.push(async () => sockets.forEach((socket) => socket.destroy()));
  const clock = createFakeClock();
  const watch = connect(port, { clock }).watch({ path: pod }, new AbortController().signal)[Symbol.asyncIterator]();
  await watch.next();
  const next = watch.next();

  for (const socket of sockets) socket.unpipe().pause();
  clock.advance(30_000);
  clock.advance(15_000);

  await expect(next).rejects.toThrow(/stopped answering pings; the connection was closed/);
});
