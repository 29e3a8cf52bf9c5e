/** How many pages may be open, and what happens to them when their session ends. */
import { duplexPair } from "node:stream";
import { beforeEach, expect, test } from "vitest";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import type { HubConnection } from "@flotilla/cli";
import type { ApiResponse } from "@flotilla/apiserver";
import { createConsole } from "./console.ts";
import type { Console, ConsoleRequest } from "./console.ts";
import { createTestHub } from "./test-hub.ts";
import type { TestHub } from "./test-hub.ts";

const ORIGIN = "http://127.0.0.1:8080";
const MAX_OF_SESSION = 50;
const MAX_OF_ALL = 500;

let hub: TestHub;
let console: Console;
let failures: number;
beforeEach(() => {
  failures = 0;
  hub = createTestHub();
  hub.answer("/apis/authentication.k8s.io/v1/selfsubjectreviews", { status: { userInfo: { username: "ann" } } }, 201);
  console = createConsole({
    signIn: { connection: connectionTo(hub) },
    scheme: "http",
    hosts: new Set(),
    data: "",
    clock: createFakeClock(),
    random: createSeededRandom(1),
    log: { ...silentLog, error: () => void (failures += 1) },
  });
  return () => console.close();
});

/** Members never answer a request for a terminal. */
const connectionTo = ({ client }: TestHub): HubConnection => ({
  client,
  server: "https://hub",
  upgrade: (_request, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("ended")))),
  close: async () => {},
});

const ask = (method: string, path: string, more: Partial<ConsoleRequest> = {}): Promise<ApiResponse> =>
  console.handle({
    method,
    path,
    query: new URLSearchParams({ member: "oslo", namespace: "shop", pod: "web-1", container: "app", command: "sh" }),
    body: new Uint8Array(),
    canUpgrade: false,
    signal: new AbortController().signal,
    ...more,
    headers: { host: "127.0.0.1:8080", origin: ORIGIN, ...more.headers },
  });

/** The headers of a new session. */
async function signIn(): Promise<Record<string, string>> {
  const body = Buffer.from(JSON.stringify({ code: console.issueCode() }));
  const { headers, body: answer } = await ask("POST", "/ui/session", { body });
  const { csrf } = JSON.parse(Buffer.from(answer as Uint8Array).toString("utf8")) as { csrf: string };
  return { cookie: String(headers["set-cookie"]).split(";", 1)[0] ?? "", "x-flotilla-csrf": csrf };
}

/** The status of the answer, and the page's side of an accepted connection. */
async function openPage(session: Record<string, string>, path = "/ui/stream") {
  const headers = { ...session, "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==" };
  const { status, upgrade } = await ask("GET", path, { headers, canUpgrade: true });
  const [near, far] = duplexPair();
  const stop = upgrade?.(near, Buffer.alloc(0));
  near.once("close", () => stop?.());
  far.resume();
  return { status, far };
}
async function openPages(count: number, session: Record<string, string>, path?: string) {
  const pages: Awaited<ReturnType<typeof openPage>>[] = [];
  for (let page = 0; page < count; page++) pages.push(await openPage(session, path));
  return pages;
}

test.each(["/ui/stream", "/ui/exec"])(
  "a session has a limited number of open %s, also while members do not answer",
  async (path) => {
    const session = await signIn();

    const pages = await openPages(MAX_OF_SESSION + 5, session, path);

    expect(pages.filter(({ status }) => status === 101)).toHaveLength(MAX_OF_SESSION);
    expect(pages.filter(({ status }) => status === 429)).toHaveLength(5);
  },
);

test("the text of an error that is not expected is not sent", async () => {
  const body = Buffer.from(JSON.stringify({ code: console.issueCode() }));
  hub.client.raw = () => Promise.reject(new TypeError("cannot read /secret/path"));

  const { status, body: answer } = await ask("POST", "/ui/session", { body });

  expect(status).toBe(500);
  expect(Buffer.from(answer as Uint8Array).toString("utf8")).not.toContain("secret");
});

test("a client that has gone is not logged as a failure, and a request of a session that ends is answered as such", async () => {
  const session = await signIn();
  const [gone, waiting] = [new AbortController(), new AbortController()];
  hub.client.raw = (_request, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
  const left = ask("GET", "/ui/api/hub/api/v1/pods", { headers: session, signal: gone.signal });
  const ended = ask("GET", "/ui/api/hub/api/v1/pods", { headers: session, signal: waiting.signal });

  gone.abort();
  await left;
  await ask("DELETE", "/ui/session", { headers: session });

  expect(failures).toBe(0);
  expect((await ended).status).toBe(401);
  expect(Buffer.from((await ended).body as Uint8Array).toString("utf8")).toContain("you signed out");
});

test("all sessions together have a limited number of pages", async () => {
  const statuses: number[] = [];
  for (let each = 0; each < MAX_OF_ALL / MAX_OF_SESSION + 1; each++) {
    const session = await signIn();
    statuses.push(...(await openPages(MAX_OF_SESSION, session)).map(({ status }) => status));
  }

  expect(statuses.filter((status) => status === 101)).toHaveLength(MAX_OF_ALL);
});

test("a page that is closed makes room for another", async () => {
  const session = await signIn();
  const [first] = await openPages(MAX_OF_SESSION, session);
  await hub.settle();

  first?.far.end();
  await hub.settle();

  expect((await openPage(session)).status).toBe(101);
});

test("pages of a session that signs out are closed, and others stay", async () => {
  const [session, other] = [await signIn(), await signIn()];
  const [page, kept] = [await openPage(session), await openPage(other)];
  await hub.settle();

  await ask("DELETE", "/ui/session", { headers: session });
  await hub.settle();

  expect([page.far.readableEnded || page.far.destroyed, kept.far.readableEnded || kept.far.destroyed]).toEqual([
    true,
    false,
  ]);
  expect((await openPage(session)).status).toBe(401);
});
