import { describe, expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import type { ConnectRequest, ConnectResponse } from "@flotilla/apimachinery";
import { createFakeClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createAllClustersProxy } from "./all-clusters-proxy.ts";

const signal = new AbortController().signal;

type Answer = { status: number; body?: JsonObject } | "broken" | "hangs" | "endless";

function clusterOf(name: string, isReady: boolean): Cluster {
  const conditions = [
    {
      type: "Ready",
      status: isReady ? "True" : "False",
      reason: "Test",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ] as const;
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push" },
    status: { conditions: [...conditions] },
  };
}

const podList = (...names: string[]): JsonObject => ({
  apiVersion: "v1",
  kind: "PodList",
  metadata: { resourceVersion: "7", continue: "more" },
  items: names.map((name) => ({ metadata: { name } })),
});

/** Members by name with their answers; those in `away` are not ready. */
function createProxy(
  answers: Record<string, Answer>,
  away: readonly string[] = [],
): {
  ask(more: Partial<ConnectRequest> & { url: string }): Promise<ConnectResponse>;
  sent: ConnectRequest[];
  clock: ReturnType<typeof createFakeClock>;
} {
  const sent: ConnectRequest[] = [];
  const clock = createFakeClock();
  const proxy = createAllClustersProxy({
    clusters: () => Object.keys(answers).map((name) => clusterOf(name, !away.includes(name))),
    async ask(request, until) {
      sent.push(request);
      const answer = answers[request.name];
      if (answer === "broken") throw new Error('no "route"\nto it');
      if (answer === "endless") return { status: 200, headers: {}, body: endless() };
      if (answer === "hangs" || answer === undefined)
        return new Promise((_, reject) => until.addEventListener("abort", () => reject(until.reason as Error)));
      return {
        status: answer.status,
        headers: { "content-type": "application/json" },
        body: Buffer.from(JSON.stringify(answer.body ?? {})),
      };
    },
    askHub: async ({ rawPath }) => ({ status: 200, headers: {}, body: Buffer.from(`hub ${rawPath}`) }),
    clock,
  });
  const ask = ({ url, ...more }: Partial<ConnectRequest> & { url: string }): Promise<ConnectResponse> => {
    const [rawPath = "", query] = url.split("?");
    return proxy(
      {
        cluster: "hub",
        name: "*",
        method: "GET",
        path: rawPath,
        rawPath,
        query: new URLSearchParams(query),
        headers: { accept: "application/json;as=Table", cookie: "a" },
        user: { name: "ann", groups: [] },
        ...more,
      },
      signal,
    );
  };
  return { ask, sent, clock };
}

async function* endless(): AsyncGenerator<Uint8Array> {
  for (const chunk = Buffer.alloc(1024 * 1024); ;) yield chunk;
}

async function textOf({ body }: ConnectResponse): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
const FOUND: Answer = { status: 200, body: { kind: "Pod" } };
const ABSENT: Answer = { status: 404 };

describe("a list over all clusters", () => {
  test("merges the lists of all clusters, ordered by cluster name", async () => {
    const { ask } = createProxy({
      paris: { status: 200, body: podList("c") },
      bonn: { status: 200, body: podList() },
      oslo: { status: 200, body: podList("a", "b") },
      rome: { status: 200, body: podList() },
    });

    const answer = await ask({ url: "api/v1/pods" });

    expect(JSON.parse(await textOf(answer))).toEqual({
      apiVersion: "v1",
      kind: "PodList",
      metadata: { resourceVersion: "" },
      items: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }, { metadata: { name: "c" } }],
    });
    expect(answer.headers).not.toHaveProperty("warning");
  });

  test("requests complete JSON lists with the request's selectors, as the caller", async () => {
    const { ask, sent } = createProxy({ oslo: { status: 200, body: podList() } });

    await ask({ url: "api/v1/pods?labelSelector=app&limit=500&resourceVersion=7" });

    expect(sent).toMatchObject([
      {
        name: "oslo",
        method: "GET",
        rawPath: "api/v1/pods",
        headers: { accept: "application/json" },
        user: { name: "ann" },
      },
    ]);
    expect(sent[0]?.query.toString()).toBe("labelSelector=app");
  });

  test("omits clusters that are unreachable, reject the request or return something else, and adds a warning", async () => {
    const { ask, sent } = createProxy(
      { oslo: { status: 200, body: podList("a") }, bonn: "broken", rome: FOUND, away: FOUND, shut: { status: 403 } },
      ["away"],
    );

    const answer = await ask({ url: "api/v1/pods" });

    expect((JSON.parse(await textOf(answer)) as { items: unknown[] }).items).toHaveLength(1);
    expect(answer.headers["warning"]).toBe(
      '299 - "no answer from: away (it is not ready), bonn (no \\"route\\" to it), rome (it did not return a list), shut (it answered 403)"',
    );
    expect(sent.map(({ name }) => name)).not.toContain("away");
  });

  test("does not wait for a hanging member", async () => {
    const { ask, clock } = createProxy({ oslo: { status: 200, body: podList("a") }, rome: "hangs" });

    const asking = ask({ url: "api/v1/pods" });
    clock.advance(10_000);

    expect((await asking).headers["warning"]).toContain("rome (it did not answer within 10 s)");
  });

  test("names only some of many missing clusters", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `c${String(index).padStart(2, "0")}`);
    const { ask, sent } = createProxy(
      { oslo: { status: 200, body: podList() }, ...Object.fromEntries(names.map((name) => [name, "broken" as const])) },
      names,
    );

    const answer = await ask({ url: "api/v1/pods" });

    expect(answer.headers["warning"]).toMatch(/c08 \(it is not ready\), c09 \(it is not ready\) and 90 more"$/);
    expect(sent).toHaveLength(1);
  });

  test("stops at the size limit and queries no further clusters", async () => {
    const { ask, sent } = createProxy(
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`c${index}`, "endless" as const])),
    );

    await expect(ask({ url: "api/v1/pods" })).rejects.toMatchObject({ status: { code: 413 } });
    expect(sent.length).toBeLessThan(50);
  });

  const refusals: Record<
    string,
    { answers: Record<string, Answer>; url: string; method?: string; code: number; message: string }
  > = {
    "returns 503 when no cluster answers": {
      answers: { oslo: "broken" },
      url: "api/v1/pods",
      code: 503,
      message: "oslo (no",
    },
    "returns 404 when no cluster serves the resource": {
      answers: { oslo: ABSENT, rome: "broken" },
      url: "api/v1/pods",
      code: 404,
      message: "could not find the requested resource",
    },
    "returns 404 when there is no cluster": {
      answers: {},
      url: "api/v1/pods",
      code: 404,
      message: "could not find the requested resource",
    },
    "rejects continue tokens": {
      answers: { oslo: FOUND },
      url: "api/v1/pods?continue=x",
      code: 400,
      message: "are not paged: continue is not supported",
    },
    "rejects watches": {
      answers: { oslo: FOUND },
      url: "api/v1/pods?watch=true",
      code: 405,
      message: "watch is not supported for all clusters at once",
    },
    "rejects writes": {
      answers: { oslo: FOUND },
      url: "api/v1/namespaces/shop/pods",
      method: "POST",
      code: 405,
      message: "POST is not supported for all clusters at once",
    },
    "rejects deletes": {
      answers: { oslo: FOUND },
      url: "api/v1/namespaces/shop/pods",
      method: "DELETE",
      code: 405,
      message: "DELETE is not supported for all clusters at once",
    },
  };
  for (const [behaviour, { answers, url, method = "GET", code, message }] of Object.entries(refusals)) {
    test(behaviour, async () => {
      const asking = createProxy(answers).ask({ url, method });

      await expect(asking).rejects.toMatchObject({
        status: { code, message: expect.stringContaining(message) as string },
      });
    });
  }
});

describe("an object in any cluster", () => {
  test("is requested from its cluster, with the full original request", async () => {
    const { ask, sent } = createProxy({ oslo: ABSENT, paris: FOUND });

    const answer = await ask({
      url: "api/v1/namespaces/shop/pods/box/exec?command=ls",
      method: "POST",
      body: Buffer.from("x"),
      upgrade: "websocket",
    });

    expect(answer.status).toBe(200);
    expect(sent.slice(0, 2)).toMatchObject([
      { name: "oslo", method: "GET", rawPath: "api/v1/namespaces/shop/pods/box" },
      { name: "paris", method: "GET" },
    ]);
    expect(sent.slice(0, 2).some((request) => "upgrade" in request || "body" in request)).toBe(false);
    expect(sent[2]).toMatchObject({
      name: "paris",
      method: "POST",
      rawPath: "api/v1/namespaces/shop/pods/box/exec",
      upgrade: "websocket",
      body: Buffer.from("x"),
      headers: { cookie: "a" },
    });
  });

  test("can be watched", async () => {
    const { ask, sent } = createProxy({ oslo: FOUND });

    await ask({ url: "api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dbox&watch=true" });

    expect(sent.map(({ rawPath, query }) => `${rawPath}?${query.toString()}`)).toEqual([
      "api/v1/namespaces/shop/pods/box?",
      "api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dbox&watch=true",
    ]);
  });

  test("is found although a cluster is unreachable, with a warning", async () => {
    const answer = await createProxy({ oslo: "broken", paris: FOUND }).ask({ url: "api/v1/namespaces/shop/pods/box" });

    expect(answer.headers["warning"]).toContain("oslo");
  });

  const refusals: Record<string, { answers: Record<string, Answer>; code: number; message: string }> = {
    "returns 404 when no cluster has it": {
      answers: { oslo: ABSENT, paris: { status: 403 } },
      code: 404,
      message: 'pods "box" not found',
    },
    "returns a conflict when several clusters have it": {
      answers: { oslo: FOUND, rome: ABSENT, paris: FOUND },
      code: 409,
      message: "conflict resource, exist in more than one cluster: oslo,paris",
    },
    "returns 503 when no cluster answers": { answers: { oslo: "broken" }, code: 503, message: "oslo" },
  };
  for (const [behaviour, { answers, code, message }] of Object.entries(refusals)) {
    test(behaviour, async () => {
      const asking = createProxy(answers).ask({ url: "api/v1/namespaces/shop/pods/box" });

      await expect(asking).rejects.toMatchObject({
        status: { code, message: expect.stringContaining(message) as string },
      });
    });
  }
});

test("the hub answers requests that are not about objects", async () => {
  const { ask, sent } = createProxy({ oslo: FOUND });

  expect(await textOf(await ask({ url: "apis/apps/v1" }))).toBe("hub apis/apps/v1");
  expect(sent).toEqual([]);
});
