import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createTestServer, makeConfigMap, makeDefinition, makeDeployment } from "../test-server.ts";
import type { Answered, TestServer } from "../test-server.ts";
import { textOf } from "../codec/text.ts";

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
  test("returns objects in key order with the revision of the list", async () => {
    const { request, cache } = await withConfigMaps("c", "a", "b");

    const list = await request("GET", CONFIG_MAPS);

    expect(list.body).toMatchObject({
      kind: "ConfigMapList",
      apiVersion: "v1",
      metadata: { resourceVersion: String(cache.revision) },
    });
    expect(namesIn(list)).toEqual(["a", "b", "c"]);
  });

  test("selects by labels and fields", async () => {
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

  test("pages show the state of the first page, whatever changes in between", async () => {
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

  test("listing at an exact revision returns the state at that revision", async () => {
    const { request, cache } = await withConfigMaps("a");
    const { revision } = cache;
    await request("POST", CONFIG_MAPS, makeConfigMap("b"));

    const list = await request("GET", `${CONFIG_MAPS}?resourceVersion=${revision}&resourceVersionMatch=Exact`);

    expect(namesIn(list)).toEqual(["a"]);
    expect(metadataIn(list).resourceVersion).toBe(String(revision));
  });

  test("continues with the state of the first page after a restart", async () => {
    const first = await withConfigMaps("a", "b", "c");
    const page = await first.request("GET", `${CONFIG_MAPS}?limit=1`);
    await first.request("POST", CONFIG_MAPS, makeConfigMap("d"));
    await first.server.close();
    const second = await createTestServer({ clusters: {}, engine: first.engine });

    const rest = await second.request("GET", `${CONFIG_MAPS}?limit=5&continue=${textOf(metadataIn(page).continue)}`);

    expect(namesIn(rest)).toEqual(["b", "c"]);
  });

  test("offers an inconsistent continuation when the first page's state is compacted", async () => {
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

  test("rejects an invalid continue token", async () => {
    const { request } = await createTestServer();

    expect((await request("GET", `${CONFIG_MAPS}?limit=1&continue=nope`)).status).toBe(400);
  });
});

describe("a revision from the future", () => {
  test("is waited for, then times out", async () => {
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
  test("omit apiVersion and kind for built-in kinds, and include them for custom kinds", async () => {
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

describe("a list with resourceVersion 0", () => {
  test("is not paged", async () => {
    const { request } = await withConfigMaps("a", "b", "c");

    const { body } = await request("GET", `${CONFIG_MAPS}?resourceVersion=0&limit=1`);

    expect((body.items as JsonObject[]).length).toBe(3);
    expect(body.metadata).not.toHaveProperty("continue");
  });
});

describe("PartialObjectMetadata", () => {
  const accept = (kind: string, version = "v1"): Record<string, string> => ({
    accept: `application/json;as=${kind};v=${version};g=meta.k8s.io`,
  });

  test("is returned in the requested version", async () => {
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

  test("is rejected for a list, and PartialObjectMetadataList for an object", async () => {
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

describe("a response to curl", () => {
  test("is indented", async () => {
    const { request } = await withConfigMaps("m");

    const { text } = await request("GET", `${CONFIG_MAPS}/m`, undefined, { "user-agent": "curl/8.0" });

    expect(text).toMatch(/^\{\n {2}"apiVersion": "v1",\n/);
  });
});

describe("other response formats", () => {
  test("a Table has the columns of the kind and a row for each object", async () => {
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

  test("a Table row shows the completion of a pod", async () => {
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

  test("YAML has sorted keys", async () => {
    const { request } = await withConfigMaps("m");

    const { text, headers } = await request("GET", `${CONFIG_MAPS}/m`, undefined, { accept: "application/yaml" });

    expect(headers["content-type"]).toBe("application/yaml");
    expect(text).toMatch(/^apiVersion: v1\ndata:\n {2}a: "1"\nkind: ConfigMap\n/);
  });
});
