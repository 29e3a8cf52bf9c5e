/** Servers that send too much to a client that does not trust them. What they send is counted, not the memory. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createHttp2Transport, ResponseLimitError, UNTRUSTED_LIMITS, UnreachableError } from "@flotilla/client";
import type { ResponseLimits, Transport } from "@flotilla/client";

const PATH = { cluster: "far", group: "", version: "v1", resource: "configmaps", namespace: "app" };
const MIB = 1024 * 1024;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Answer = (response: http.ServerResponse) => void;

async function connect(answer: Answer, limits: Partial<ResponseLimits> = {}): Promise<Transport> {
  const server = http.createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const transport = createHttp2Transport({
    server: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    cluster: { only: "far" },
    limits: { ...UNTRUSTED_LIMITS, ...limits },
  });
  closing.push(() => transport.close());
  return transport;
}

/** Sends pieces for as long as the client reads them, and counts their bytes. */
function endless(head: string, piece: string, status = 200): { answer: Answer; sent: () => number } {
  let sent = 0;
  return {
    sent: () => sent,
    answer(response) {
      response.writeHead(status, { "content-type": "application/json" }).write(head);
      const more = (): void => {
        while (!response.destroyed) {
          sent += piece.length;
          if (!response.write(piece)) return;
        }
      };
      response.on("drain", more);
      more();
    },
  };
}

const get = (transport: Transport): Promise<unknown> => transport.send({ verb: "get", path: { ...PATH, name: "c0" } });
const list = (transport: Transport): Promise<unknown> =>
  transport.send({ verb: "list", path: PATH, query: { limit: "500" } });
async function watch(transport: Transport): Promise<number> {
  let count = 0;
  for await (const events of transport.watch({ path: PATH }, new AbortController().signal)) count += events.length;
  return count;
}

/** A socket and the peer buffer some of it. */
const BUFFERED = 16 * MIB;
const EMPTY_OBJECTS = "{},".repeat(20_000);
const cases: Record<
  string,
  { head: string; piece: string; ask(transport: Transport): Promise<unknown>; most: number }
> = {
  "an endless object": { head: '{"x":[', piece: EMPTY_OBJECTS, ask: get, most: 4 * MIB },
  "an endless page of a list": { head: '{"items":[', piece: EMPTY_OBJECTS, ask: list, most: 32 * MIB },
  "an endless watch event": {
    head: '{"type":"ADDED","object":{"x":[',
    piece: EMPTY_OBJECTS,
    ask: watch,
    most: 4 * MIB,
  },
};
for (const [what, { head, piece, ask, most }] of Object.entries(cases)) {
  test(`${what} is read up to its limit`, async () => {
    const { answer, sent } = endless(head, piece);
    const transport = await connect(answer);

    await expect(ask(transport)).rejects.toBeInstanceOf(ResponseLimitError);

    expect(sent()).toBeLessThan(most + BUFFERED);
  });
}

test("an object within the bytes, but with more values than any real object has, is not parsed", async () => {
  const transport = await connect((response) => void response.end(`{"x":[${"{},".repeat(1_000_000)}{}]}`));

  await expect(get(transport)).rejects.toThrow("the response has more than 100000 values");
});

test("an endless error response is read up to its limit", async () => {
  const { answer, sent } = endless("", "x".repeat(MIB / 16), 500);
  const transport = await connect(answer);

  await expect(get(transport)).rejects.toBeInstanceOf(ResponseLimitError);

  expect(sent()).toBeLessThan(MIB + BUFFERED);
});

test("huge headers are rejected", async () => {
  const transport = await connect((response) => void response.writeHead(200, { big: "x".repeat(MIB) }).end("{}"));

  await expect(get(transport)).rejects.toBeInstanceOf(UnreachableError);
});

describe("incomplete responses of one server", () => {
  test("are limited together, and the limit is free again afterwards", async () => {
    let isHostile = true;
    const transport = await connect(
      (response) => {
        if (isHostile) response.write(`{"x":"${"x".repeat(MIB)}`);
        else response.end('{"metadata":{"name":"c0"}}');
      },
      { bufferedBytes: 5 * MIB },
    );

    const first = await Promise.race(Array.from({ length: 8 }, () => get(transport).catch((error: unknown) => error)));
    isHostile = false;
    const after = await get(transport);

    expect(String(first)).toContain("have more than 5242880 bytes together");
    expect(after).toEqual({ metadata: { name: "c0" } });
  });
});
