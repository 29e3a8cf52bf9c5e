import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { FlowSchema, PriorityLevelConfiguration, ResourceQuota } from "@flotilla/kubernetes";
import { createTestServer, makeConfigMap, makeDefinition, PROFILE } from "../test-server.ts";
import type { TestServer, TestServerOptions } from "../test-server.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const SHOP = "/api/v1/namespaces/shop/configmaps";
const shop = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: { junk: 1 } };

interface Response {
  status: number;
  body: JsonObject;
  warnings?: string[];
}
const post = (path: string, body: JsonObject): JsonObject => ({ method: "POST", path, body: JSON.stringify(body) });
const get = (path: string): JsonObject => ({ method: "GET", path });
const merge = (path: string, body: JsonObject): JsonObject => ({
  method: "PATCH",
  path,
  contentType: "application/merge-patch+json",
  body: JSON.stringify(body),
});

async function serve(
  options?: TestServerOptions,
): Promise<TestServer & { dryRun(...requests: JsonObject[]): Promise<Response[]> }> {
  const server = await createTestServer(options);
  return {
    ...server,
    async dryRun(...requests) {
      const { status, body } = await server.request("POST", "/dry-run", { requests });
      expect(status, JSON.stringify(body)).toBe(200);
      return body.responses as unknown as Response[];
    },
  };
}
const codes = (responses: readonly Response[]): number[] => responses.map(({ status }) => status);

describe("a dry run of several requests", () => {
  test("stores nothing, and each request sees the results of those before", async () => {
    const { dryRun, request, server } = await serve();
    const before = server.writes.total();

    const responses = await dryRun(
      post("/api/v1/namespaces", shop),
      post(SHOP, makeConfigMap("c")),
      merge(`${SHOP}/c`, { data: { b: "2" } }),
      get(`${SHOP}/c`),
      post(SHOP, makeConfigMap("c")),
    );

    expect(codes(responses)).toEqual([201, 201, 200, 200, 409]);
    expect(responses[3]?.body).toMatchObject({ metadata: { namespace: "shop", name: "c" }, data: { a: "1", b: "2" } });
    expect(server.writes.total()).toBe(before);
    expect((await request("GET", "/api/v1/namespaces/shop")).status).toBe(404);
  });

  test("charges a quota for each request, so that several do not exceed it together", async () => {
    const { dryRun, request } = await serve({
      profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, ResourceQuota] } },
    });
    const hard = { "count/configmaps": "2" };
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec: { hard } };
    const quotas = "/api/v1/namespaces/default/resourcequotas";
    const maps = "/api/v1/namespaces/default/configmaps";
    await request("POST", quotas, quota);
    const status = { hard, used: { "count/configmaps": "0" } };
    await request("PATCH", `${quotas}/q/status`, { status }, { "content-type": "application/merge-patch+json" });

    const responses = await dryRun(
      ...["a", "b", "c"].map((name) => post(maps, makeConfigMap(name))),
      get(`${quotas}/q`),
    );

    expect(codes(responses)).toEqual([201, 201, 403, 200]);
    expect(responses[2]?.body).toMatchObject({
      message: expect.stringContaining(
        "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=2",
      ) as string,
    });
    expect(responses[3]?.body).toMatchObject({ status: { used: { "count/configmaps": "2" } } });
    expect((await request("GET", `${quotas}/q`)).body).toMatchObject({ status });
    expect(codes(await dryRun(post(maps, makeConfigMap("c"))))).toEqual([201]);
  });

  test("has a Status for each request that finds its priority level full", async () => {
    const { dryRun } = await serve({
      profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, FlowSchema, PriorityLevelConfiguration] } },
      maxSeats: 0,
      user: { name: "jane", groups: ["system:authenticated"] },
    });

    const responses = await dryRun(get(`${SHOP}/c`), get(`${SHOP}/d`));

    const busy = { status: 429, body: { kind: "Status", code: 429, reason: "TooManyRequests" } };
    expect(responses).toMatchObject([busy, busy]);
  });

  test("serves the kinds of new CRDs with their schema", async () => {
    const { dryRun, request } = await serve();

    const responses = await dryRun(post(CRDS, makeDefinition()), post(WIDGETS, widget), get(`${WIDGETS}/w`));

    expect(codes(responses)).toEqual([201, 201, 200]);
    expect(responses[1]?.body).toMatchObject({ kind: "Widget", spec: { size: 3 } });
    expect(responses[1]?.body.spec).not.toHaveProperty("junk");
    expect((await request("GET", WIDGETS)).status).toBe(404);
  });

  test("applies the changed schema of an existing CRD", async () => {
    const { dryRun, request } = await serve();
    await request("POST", CRDS, makeDefinition());
    await request("POST", WIDGETS, { ...widget, spec: { size: 5 } });
    const path = "spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    const colour = { type: "string", default: "blue" };

    const responses = await dryRun(
      {
        method: "PATCH",
        path: `${CRDS}/widgets.example.com`,
        contentType: "application/json-patch+json",
        body: JSON.stringify([{ op: "add", path: `/${path}/colour`, value: colour }]),
      },
      merge(`${WIDGETS}/w`, { spec: { replicas: 2 } }),
    );

    expect(codes(responses)).toEqual([200, 200]);
    expect(responses[1]?.body.spec).toEqual({ size: 5, replicas: 2, colour: "blue" });
    expect((await request("GET", `${WIDGETS}/w`)).body.spec).toEqual({ size: 5 });
  });

  test("does not serve a CRD whose names are taken", async () => {
    const { dryRun, request } = await serve();
    await request("POST", CRDS, makeDefinition());
    const taken = { plural: "gadgets", kind: "Widget" };

    const responses = await dryRun(
      post(CRDS, { ...makeDefinition({ names: taken }), metadata: { name: "gadgets.example.com" } }),
      get("/apis/example.com/v1/namespaces/default/gadgets/w"),
    );

    expect(codes(responses)).toEqual([201, 404]);
  });

  test("returns the warnings of each request with its response", async () => {
    const { dryRun } = await serve();

    const responses = await dryRun(
      post(CRDS, makeDefinition()),
      post(WIDGETS, widget),
      post(`${WIDGETS}?fieldValidation=Strict`, { ...widget, metadata: { name: "strict" } }),
    );

    expect(codes(responses)).toEqual([201, 201, 400]);
    expect(responses.map(({ warnings }) => warnings)).toEqual([undefined, ['unknown field "spec.junk"'], undefined]);
  });

  test("authorizes every request as the user", async () => {
    const { dryRun } = await serve({ user: { name: "eve", groups: ["system:authenticated"] } });

    const responses = await dryRun(post("/api/v1/namespaces", shop), get("/api/v1/namespaces/default"));

    expect(codes(responses)).toEqual([403, 403]);
  });

  test.each([
    ["a deletion", { method: "DELETE", path: `${SHOP}/c` }],
    ["a list", get(SHOP)],
    ["a subresource", get("/api/v1/namespaces/default/status")],
    ["a page", get("/metrics")],
    ["another dry run", post("/dry-run", {})],
  ])("rejects %s", async (_what, request) => {
    const { dryRun } = await serve();

    expect(codes(await dryRun(request))).toEqual([400]);
  });

  test("rejects a body that is not a list of requests", async () => {
    const { request } = await createTestServer();

    const answers = [
      await request("POST", "/dry-run", { requests: "x" }),
      await request("POST", "/dry-run", "{"),
      await request("POST", "/dry-run", { requests: [{ method: "GET" }] }),
      await request("GET", "/dry-run"),
    ];

    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 405]);
  });

  test("rejects more requests than one dry run may have, before it decodes them", async () => {
    const { request } = await createTestServer();
    const many = JSON.stringify({ requests: Array(10_001).fill(get(`${SHOP}/c`)) });

    const answers = [
      await request("POST", "/dry-run", many),
      await request("POST", "/dry-run", `{"requests":[${"{},".repeat(1_000_000)}{}]}`),
    ];

    expect(answers.map(({ status }) => status)).toEqual([413, 413]);
    expect(answers[0]?.body.message).toContain("at most 10000 requests");
  });

  test("rejects requests whose responses together are too long", async () => {
    const { request } = await createTestServer();
    await request("POST", "/api/v1/namespaces/default/configmaps", {
      ...makeConfigMap("large"),
      data: { text: "x".repeat(1_000_000) },
    });
    const gets = (count: number): object => ({
      requests: Array(count).fill(get("/api/v1/namespaces/default/configmaps/large")),
    });

    const few = await request("POST", "/dry-run", gets(10));
    const many = await request("POST", "/dry-run", gets(1_000));
    const again = await request("POST", "/dry-run", gets(1));

    expect((few.body.responses as unknown[]).length).toBe(10);
    expect(many.status).toBe(413);
    expect(again.status).toBe(200);
  });

  test("rejects a path that is not one", async () => {
    const { request } = await createTestServer();

    const { status } = await request("POST", "/dry-run", { requests: [get("//[")] });

    expect(status).toBe(400);
  });

  test("is not for clients without credentials", async () => {
    const { request } = await createTestServer({
      user: { name: "system:anonymous", groups: ["system:unauthenticated"] },
    });

    const { status } = await request("POST", "/dry-run", { requests: [] });

    expect(status).toBe(401);
  });
});
