/** The web UI on the port of a hub: certificates, sign-in by token, and what a session may be used for. */
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { connect } from "node:tls";
import type { TLSSocket } from "node:tls";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { connectionOf, loadKubeconfigs } from "@flotilla/client";
import { apiserver, temporaryDirectory } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

const UI_NAME = "ui.example.test";
const HUB_NAME = "hub.example.test";

const folder = temporaryDirectory();
let hub: Up;
let port: number;
let token: string;
let ca: string;
let uiCa: string;
const file = (name: string): string => join(folder.path, name);

async function writeUiCertificate(): Promise<string> {
  const authority = await createCertificateAuthority({ clock: systemClock, commonName: "a public authority" });
  const { certificate, key } = await authority.issueServing([UI_NAME, HUB_NAME]);
  writeFileSync(file("ui.crt"), certificate);
  writeFileSync(file("ui.key"), key, { mode: 0o600 });
  return authority.certificate;
}

beforeAll(async () => {
  uiCa = await writeUiCertificate();
  const flags = ["--tls-san", HUB_NAME, "--ui-tls-cert", file("ui.crt"), "--ui-tls-key", file("ui.key")];
  hub = await apiserver(file("data"), ...flags);
  const connection = await connectionOf(await loadKubeconfigs([hub.kubeconfig("hub")]), undefined);
  port = Number(connection.server.port);
  ca = connection.ca ?? "";
  token = typeof connection.token === "string" ? connection.token : "";
}, 60_000);
afterAll(async () => {
  await hub.stop("SIGTERM");
  folder.remove();
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

function ask(
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // Without a name Node asks for the certificate of the `host` header.
    const tls = { ca, servername: "localhost" };
    const asked = request({ host: "127.0.0.1", port, ...tls, method, path, headers }, (response) => {
      text(response).then(
        (read) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read }),
        reject,
      );
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

const origin = (): Record<string, string> => ({ origin: `https://127.0.0.1:${port}` });
const json = (given: object): string => JSON.stringify(given);

/** The headers of a new session. */
async function signIn(): Promise<Record<string, string>> {
  const { status, headers, body } = await ask("POST", "/ui/session", { headers: origin(), body: json({ token }) });
  expect(status, body).toBe(201);
  const { csrf } = JSON.parse(body) as { csrf: string };
  const [cookie = ""] = (headers["set-cookie"]?.[0] ?? "").split(";", 1);
  return { ...origin(), cookie, "x-flotilla-csrf": csrf };
}

test("the page is served without credentials, and the API is not", async () => {
  const page = await ask("GET", "/ui/");
  const api = await ask("GET", "/api/v1/namespaces");
  const ofCluster = await ask("GET", "/clusters/hub/ui/");

  expect(page.status).toBe(200);
  expect(page.headers["content-security-policy"]).toContain("require-trusted-types-for 'script'");
  expect(page.body).toContain("<script");
  expect([api.status, ofCluster.status]).toEqual([401, 401]);
});

test("a token of the hub signs in as its user, and a wrong one does not", async () => {
  const session = await signIn();

  const own = await ask("GET", "/ui/session", { headers: session });
  const wrong = await ask("POST", "/ui/session", { headers: origin(), body: json({ token: `${token}x` }) });

  expect(JSON.parse(own.body)).toMatchObject({
    user: expect.any(String) as string,
    groups: expect.arrayContaining(["system:masters"]) as string[],
    server: `https://127.0.0.1:${port}`,
  });
  expect(own.body).not.toContain(token);
  expect(wrong).toMatchObject({ status: 401, body: expect.stringContaining("rejects these credentials") as string });
  expect(wrong.headers["set-cookie"]).toBeUndefined();
});

test("a session is worth nothing on the API, from another origin, under another host name, and after sign-out", async () => {
  const session = await signIn();

  const before = await ask("GET", "/ui/api/search?q=web", { headers: session });
  const api = await ask("GET", "/api/v1/namespaces", { headers: session });
  const elsewhere = await ask("POST", "/ui/session", {
    headers: { ...session, origin: "https://evil.test" },
    body: json({ token }),
  });
  const rebound = await ask("GET", "/ui/", { headers: { host: `evil.test:${port}` } });
  const left = await ask("DELETE", "/ui/session", { headers: session });
  const after = await ask("GET", "/ui/api/search?q=web", { headers: session });

  expect([before, api, elsewhere, rebound, left, after].map(({ status }) => status)).toEqual([
    200, 401, 403, 403, 200, 401,
  ]);
});

test("clients that are not signed in send a token at most", async () => {
  const large = json({ token: "x".repeat(20_000) });

  expect((await ask("POST", "/ui/session", { headers: origin(), body: large })).status).toBe(413);
});

test("the stream of the page opens on the port of the hub", async () => {
  const session = await signIn();
  const headers = {
    ...session,
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  const upgraded = (given: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port, ca, path: "/ui/stream", headers: given });
      asked.on("upgrade", ({ statusCode = 0 }, socket) => {
        socket.destroy();
        resolve(statusCode);
      });
      asked.on("response", ({ statusCode = 0 }) => resolve(statusCode));
      asked.on("error", reject);
      asked.end();
    });

  expect(await upgraded(headers)).toBe(101);
  expect(await upgraded({ ...headers, origin: "https://evil.test" })).toBe(403);
});

/** What a client sees that asks for this name. */
function presented(servername: string): Promise<TLSSocket["authorizationError"]> {
  return new Promise((resolve, reject) => {
    const trusted = servername === UI_NAME ? uiCa : ca;
    const socket = connect({ host: "127.0.0.1", port, servername, ca: trusted, rejectUnauthorized: false }, () => {
      resolve(socket.authorizationError);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test("browsers get the certificate of --ui-tls-cert by its name, and clients of the API that of the hub", async () => {
  const before = await Promise.all([UI_NAME, HUB_NAME, "localhost"].map(presented));
  const known = await ask("GET", "/ui/", { headers: { host: `${UI_NAME}:${port}` } });

  expect(before).toEqual([null, null, null]);
  expect(known.status).toBe(200);
  expect(readFileSync(file("data/flotilla.log"), "utf8")).not.toContain(token);
});
