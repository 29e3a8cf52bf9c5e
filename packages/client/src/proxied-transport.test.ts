import { describe, expect, test } from "vitest";
import { ApiError } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { UnreachableError } from "./errors.ts";
import { createProxiedTransport } from "./proxied-transport.ts";
import type { RawRequest, Transport, TransportWatchEvent } from "./transport.ts";

const path = { cluster: "oslo", group: "apps", version: "v1", resource: "deployments", namespace: "shop" };
const EVENT = '{"type":"ADDED","object":{"metadata":{"name":"web"}}}\n';

interface Proxied {
  transport: Transport;
  requests: RawRequest[];
  watches(): number;
}

/** `answer` is the body; without an end, it stays open until the request is aborted. */
function proxied(status: number, answer: string[], { clock = createFakeClock(), ends = true } = {}): Proxied {
  const requests: RawRequest[] = [];
  let watches = 0;
  const transport = createProxiedTransport({
    through: {
      async raw(request, signal) {
        requests.push(request);
        return { status, headers: {}, body: bodyOf(answer, ends, signal) };
      },
    },
    cluster: "hub",
    prefix: "/proxy",
    clock,
    random: createSeededRandom(1),
    onWatch: () => (watches += 1),
  });
  return { transport, requests, watches: () => watches };
}

async function* bodyOf(parts: string[], ends: boolean, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
  if (!ends)
    await new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
}

async function watch({ transport }: Proxied, signal = new AbortController().signal): Promise<TransportWatchEvent[]> {
  const events: TransportWatchEvent[] = [];
  for await (const batch of transport.watch({ path, query: { labelSelector: "app=web" } }, signal))
    events.push(...batch);
  return events;
}

describe("a transport through a path of another API server", () => {
  test("sends a list below that path", async () => {
    const { transport, requests } = proxied(200, ['{"items":[]}']);

    expect(await transport.send({ verb: "list", path, query: { limit: "5" } })).toEqual({ items: [] });
    expect(requests).toEqual([
      {
        method: "GET",
        path: "/proxy/apis/apps/v1/namespaces/shop/deployments?limit=5",
        cluster: "hub",
        headers: { accept: "application/json" },
      },
    ]);
  });

  test("rejects a list with the server's Status", async () => {
    const { transport } = proxied(403, ['{"kind":"Status","status":"Failure","message":"forbidden","code":403}']);

    await expect(transport.send({ verb: "list", path })).rejects.toThrow("forbidden");
  });

  test("writes nothing", async () => {
    const { transport, requests } = proxied(200, ["{}"]);

    await expect(transport.send({ verb: "create", path, body: {} })).rejects.toBeInstanceOf(ApiError);
    expect(requests).toEqual([]);
  });

  test("watches with a time limit, and reports that the watch was accepted", async () => {
    const all = proxied(200, [EVENT.slice(0, 20), EVENT.slice(20)]);

    expect(await watch(all)).toEqual([{ type: "ADDED", object: { metadata: { name: "web" } } }]);
    expect(all.watches()).toBe(1);
    expect(all.requests[0]?.path).toMatch(
      /^\/proxy\/apis\/apps\/v1\/namespaces\/shop\/deployments\?labelSelector=app%3Dweb&timeoutSeconds=\d+&watch=true$/,
    );
  });

  const failures: Record<string, { status: number; answer: string; error: unknown }> = {
    "a watch that is rejected": { status: 403, answer: "no", error: ApiError },
    "a watch that ends inside an event": { status: 200, answer: '{"type":', error: UnreachableError },
  };
  for (const [what, { status, answer, error }] of Object.entries(failures)) {
    test(`fails for ${what}`, async () => {
      await expect(watch(proxied(status, [answer]))).rejects.toBeInstanceOf(error);
    });
  }

  const silentFor = async (clock: FakeClock, all: Proxied, signal?: AbortSignal): Promise<TransportWatchEvent[]> => {
    const watching = watch(all, signal);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(700_000);
    return watching;
  };

  test("fails for a watch that the server neither serves nor ends", async () => {
    const clock = createFakeClock();

    await expect(silentFor(clock, proxied(200, [EVENT], { clock, ends: false }))).rejects.toBeInstanceOf(
      UnreachableError,
    );
    expect(clock.nextDue()).toBeUndefined();
  });

  test("ends a watch quietly that its reader stops", async () => {
    const stop = new AbortController();
    const watching = watch(proxied(200, [EVENT], { ends: false }), stop.signal);
    await new Promise((resolve) => setImmediate(resolve));

    stop.abort();

    expect(await watching).toHaveLength(1);
  });
});
