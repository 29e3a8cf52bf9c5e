import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../base/index.ts";
import { createTestServer, makeConfigMap, makeDefinition, makeDeployment } from "../test-server.ts";
import type { Answered, TestServer } from "../test-server.ts";
import { textOf } from "../request/text.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

const namesIn = ({ body }: Answered): unknown[] =>
  (body.items as JsonObject[]).map(({ metadata }) => (metadata as JsonObject).name);
const metadataIn = ({ body }: Answered): JsonObject => body.metadata as JsonObject;

async function withConfigMaps(...names: string[]): Promise<TestServer> {
  const server = await createTestServer();
  for (const name of names)
    await server.request(
      "POST",
      CONFIG_MAPS,
      makeConfigMap(name, { metadata: { labels: { odd: name.length % 2 === 1 ? "yes" : "no" } } }),
    );
  return server;
}

describe("listing", () => {
  test("LW-1, LW-4: is in key order and says which revision it shows", async () => {
    const { request, cache } = await withConfigMaps("c", "a", "b");

    const list = await request("GET", CONFIG_MAPS);

    expect(list.body).toMatchObject({
      kind: "ConfigMapList",
      apiVersion: "v1",
      metadata: { resourceVersion: String(cache.revision) },
    });
    expect(namesIn(list)).toEqual(["a", "b", "c"]);
  });

  test("LW-14, LW-15: selects by labels and fields", async () => {
    const { request } = await withConfigMaps("a", "bb", "ccc");

    expect(namesIn(await request("GET", `${CONFIG_MAPS}?labelSelector=odd%3Dyes`))).toEqual(["a", "ccc"]);
    expect(namesIn(await request("GET", `${CONFIG_MAPS}?fieldSelector=metadata.name%3Dbb`))).toEqual(["bb"]);
    expect((await request("GET", `${CONFIG_MAPS}?fieldSelector=spec.x%3D1`)).body.message).toBe(
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    expect((await request("GET", "/api/v1/pods?fieldSelector=spec.priority%3D0")).body.message).toBe(
      "field label not supported: spec.priority",
    );
  });

  test("LW-4: pages show the state of the first page, whatever happens meanwhile", async () => {
    const { request } = await withConfigMaps("a", "b", "c", "d");

    const first = await request("GET", `${CONFIG_MAPS}?limit=2`);
    await request("DELETE", `${CONFIG_MAPS}/c`);
    await request("POST", CONFIG_MAPS, makeConfigMap("e"));
    const second = await request("GET", `${CONFIG_MAPS}?limit=2&continue=${textOf(metadataIn(first).continue)}`);

    expect(namesIn(first)).toEqual(["a", "b"]);
    expect(metadataIn(first)).toMatchObject({ remainingItemCount: 2 });
    expect(namesIn(second)).toEqual(["c", "d"]);
    expect(metadataIn(second)).toEqual({ resourceVersion: metadataIn(first).resourceVersion });
  });

  test("LW-1: at an exact revision shows what was there then", async () => {
    const { request, cache } = await withConfigMaps("a");
    const { revision } = cache;
    await request("POST", CONFIG_MAPS, makeConfigMap("b"));

    const list = await request("GET", `${CONFIG_MAPS}?resourceVersion=${revision}&resourceVersionMatch=Exact`);

    expect(namesIn(list)).toEqual(["a"]);
    expect(metadataIn(list).resourceVersion).toBe(String(revision));
  });

  test("LW-5: goes on with the state of the first page after a restart", async () => {
    const first = await withConfigMaps("a", "b", "c");
    const page = await first.request("GET", `${CONFIG_MAPS}?limit=1`);
    await first.request("POST", CONFIG_MAPS, makeConfigMap("d"));
    await first.server.close();
    const second = await createTestServer({ clusters: {}, engine: first.engine });

    const rest = await second.request("GET", `${CONFIG_MAPS}?limit=5&continue=${textOf(metadataIn(page).continue)}`);

    expect(namesIn(rest)).toEqual(["b", "c"]);
  });

  test("LW-5: offers to go on inconsistently when the first page's state is forgotten", async () => {
    const first = await withConfigMaps("a", "b", "c");
    const page = await first.request("GET", `${CONFIG_MAPS}?limit=1`);
    await first.request("POST", CONFIG_MAPS, makeConfigMap("d"));
    await first.server.close();
    await first.engine.compact(first.cache.revision);
    const second = await createTestServer({ clusters: {}, engine: first.engine });

    const gone = await second.request("GET", `${CONFIG_MAPS}?limit=5&continue=${textOf(metadataIn(page).continue)}`);
    const rest = await second.request("GET", `${CONFIG_MAPS}?limit=5&continue=${textOf(metadataIn(gone).continue)}`);

    expect([gone.status, gone.body.reason]).toEqual([410, "Expired"]);
    expect(namesIn(rest)).toEqual(["b", "c", "d"]);
  });

  test("LW-4: refuses a token that is not its own", async () => {
    const { request } = await createTestServer();

    expect((await request("GET", `${CONFIG_MAPS}?limit=1&continue=nope`)).status).toBe(400);
  });
});

describe("a revision from the future", () => {
  test("LW-3: is waited for, then given up", async () => {
    const { request, clock } = await createTestServer();

    const pending = request("GET", `${CONFIG_MAPS}?resourceVersion=999`);
    await Promise.resolve();
    clock.advance(3000);
    const { status, body } = await pending;

    expect(status).toBe(504);
    expect(body).toMatchObject({
      reason: "Timeout",
      details: { causes: [{ reason: "ResourceVersionTooLarge" }], retryAfterSeconds: 1 },
    });
  });
});

describe("the items of a list", () => {
  test("LW-1: do not repeat what they are when the kind is one of Kubernetes, and do when it is not", async () => {
    const { request } = await withConfigMaps("m");
    await request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", makeDefinition());
    await request("POST", "/apis/example.com/v1/namespaces/default/widgets", {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w" },
    });

    const { body: maps } = await request("GET", CONFIG_MAPS);
    const { body: widgets } = await request("GET", "/apis/example.com/v1/widgets");

    expect((maps.items as JsonObject[]).map((item) => Object.keys(item))).toEqual([["metadata", "data"]]);
    expect(widgets.items).toMatchObject([{ apiVersion: "example.com/v1", kind: "Widget" }]);
  });
});

describe("a list that takes any state", () => {
  test("LW-4: is not cut into pages", async () => {
    const { request } = await withConfigMaps("a", "b", "c");

    const { body } = await request("GET", `${CONFIG_MAPS}?resourceVersion=0&limit=1`);

    expect((body.items as JsonObject[]).length).toBe(3);
    expect(body.metadata).not.toHaveProperty("continue");
  });
});

describe("the metadata of objects", () => {
  const accept = (kind: string, version = "v1"): Record<string, string> => ({
    accept: `application/json;as=${kind};v=${version};g=meta.k8s.io`,
  });

  test("CN-8: is all that is answered, in the version that was asked for", async () => {
    const { request } = await withConfigMaps("m");

    const one = await request("GET", `${CONFIG_MAPS}/m`, undefined, accept("PartialObjectMetadata", "v1beta1"));
    const all = await request("GET", CONFIG_MAPS, undefined, accept("PartialObjectMetadataList"));

    expect(one.body).toMatchObject({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1beta1",
      metadata: { name: "m" },
    });
    expect(one.body).not.toHaveProperty("data");
    expect(all.body).toMatchObject({
      kind: "PartialObjectMetadataList",
      items: [{ kind: "PartialObjectMetadata", metadata: { name: "m" } }],
    });
  });

  test("CN-8: of a list is not that of an object, and the other way round", async () => {
    const { request } = await withConfigMaps("m");

    const one = await request("GET", `${CONFIG_MAPS}/m`, undefined, accept("PartialObjectMetadataList"));
    const all = await request("GET", CONFIG_MAPS, undefined, accept("PartialObjectMetadata"));

    expect([one.status, one.body.message]).toEqual([
      406,
      "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)",
    ]);
    expect([all.status, all.body.message]).toEqual([
      406,
      "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
    ]);
  });
});

describe("what is asked for with curl", () => {
  test("TR-9: has lines", async () => {
    const { request } = await withConfigMaps("m");

    const { text } = await request("GET", `${CONFIG_MAPS}/m`, undefined, { "user-agent": "curl/8.0" });

    expect(text).toMatch(/^\{\n {2}"apiVersion": "v1",\n/);
  });
});

describe("other forms of an answer", () => {
  test("CN-6: a Table has the columns of the kind and a row for each object", async () => {
    const { request } = await createTestServer();
    await request("POST", "/apis/apps/v1/namespaces/default/deployments", makeDeployment("web"));

    const { body } = await request("GET", "/apis/apps/v1/deployments", undefined, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });

    expect((body.columnDefinitions as JsonObject[]).slice(0, 5).map(({ name }) => name)).toEqual([
      "Name",
      "Ready",
      "Up-to-date",
      "Available",
      "Age",
    ]);
    expect((body.rows as JsonObject[])[0]).toMatchObject({
      cells: expect.arrayContaining(["web", "0/1"]),
      object: { kind: "PartialObjectMetadata", metadata: { name: "web" } },
    });
  });

  test("CN-6: a row says when a pod has come to its end", async () => {
    const { request } = await createTestServer({ admissions: [] });
    const pods = "/api/v1/namespaces/default/pods";
    await request("POST", pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "x" }] },
    });
    await request(
      "PATCH",
      `${pods}/p/status`,
      { status: { phase: "Failed" } },
      { "content-type": "application/merge-patch+json" },
    );

    const { body } = await request("GET", pods, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });

    expect(body).toHaveProperty("rows.0.conditions", [
      { type: "Completed", status: "True", reason: "Failed", message: "The pod failed." },
    ]);
  });

  test("CN-1: YAML has sorted keys", async () => {
    const { request } = await withConfigMaps("m");

    const { text, headers } = await request("GET", `${CONFIG_MAPS}/m`, undefined, { accept: "application/yaml" });

    expect(headers["content-type"]).toBe("application/yaml");
    expect(text).toMatch(/^apiVersion: v1\ndata:\n {2}a: "1"\nkind: ConfigMap\n/);
  });
});
