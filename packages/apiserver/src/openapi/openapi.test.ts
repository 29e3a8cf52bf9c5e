import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createTestServer, makeDefinition } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const REF = "#/components/schemas/";

async function document(
  server: TestServer,
  name: string,
): Promise<{ paths: Record<string, JsonObject>; components: { schemas: Record<string, JsonObject> } }> {
  return (await server.request("GET", `/openapi/v3/${name}`)).body as never;
}

describe("OpenAPI v3", () => {
  test("a document URL with the current hash is cacheable forever, and one with another hash redirects to it", async () => {
    const { request } = await createTestServer();
    const { text } = await request("GET", "/openapi/v3");
    const { serverRelativeURL } = (JSON.parse(text) as { paths: Record<string, { serverRelativeURL: string }> }).paths[
      "apis/apps/v1"
    ] ?? { serverRelativeURL: "" };

    const right = await request("GET", serverRelativeURL);
    const wrong = await request("GET", "/openapi/v3/apis/apps/v1?hash=old");

    expect(right.headers["cache-control"]).toBe("public, immutable");
    expect(right.headers.expires).toBeDefined();
    expect([wrong.status, wrong.headers.location]).toEqual([301, serverRelativeURL]);
  });

  test("document URLs are the same in every cluster, because clients prepend their own prefix", async () => {
    const { request } = await createTestServer({ clusters: { hub: "hub", paris: "hub" } });

    const [hub, paris] = [await request("GET", "/openapi/v3"), await request("GET", "/clusters/paris/openapi/v3")];

    expect(paris.text).toBe(hub.text);
    expect(hub.text).toContain('{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=');
  });

  test("every document in the index exists", async () => {
    const { request } = await createTestServer();
    const { text } = await request("GET", "/openapi/v3");
    const names = Object.keys((JSON.parse(text) as { paths: object }).paths);

    const answers = await Promise.all(names.map(async (name) => (await request("GET", `/openapi/v3/${name}`)).status));

    expect(names).toEqual([
      ".well-known/openid-configuration",
      "api",
      "api/v1",
      "apis",
      "apis/apiextensions.k8s.io",
      "apis/apiextensions.k8s.io/v1",
      "apis/apps",
      "apis/apps/v1",
      "openid/v1/jwks",
      "version",
    ]);
    expect(new Set(answers)).toEqual(new Set([200]));
  });

  test("write operations declare dryRun and fieldValidation", async () => {
    const { paths } = await document(await createTestServer(), "apis/apps/v1");

    const patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]?.patch as JsonObject;

    expect(patch).toMatchObject({
      operationId: "patchAppsV1NamespacedDeployment",
      "x-kubernetes-action": "patch",
      "x-kubernetes-group-version-kind": { group: "apps", kind: "Deployment", version: "v1" },
    });
    expect((patch.parameters as { name: string }[]).map(({ name }) => name)).toEqual([
      "dryRun",
      "fieldManager",
      "fieldValidation",
      "force",
    ]);
  });

  test("a field declares its merge strategy, and a type is referenced by its upstream name", async () => {
    const { components } = await document(await createTestServer(), "apis/apps/v1");

    expect(components.schemas["io.k8s.api.core.v1.PodSpec"]).toHaveProperty("properties.containers", {
      type: "array",
      items: { default: {}, allOf: [{ $ref: `${REF}io.k8s.api.core.v1.Container` }] },
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-list-type": "map",
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge",
    });
    expect(components.schemas["io.k8s.api.apps.v1.RollingUpdateDeployment"]).toHaveProperty("properties.maxSurge", {
      $ref: `${REF}io.k8s.apimachinery.pkg.util.intstr.IntOrString`,
    });
  });

  test("every $ref resolves", async () => {
    for (const name of ["api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1"]) {
      const found = await document(await createTestServer(), name);

      const missing = [...JSON.stringify(found).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)]
        .map(([, target]) => target ?? "")
        .filter((target) => !(target in found.components.schemas));

      expect(missing).toEqual([]);
    }
  });

  test("documents are shared by clusters that serve the same resources", async () => {
    const { server, request } = await createTestServer({ clusters: { hub: "hub", paris: "hub" } });
    await server.addCluster("oslo", "hub");

    const answers = [
      await request("GET", "/clusters/paris/openapi/v3/api/v1"),
      await request("GET", "/clusters/oslo/openapi/v3/api/v1"),
    ];

    expect(answers[0]?.response.body).toBe(answers[1]?.response.body);
  });
});

describe("a custom resource", () => {
  const schema = {
    type: "object",
    description: "A widget.",
    properties: {
      spec: {
        type: "object",
        required: ["name", "size"],
        properties: {
          name: { type: "string", nullable: true },
          size: { type: "integer", default: 3 },
          port: { "x-kubernetes-int-or-string": true },
          open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          list: { type: "array", nullable: true, items: { type: "string" } },
        },
      },
    },
  };
  const definition = (openAPIV3Schema: JsonObject): JsonObject =>
    makeDefinition({ versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }] });

  test("is published in v3 with metadata, apiVersion and kind", async () => {
    const server = await createTestServer();
    await server.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(schema));

    const { components } = await document(server, "apis/example.com/v1");

    const widget = components.schemas["com.example.v1.Widget"];
    expect(widget).toMatchObject({
      description: "A widget.",
      "x-kubernetes-group-version-kind": [{ group: "example.com", kind: "Widget", version: "v1" }],
    });
    expect(Object.keys(widget?.properties as object)).toEqual(["apiVersion", "kind", "metadata", "spec"]);
    expect(widget).toHaveProperty("properties.spec.properties.port", {
      "x-kubernetes-int-or-string": true,
      anyOf: [{ type: "integer" }, { type: "string" }],
    });
  });

  test("is published in v2 without the keywords that v2 lacks", async () => {
    const { request } = await createTestServer();
    await request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(schema));

    const { body } = await request("GET", "/openapi/v2");

    const widget = (body.definitions as Record<string, { properties: { spec: JsonObject } }>)["com.example.v1.Widget"];
    expect(widget?.properties.spec).toEqual({
      type: "object",
      required: ["size"],
      properties: {
        name: {},
        size: { type: "integer" },
        port: { "x-kubernetes-int-or-string": true },
        open: { "x-kubernetes-preserve-unknown-fields": true },
        list: {},
      },
    });
  });

  test("a custom resource that preserves unknown fields at its root is a bare object in v2", async () => {
    const { request } = await createTestServer();
    await request(
      "POST",
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      definition({ type: "object", "x-kubernetes-preserve-unknown-fields": true }),
    );

    const { body } = await request("GET", "/openapi/v2");

    expect((body.definitions as JsonObject)["com.example.v1.Widget"]).toEqual({
      type: "object",
      "x-kubernetes-group-version-kind": [{ group: "example.com", kind: "Widget", version: "v1" }],
    });
  });
});

describe("OpenAPI v2", () => {
  test("is sent as protobuf on request, with a content type that Go can parse", async () => {
    const { request } = await createTestServer();

    const { status, headers, response } = await request("GET", "/openapi/v2", undefined, {
      accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    });

    expect([status, headers["content-type"]]).toEqual([
      200,
      "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    ]);
    // Field 1, swagger: "2.0".
    expect(Buffer.from(response.body as Uint8Array).subarray(0, 5)).toEqual(Buffer.from([0x0a, 3, 0x32, 0x2e, 0x30]));
  });

  test("an unsupported Accept type is rejected", async () => {
    const { request } = await createTestServer();

    expect((await request("GET", "/openapi/v2", undefined, { accept: "text/html" })).status).toBe(406);
  });
});
