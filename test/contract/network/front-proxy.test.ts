/** Authenticating proxies over TLS: who may name a user in headers, and who may not. */
import { once } from "node:events";
import http2 from "node:http2";
import https from "node:https";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { CertificateAuthority, KeyPair } from "@flotilla/apimachinery";
import { silentLog, systemClock } from "@flotilla/base";
import { createAuthenticator } from "../../../packages/apiserver/src/http/authenticator.ts";
import { createHttpServer } from "../../../packages/apiserver/src/http/server.ts";
import type { HttpServer } from "../../../packages/apiserver/src/http/server.ts";
import type { ApiRequest, ApiResponse } from "../../../packages/apiserver/src/request/request.ts";

let clients: CertificateAuthority;
let proxies: CertificateAuthority;
let serving: KeyPair;
let server: HttpServer;
let port: number;
const settings = {
  allowedNames: ["gate"],
  usernameHeaders: ["X-Remote-User"],
  uidHeaders: ["X-Remote-Uid"],
  groupHeaders: ["X-Remote-Group"],
  extraPrefixes: ["X-Remote-Extra-"],
  reservedGroups: ["system:flotilla"],
};

const whoami = async ({ user }: ApiRequest): Promise<ApiResponse> => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify(user)),
});

const serverOf = (clientCa: string): HttpServer =>
  createHttpServer({
    handle: whoami,
    authenticator: createAuthenticator({
      clusterPrefix: "example.com:cluster:",
      tokens: [{ token: "s3cret", user: "robot" }],
      anonymous: true,
    }),
    tls: { ...serving, clientCa: clients.certificate },
    proxies: { ...settings, clientCa },
    log: silentLog,
  });

beforeAll(async () => {
  clients = await createCertificateAuthority({ clock: systemClock });
  proxies = await createCertificateAuthority({ clock: systemClock });
  serving = await clients.issueServing(["localhost"]);
  server = serverOf(proxies.certificate);
  ({ port } = await server.listen(0));
});
afterAll(() => server.close());

type Headers = Record<string, string | string[]>;

async function ask(from: KeyPair | undefined, headers: Headers, at = port): Promise<{ status: number; body: unknown }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: unknown }>();
  const request = https.request(
    {
      port: at,
      host: "localhost",
      ca: clients.certificate,
      cert: from?.certificate,
      key: from?.key,
      headers,
      agent: false,
      path: "/api",
    },
    (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as unknown }));
    },
  );
  request.on("error", reject).end();
  return promise;
}

const ANN: Headers = { "x-remote-user": "ann" };
const proxy = (commonName = "gate"): Promise<KeyPair> => proxies.issueClient({ commonName, organizations: [] });

test("a proxy names the user, its groups and its other values", async () => {
  const answer = await ask(await proxy(), {
    "X-Remote-User": Buffer.from("zoë").toString("latin1"),
    "X-Remote-Uid": "7",
    "X-Remote-Group": ["shop", "night,shift"],
    "X-Remote-Extra-Example.com%2fScope": ["a", "b"],
  });

  expect(answer).toEqual({
    status: 200,
    body: {
      name: "zoë",
      uid: "7",
      groups: ["shop", "night,shift", "system:authenticated"],
      extra: { "example.com/scope": ["a", "b"] },
    },
  });
});

test("a proxy speaks for its user even when it passes on a token", async () => {
  expect(await ask(await proxy(), { ...ANN, authorization: "Bearer s3cret" })).toMatchObject({ body: { name: "ann" } });
});

describe("headers name no user", () => {
  test("headers name no user of a client with a certificate of the clients' authority", async () => {
    const client = await clients.issueClient({ commonName: "gate", organizations: [] });

    expect(await ask(client, { ...ANN, "x-remote-group": "system:masters" })).toMatchObject({
      body: { name: "gate", groups: ["system:authenticated"] },
    });
  });

  test("headers name no user of a client with a token, or without credentials", async () => {
    expect(await ask(undefined, { ...ANN, authorization: "Bearer s3cret" })).toMatchObject({ body: { name: "robot" } });
    expect(await ask(undefined, ANN)).toMatchObject({ body: { name: "system:anonymous" } });
  });
});

describe("401", () => {
  test("a proxy whose name is not allowed", async () => {
    expect((await ask(await proxy("other"), ANN)).status).toBe(401);
  });

  test("a proxy that names no user: its certificate is not a user, whatever its subject says", async () => {
    const certificate = await proxies.issueClient({ commonName: "admin", organizations: ["system:masters"] });

    expect((await ask(certificate, {})).status).toBe(401);
  });

  test("a user with the group of the server's own controllers", async () => {
    expect((await ask(await proxy(), { ...ANN, "x-remote-group": "system:flotilla" })).status).toBe(401);
  });

  test("a certificate of an unknown authority", async () => {
    const unknown = await createCertificateAuthority({ clock: systemClock });

    expect((await ask(await unknown.issueClient({ commonName: "gate", organizations: [] }), ANN)).status).toBe(401);
  });
});

describe("another authority of proxies", () => {
  test("counts for new connections, and ends those of proxies that it did not sign", async () => {
    const next = await createCertificateAuthority({ clock: systemClock });
    const reloaded = serverOf(proxies.certificate);
    onTestFinished(() => reloaded.close());
    const at = (await reloaded.listen(0)).port;
    const { key, certificate } = await proxy();
    const open = http2.connect(`https://localhost:${at}`, { ca: clients.certificate, key, cert: certificate });
    open.on("error", () => {}); // The server ends it.
    await once(open.request({ ":path": "/api", ...ANN }), "response");
    const ended = once(open, "close");

    reloaded.setProxies({ ...settings, clientCa: next.certificate });

    await ended;
    const nextProxy = await next.issueClient({ commonName: "gate", organizations: [] });
    expect(await ask(nextProxy, ANN, at)).toMatchObject({ body: { name: "ann" } });
    expect((await ask(await proxy(), ANN, at)).status).toBe(401);
  });

  test("is rejected when it is that of clients, and the one before stays", async () => {
    expect(() => server.setProxies({ ...settings, clientCa: clients.certificate })).toThrow(
      "every client could name any user",
    );

    expect(await ask(await proxy(), ANN)).toMatchObject({ body: { name: "ann" } });
  });

  test("keeps the connections of clients", async () => {
    const next = await createCertificateAuthority({ clock: systemClock });
    const reloaded = serverOf(proxies.certificate);
    onTestFinished(() => reloaded.close());
    const at = (await reloaded.listen(0)).port;
    const { key, certificate } = await clients.issueClient({ commonName: "ann", organizations: [] });
    const open = http2.connect(`https://localhost:${at}`, { ca: clients.certificate, key, cert: certificate });
    onTestFinished(() => open.destroy());
    await once(open.request({ ":path": "/api" }), "response");

    reloaded.setProxies({ ...settings, clientCa: next.certificate });

    const stream = open.request({ ":path": "/api" });
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(headers[":status"]).toBe(200);
  });
});

test("the authority of clients is rejected as that of proxies", () => {
  expect(() => serverOf(clients.certificate)).toThrow("every client could name any user");
});
