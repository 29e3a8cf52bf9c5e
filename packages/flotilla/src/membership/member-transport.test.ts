import { expect, test } from "vitest";
import { silentLog } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { createMemberTransport } from "./member-transport.ts";

const PATH = { cluster: "far", group: "", version: "v1", resource: "pods" };
const never = (): AbortSignal => new AbortController().signal;

/** A server that returns its name, and watches that last until they are ended. */
function createServer(name: string): { transport: Transport; isClosed(): boolean } {
  let closed = false;
  return {
    isClosed: () => closed,
    transport: {
      send: async () => ({ name }),
      async *watch(_request, signal) {
        yield [{ type: "ADDED", object: { name } }];
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      },
      raw: async () => ({ status: 200, headers: {}, body: (async function* () {})() }),
      close: async () => {
        closed = true;
      },
    },
  };
}

test("requests use the new server as soon as it is replaced, and the old one is closed", async () => {
  const [first, second] = [createServer("first"), createServer("second")];
  const transport = createMemberTransport(async () => first.transport, silentLog);
  const before = await transport.send({ verb: "get", path: PATH });

  transport.replace(async () => second.transport);

  expect(before).toEqual({ name: "first" });
  expect(await transport.send({ verb: "get", path: PATH })).toEqual({ name: "second" });
  expect(first.isClosed()).toBe(true);
  expect(second.isClosed()).toBe(false);
});

test("a watch ends with its server, and a resumed watch must list again, once", async () => {
  const [first, second] = [createServer("first"), createServer("second")];
  const transport = createMemberTransport(async () => first.transport, silentLog);
  const seen: unknown[] = [];
  const watching = (async () => {
    for await (const events of transport.watch({ path: PATH, query: { resourceVersion: "7" } }, never()))
      seen.push(...events);
  })();
  await transport.send({ verb: "get", path: PATH });

  transport.replace(async () => second.transport);
  await watching;
  const resumed = transport.watch({ path: PATH, query: { resourceVersion: "7" } }, never())[Symbol.asyncIterator]();
  const again = transport.watch({ path: PATH, query: { resourceVersion: "3" } }, never())[Symbol.asyncIterator]();

  expect(seen).toHaveLength(1);
  await expect(resumed.next()).rejects.toMatchObject({ status: { code: 410 } });
  await expect(again.next()).resolves.toMatchObject({ value: [{ object: { name: "second" } }] });
});

test("requests fail with the error of a server that cannot be opened, until another replaces it", async () => {
  const transport = createMemberTransport(async () => {
    throw new UnreachableError("no such host");
  }, silentLog);
  await expect(transport.send({ verb: "get", path: PATH })).rejects.toThrow("no such host");

  transport.replace(async () => createServer("second").transport);

  expect(await transport.send({ verb: "get", path: PATH })).toEqual({ name: "second" });
});
