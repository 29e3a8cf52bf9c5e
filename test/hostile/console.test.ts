/**
 * The web UI's server against other pages in the same browser, other programs on the same machine, and what members and
 * workloads answer. The hub behind it is a stand-in that answers every request with a page.
 */
import { request as httpRequest } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import type { HubConnection } from "@flotilla/cli";
import { createConsole } from "../../packages/server/src/console/console.ts";
import { serveConsole } from "../../packages/server/src/console/serve-console.ts";
import type { ServedConsole } from "../../packages/server/src/console/serve-console.ts";

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

const PAGE = "<script>alert(document.cookie)</script>";
const KEY = "AAAAAAAAAAAAAAAAAAAAAA==";

let clock: FakeClock;
let served: ServedConsole;
/** The paths that reached the hub. */
let asked: string[];
beforeEach(async () => {
  clock = createFakeClock();
  asked = [];
  const client = {
    async raw({ path }: { path: string }) {
      asked.push(path);
      const isReview = path.endsWith("/selfsubjectreviews");
      const text = isReview ? JSON.stringify({ status: { userInfo: { username: "admin", groups: [] } } }) : PAGE;
      return {
        status: isReview ? 201 : 200,
        headers: { "content-type": isReview ? "application/json" : "text/html", "set-cookie": "a=b" },
        body: (async function* () {
          yield Buffer.from(text);
        })(),
      };
    },
  };
  const connection = {
    client,
    server: "https://hub",
    upgrade: async () => ({}),
    close: async () => {},
  } as unknown as HubConnection;
  const console = createConsole({
    signIn: { connection },
    scheme: "http",
    hosts: new Set(),
    data: "",
    clock,
    random: createSeededRandom(1),
    log: silentLog,
  });
  served = await serveConsole(console, { port: 0, log: silentLog });
});
afterEach(() => served.close());

const origin = (): string => `http://127.0.0.1:${served.port}`;
const code = (): string => new URL(served.link()).hash.slice("#code=".length);

function ask(
  method: string,
  path: string,
  { headers = {}, body = "" }: { headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: "127.0.0.1", port: served.port, method, path, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response
          .on("data", (chunk: Buffer) => chunks.push(chunk))
          .once("error", reject)
          .once("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString(),
            }),
          );
      },
    );
    request.once("error", reject);
    request.end(body);
  });
}

const ours = (): Record<string, string> => ({ origin: origin() });
const signIn = (text = code(), headers = ours()): Promise<Answer> =>
  ask("POST", "/ui/session", { headers, body: JSON.stringify({ code: text }) });

async function session(): Promise<Record<string, string>> {
  const { headers, text } = await signIn();
  const [cookie = ""] = (headers["set-cookie"]?.[0] ?? "").split(";", 1);
  return { ...ours(), cookie, "x-flotilla-csrf": (JSON.parse(text) as { csrf: string }).csrf };
}

describe("the link", () => {
  test("signs in once", async () => {
    const text = code();

    expect((await signIn(text)).status).toBe(201);
    expect((await signIn(text)).status).toBe(401);
  });

  test("signs in within a minute", async () => {
    const text = code();
    clock.advance(61_000);

    expect((await signIn(text)).status).toBe(401);
  });

  test("is not used up by another page", async () => {
    const text = code();

    expect((await signIn(text, { origin: "https://evil.example" })).status).toBe(403);
    expect((await signIn(text)).status).toBe(201);
  });

  test("sets a cookie that scripts, other sites and proxied pages do not get", async () => {
    const { headers } = await signIn();

    expect(headers["set-cookie"]?.[0]).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);
  });
});

describe("a page of another site", () => {
  const foreign: Record<string, (headers: Record<string, string>) => Record<string, string>> = {
    "with its own origin": (headers) => ({ ...headers, origin: "https://evil.example" }),
    "with the origin of another port of this machine": (headers) => ({ ...headers, origin: "http://127.0.0.1:1" }),
    "with an opaque origin": (headers) => ({ ...headers, origin: "null" }),
    "in a request without an origin": ({ cookie = "", ...others }) => ({
      cookie,
      "x-flotilla-csrf": others["x-flotilla-csrf"] ?? "",
      "sec-fetch-site": "same-site",
    }),
    "whose name resolves to this machine": (headers) => ({
      ...headers,
      host: `evil.example:${served.port}`,
      origin: `http://evil.example:${served.port}`,
    }),
  };
  for (const [what, change] of Object.entries(foreign)) {
    test(`${what} reads nothing with the user's cookie`, async () => {
      const headers = change(await session());
      asked.length = 0;

      const answers = [
        await ask("GET", "/ui/session", { headers }),
        await ask("GET", "/ui/api/hub/api/v1/secrets", { headers }),
        await ask("DELETE", "/ui/api/hub/api/v1/namespaces/default", { headers }),
      ];

      expect(answers.map(({ status }) => status >= 401 && status <= 403)).toEqual([true, true, true]);
      expect(answers.some(({ text }) => text.includes('csrf":'))).toBe(false);
      expect(asked).toEqual([]);
    });

    test(`${what} opens neither the stream nor a terminal`, async () => {
      const upgrade = {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": KEY,
      };
      const headers = { ...change(await session()), ...upgrade };
      asked.length = 0;

      const answers = [
        await ask("GET", "/ui/stream", { headers }),
        await ask("GET", "/ui/exec?member=member1&pod=web&command=sh", { headers }),
      ];

      expect(answers.map(({ status }) => status)).toEqual([403, 403]);
      expect(asked).toEqual([]);
    });
  }

  test("cannot write with the cookie alone", async () => {
    const headers = { ...(await session()), "x-flotilla-csrf": "" };
    asked.length = 0;

    expect((await ask("DELETE", "/ui/api/hub/api/v1/namespaces/default", { headers })).status).toBe(403);
    expect(asked).toEqual([]);
  });
});

describe("a program that is not signed in", () => {
  test("gets nothing but the page", async () => {
    const requests = ["/ui/api/hub/api/v1/secrets", "/ui/api/why?type=deployment&name=web", "/ui/session"];
    const statuses: number[] = [];
    for (const path of requests) statuses.push((await ask("GET", path, { headers: ours() })).status);

    expect(statuses).toEqual([401, 401, 401]);
    expect(asked).toEqual([]);
  });

  test("cannot have a large body kept", async () => {
    const body = Buffer.alloc(64 * 1024, "a");

    expect((await ask("POST", "/ui/session", { headers: ours(), body })).status).toBe(413);
    expect((await ask("POST", "/ui/api/plan", { headers: ours(), body })).status).toBe(413);
  });
});

describe("who is signed in", () => {
  test("may send a body as large as an object", async () => {
    const headers = { ...(await session()), "content-type": "application/json" };
    const body = JSON.stringify({ data: "a".repeat(1024 * 1024) });

    expect((await ask("POST", "/ui/api/hub/api/v1/namespaces/default/configmaps", { headers, body })).status).toBe(200);
  });

  test("gets what a workload answers as text, never as a page", async () => {
    const headers = await session();
    const path =
      "/ui/api/hub/apis/cluster.karmada.io/v1alpha1/clusters/member1/proxy/api/v1/namespaces/a/services/web/proxy";
    const { headers: got, text } = await ask("GET", path, { headers });

    expect(text).toBe(PAGE);
    expect(got["content-type"]).toBe("text/plain; charset=utf-8");
    expect(got["content-security-policy"]).toBe("default-src 'none'; sandbox; frame-ancestors 'none'");
    expect(got["x-content-type-options"]).toBe("nosniff");
    expect(got["set-cookie"]).toBeUndefined();
  });

  test("is signed out with the cookie", async () => {
    const headers = await session();
    expect((await ask("DELETE", "/ui/session", { headers })).status).toBe(200);

    expect((await ask("GET", "/ui/session", { headers })).status).toBe(401);
  });
});
