import { describe, expect, test } from "vitest";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding, bootstrapRbac } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { StoreWriteError } from "../store/errors.ts";
import { createMemoryEngine } from "../store/memory-engine.ts";
import { PROFILE, createTestServer, makeConfigMap, makeDefinition } from "../test-server.ts";
import { textOf } from "../codec/text.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

describe("every response", () => {
  test("has a content type, a cache rule and an audit id, which is the client's if it sent one", async () => {
    const { request } = await createTestServer();

    const own = await request("GET", "/version");
    const sent = await request("GET", "/version", undefined, { "audit-id": "mine" });

    expect(own.headers).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-cache, private",
      "audit-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(sent.headers["audit-id"]).toBe("mine");
  });

  const failures: Record<string, { method?: string; path: string; want: [number, string] }> = {
    "to an unknown resource is a Status": {
      path: "/api/v1/nopes",
      want: [404, "the server could not find the requested resource"],
    },
    "to an unknown API group is plain text": { path: "/apis/nope.example.com/v1", want: [404, "404 page not found\n"] },
    "to an unknown path is plain text": { path: "/nope", want: [404, "404 page not found\n"] },
    "to an unsupported method is 405": {
      method: "POST",
      path: "/api/v1/namespaces/default/configmaps/m",
      want: [405, "does not allow this method"],
    },
    "to an object named .. is rejected": {
      path: "/api/v1/namespaces/default/configmaps/%2E%2E",
      want: [400, "may not be '..'"],
    },
    "to a missing subresource is 404": {
      method: "POST",
      path: "/api/v1/namespaces/default/configmaps/m/status",
      want: [404, "could not find"],
    },
    "to a subresource named like an Object.prototype property is 404": {
      path: "/api/v1/namespaces/default/pods/p/constructor",
      want: [404, "could not find"],
    },
    "to a namespaced object at cluster scope is 404": { path: "/api/v1/configmaps/m", want: [404, "could not find"] },
    "to an invalid timeout is 400": { path: "/api/v1/configmaps?timeout=x", want: [400, "invalid timeout"] },
  };
  for (const [behaviour, { method = "GET", path, want }] of Object.entries(failures)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();

      const { status, text } = await request(method, path, method === "POST" ? makeConfigMap("m") : undefined);

      expect(status).toBe(want[0]);
      expect(text).toContain(want[1]);
    });
  }

  test("every response to a write on a full disk explains what to do, and reads continue", async () => {
    const memory = createMemoryEngine();
    let isFull = false;
    const { request } = await createTestServer({
      engine: {
        ...memory,
        commit: (write) => (isFull ? Promise.reject(new StoreWriteError("no room")) : memory.commit(write)),
      },
    });
    isFull = true;

    const write = await request("POST", "/api/v1/namespaces/default/configmaps", makeConfigMap("m"));
    const read = await request("GET", "/api/v1/namespaces/default/configmaps");

    expect(write).toMatchObject({
      status: 500,
      body: {
        kind: "Status",
        message:
          "Internal error occurred: the store of this server is full or rejects writes; free some space there, and try again",
      },
    });
    expect(read.status).toBe(200);
  });

  test("is 503 while the server stops", async () => {
    const { request, server } = await createTestServer();

    await server.close();

    expect((await request("GET", "/api/v1/namespaces")).status).toBe(503);
    expect((await request("GET", "/readyz")).status).toBe(500);
    expect((await request("GET", "/livez")).status).toBe(200);
  });
});

describe("a user who is not an administrator", () => {
  const user = { name: "ann", groups: ["system:authenticated"] };

  test("may read discovery and nothing else, with Kubernetes' error message", async () => {
    const withRoles = {
      ...PROFILE,
      builtIns: [...PROFILE.builtIns, ClusterRole, ClusterRoleBinding, Role, RoleBinding],
      objects: [...PROFILE.objects, ...bootstrapRbac()],
    };
    const { request } = await createTestServer({ user, profiles: { hub: withRoles } });

    expect((await request("GET", "/apis")).status).toBe(200);
    expect((await request("GET", "/api/v1/namespaces/default/configmaps/m")).body).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message:
        'configmaps "m" is forbidden: User "ann" cannot get resource "configmaps" in API group "" in the namespace "default"',
    });
    expect((await request("GET", "/apis/apps/v1/deployments")).body.message).toBe(
      'deployments.apps is forbidden: User "ann" cannot list resource "deployments" in API group "apps" at the cluster scope',
    );
  });
});

describe("discovery", () => {
  test("lists groups, versions and resources with their subresources", async () => {
    const { request } = await createTestServer();

    const groups = await request("GET", "/apis");
    const resources = await request("GET", "/apis/apps/v1");

    expect((groups.body.groups as JsonObject[]).map(({ name }) => name)).toEqual(["apps", "apiextensions.k8s.io"]);
    expect((resources.body.resources as JsonObject[]).map(({ name }) => name)).toEqual([
      "deployments",
      "deployments/scale",
      "deployments/status",
      "replicasets",
      "replicasets/scale",
      "replicasets/status",
    ]);
    expect((resources.body.resources as JsonObject[])[0]).toMatchObject({
      shortNames: ["deploy"],
      categories: ["all"],
      storageVersionHash: "8aSe+NMegvE=",
    });
  });

  test("is aggregated in one document with an ETag, until a CRD changes it", async () => {
    const { request } = await createTestServer();

    const first = await request("GET", "/apis", undefined, { accept: `${AGGREGATED},application/json` });
    const cached = await request("GET", "/apis", undefined, {
      accept: AGGREGATED,
      "if-none-match": String(first.headers.etag),
    });
    await request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", makeDefinition());
    const changed = await request("GET", "/apis", undefined, {
      accept: AGGREGATED,
      "if-none-match": String(first.headers.etag),
    });

    expect(first.headers["content-type"]).toBe(AGGREGATED);
    expect([cached.status, changed.status]).toEqual([304, 200]);
    expect((changed.body.items as JsonObject[]).at(-1)).toMatchObject({
      metadata: { name: "example.com" },
      versions: [{ version: "v1", resources: [{ resource: "widgets", shortNames: ["wd"] }], freshness: "Current" }],
    });
  });
});

describe("OpenAPI", () => {
  test("links to a document for each version, which may be cached forever", async () => {
    const { request } = await createTestServer();

    const index = await request("GET", "/openapi/v3");
    const { serverRelativeURL } = (index.body.paths as JsonObject)["apis/apps/v1"] as JsonObject;
    const document = await request("GET", textOf(serverRelativeURL));
    const stale = await request("GET", "/openapi/v3/apis/apps/v1?hash=old");

    expect(document.headers["cache-control"]).toContain("immutable");
    expect([stale.status, stale.headers.location]).toEqual([301, serverRelativeURL]);
  });

  test("declares server-side field validation, and resolves every reference", async () => {
    const { request } = await createTestServer();

    const { body, text } = await request("GET", "/openapi/v3/apis/apps/v1");
    const operation = (
      (body.paths as JsonObject)["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"] as JsonObject
    ).patch as JsonObject;
    const { schemas } = body.components as { schemas: JsonObject };
    const references = new Set(
      [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name ?? ""),
    );

    expect(operation).toMatchObject({
      "x-kubernetes-action": "patch",
      "x-kubernetes-group-version-kind": { group: "apps", kind: "Deployment", version: "v1" },
    });
    expect((operation.parameters as JsonObject[]).map(({ name }) => name)).toContain("fieldValidation");
    expect([...references].filter((name) => !Object.hasOwn(schemas, name))).toEqual([]);
    expect(schemas["io.k8s.api.apps.v1.Deployment"]).toMatchObject({
      "x-kubernetes-group-version-kind": [{ group: "apps", kind: "Deployment", version: "v1" }],
    });
  });

  test("turns recursive types into references", async () => {
    const { request } = await createTestServer();

    const { status, text } = await request("GET", "/openapi/v3/apis/apiextensions.k8s.io/v1");

    expect(status).toBe(200);
    expect(text.length).toBeLessThan(500_000);
  });
});
