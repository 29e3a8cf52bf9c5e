import { expect, test } from "vitest";
import type { ApiRequest } from "@flotilla/apiserver";
import { silentLog } from "@flotilla/base";
import { createHubConsole } from "./hub-console.ts";

function signIn(token: string, address: string): ApiRequest {
  return {
    method: "POST",
    path: "/ui/session",
    query: new URLSearchParams(),
    headers: { host: "127.0.0.1:6443", origin: "https://127.0.0.1:6443" },
    body: Buffer.from(JSON.stringify({ token })),
    user: { name: "system:anonymous", groups: [] },
    address,
    audit: undefined,
    signal: new AbortController().signal,
  };
}

/** A hub that knows no token. Its console never connects to it. */
function openConsole(knows: (token: string, from: string) => Promise<boolean>) {
  return createHubConsole({
    address: () => {
      throw new Error("a connection was opened");
    },
    url: () => "https://127.0.0.1:6443",
    ca: "",
    hosts: ["127.0.0.1"],
    certificateNames: () => [],
    knows,
    log: silentLog,
  });
}

test("a token that the hub does not know opens no connection", async () => {
  const console = openConsole(async () => false);

  const { status, body } = await console.handle(signIn("wrong", "10.0.0.9"));

  expect([status, Buffer.from(body as Uint8Array).toString()]).toEqual([
    401,
    '{"message":"the hub rejects these credentials: they are wrong or have expired"}',
  ]);
});

test("sign-ins of one address that take long leave room for those of others", async () => {
  const asked: string[] = [];
  const console = openConsole((_token, from) => {
    asked.push(from);
    return from === "10.0.0.9" ? new Promise(() => {}) : Promise.resolve(false);
  });

  for (let at = 0; at < 40; at++) void console.handle(signIn(`slow-${at}`, "10.0.0.9"));
  const { status } = await console.handle(signIn("mine", "10.0.0.1"));

  expect(status).toBe(401);
  expect(asked.filter((from) => from === "10.0.0.9")).toHaveLength(4);
});
