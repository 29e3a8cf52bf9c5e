import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { MERGE, PROFILE, createTestServer, makeConfigMap, makeDefinition, makeDeployment } from "../test-server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

describe("creating", () => {
  test("sets the fields that the client may not set and returns 201", async () => {
    const { request } = await createTestServer();
    const given = makeConfigMap("m", {
      metadata: {
        uid: "mine",
        creationTimestamp: "2001-01-01T00:00:00Z",
        deletionTimestamp: "2001-01-01T00:00:00Z",
        selfLink: "/x",
      },
    });

    const { status, body } = await request("POST", CONFIG_MAPS, given);

    expect(status).toBe(201);
    expect(body).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "m",
        namespace: "default",
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        resourceVersion: "2",
        creationTimestamp: "2024-05-01T12:00:00Z",
        managedFields: [
          {
            manager: "test",
            operation: "Update",
            apiVersion: "v1",
            time: "2024-05-01T12:00:00Z",
            fieldsType: "FieldsV1",
            fieldsV1: { "f:data": { ".": {}, "f:a": {} } },
          },
        ],
      },
      data: { a: "1" },
    });
  });

  test("drops the status of a kind with a status subresource, and sets its generation", async () => {
    const { request } = await createTestServer();

    const { body } = await request("POST", DEPLOYMENTS, { ...makeDeployment("web"), status: { replicas: 9 } });

    expect(body.status).toEqual({});
    expect(body.metadata).toMatchObject({ generation: 1 });
  });

  test("generates a name from generateName", async () => {
    const { request } = await createTestServer();

    const { body } = await request("POST", CONFIG_MAPS, { metadata: { generateName: "job-" } });

    expect((body.metadata as JsonObject).name).toMatch(/^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  test("responds to a dry run without storing anything", async () => {
    const { request, server } = await createTestServer();

    const dry = await request("POST", `${CONFIG_MAPS}?dryRun=All`, makeConfigMap("m"));
    const after = await request("GET", `${CONFIG_MAPS}/m`);

    expect(dry.status).toBe(201);
    expect(dry.body.metadata).not.toHaveProperty("resourceVersion");
    expect(after.status).toBe(404);
    expect(server.writes.total()).toBe(0);
  });

  const failures: Record<string, { path?: string; body: unknown; want: [number, string] }> = {
    "is rejected when the name exists": {
      body: makeConfigMap("taken"),
      want: [409, 'configmaps "taken" already exists'],
    },
    "is rejected in a missing namespace": {
      path: "/api/v1/namespaces/zz/configmaps",
      body: makeConfigMap("m"),
      want: [404, 'namespaces "zz" not found'],
    },
    "is rejected without a name": {
      body: {},
      want: [422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'],
    },
    "is rejected with a resourceVersion": {
      body: makeConfigMap("m", { metadata: { resourceVersion: "5" } }),
      want: [500, "resourceVersion should not be set on objects to be created"],
    },
    "is rejected for a namespace other than that of the path": {
      body: makeConfigMap("m", { metadata: { namespace: "other" } }),
      want: [400, "the namespace of the provided object does not match the namespace sent on the request"],
    },
    "is rejected for another version": {
      body: { ...makeConfigMap("m"), apiVersion: "v2" },
      want: [400, 'no kind "ConfigMap" is registered for version "v2" in scheme'],
    },
    "is rejected for an unknown field with strict validation": {
      path: `${CONFIG_MAPS}?fieldValidation=Strict`,
      body: { ...makeConfigMap("m"), foo: 1 },
      want: [
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "foo"',
      ],
    },
    "is rejected for a body that is not JSON": {
      body: "{",
      want: [400, "the object provided is unrecognized (must be of type ConfigMap)"],
    },
    "is rejected beyond the size limit of a body": {
      body: `"${"x".repeat(3 * 1024 * 1024)}"`,
      want: [413, "Request entity too large: limit is 3145728"],
    },
    "is rejected when it is nested too deeply": {
      body: `{"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
      want: [400, "exceeded max depth"],
    },
  };
  for (const [behaviour, { path = CONFIG_MAPS, body, want }] of Object.entries(failures)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();
      await request("POST", CONFIG_MAPS, makeConfigMap("taken"));

      const answer = await request("POST", path, body);

      expect(answer.status).toBe(want[0]);
      expect(answer.body.message).toContain(want[1]);
    });
  }

  test("warns about unknown and duplicate fields and drops them", async () => {
    const { request } = await createTestServer();

    const { headers, body } = await request(
      "POST",
      CONFIG_MAPS,
      '{"metadata":{"name":"m"},"foo":1,"data":{"a":"1","a":"2"}}',
    );

    expect(headers.warning).toEqual(['299 - "unknown field \\"foo\\""', '299 - "duplicate field \\"data.a\\""']);
    expect(body).not.toHaveProperty("foo");
  });

  test("keeps hostile keys as ordinary data", async () => {
    const { request } = await createTestServer();

    const { body } = await request(
      "POST",
      CONFIG_MAPS,
      '{"metadata":{"name":"m","annotations":{"__proto__":"x"}},"__proto__":{"data":{"polluted":"yes"}}}',
    );

    expect(body.data).toBeUndefined();
    expect(({} as JsonObject).data).toBeUndefined();
  });
});

describe("updating", () => {
  test("requires the current resourceVersion, if one is sent", async () => {
    const { request } = await createTestServer();
    const created = await request("POST", CONFIG_MAPS, makeConfigMap("m"));
    const { resourceVersion } = created.body.metadata as JsonObject;

    const first = await request("PUT", `${CONFIG_MAPS}/m`, {
      ...makeConfigMap("m", { metadata: { resourceVersion: resourceVersion ?? "" } }),
      data: { a: "2" },
    });
    const second = await request("PUT", `${CONFIG_MAPS}/m`, {
      ...makeConfigMap("m", { metadata: { resourceVersion: resourceVersion ?? "" } }),
      data: { a: "3" },
    });
    const unconditional = await request("PUT", `${CONFIG_MAPS}/m`, { ...makeConfigMap("m"), data: { a: "4" } });

    expect([first.status, second.status, unconditional.status]).toEqual([200, 409, 200]);
    expect(second.body.reason).toBe("Conflict");
  });

  test("writes nothing when nothing changes", async () => {
    const { request, server } = await createTestServer();
    const created = await request("POST", DEPLOYMENTS, makeDeployment("web"));
    const before = server.writes.total();

    const updated = await request("PUT", `${DEPLOYMENTS}/web`, makeDeployment("web"));

    expect(updated.body).toEqual(created.body);
    expect(server.writes.total()).toBe(before);
  });

  test("keeps the status, and the status subresource keeps the spec", async () => {
    const { request } = await createTestServer();
    await request("POST", DEPLOYMENTS, makeDeployment("web"));

    const status = await request(
      "PATCH",
      `${DEPLOYMENTS}/web/status`,
      { spec: { replicas: 7 }, status: { replicas: 2 } },
      MERGE,
    );
    const spec = await request(
      "PATCH",
      `${DEPLOYMENTS}/web`,
      { spec: { replicas: 5 }, status: { replicas: 9 } },
      MERGE,
    );

    expect(status.body).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 1 }, status: { replicas: 2 } });
    expect(spec.body).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 5 }, status: { replicas: 2 } });
  });

  test("updating a custom resource requires a resourceVersion", async () => {
    const { request } = await createTestServer();
    await request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", makeDefinition());
    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } };
    await request("POST", "/apis/example.com/v1/namespaces/default/widgets", widget);

    const { status, body } = await request("PUT", "/apis/example.com/v1/namespaces/default/widgets/w", widget);

    expect(status).toBe(422);
    expect(body.message).toBe(
      'widgets.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
  });

  test("never stores a resourceVersion", async () => {
    const { request, cache } = await createTestServer();
    await request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", makeDefinition());
    await request("POST", "/apis/example.com/v1/namespaces/default/widgets", {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w" },
    });
    await request(
      "PATCH",
      "/apis/example.com/v1/namespaces/default/widgets/w/status",
      { status: { phase: "Ready" } },
      MERGE,
    );
    await request("PATCH", "/apis/example.com/v1/namespaces/default/widgets/w/scale", { spec: { replicas: 2 } }, MERGE);

    const stored = cache.list("/").map(({ value }) => Buffer.from(value).toString());

    expect(stored.filter((text) => text.includes("resourceVersion"))).toEqual([]);
  });
});

describe("the scale subresource", () => {
  test("reads and sets the replicas of its parent", async () => {
    const { request } = await createTestServer();
    await request("POST", DEPLOYMENTS, makeDeployment("web"));

    const scaled = await request("PATCH", `${DEPLOYMENTS}/web/scale`, { spec: { replicas: 4 } }, MERGE);
    const parent = await request("GET", `${DEPLOYMENTS}/web`);

    expect(scaled.body).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 4 },
      status: { replicas: 0, selector: "app=web" },
    });
    expect(parent.body).toMatchObject({
      spec: { replicas: 4 },
      metadata: { resourceVersion: (scaled.body.metadata as JsonObject).resourceVersion, generation: 2 },
    });
  });

  test("the scale subresource of a custom object accepts a scale without apiVersion and kind, as clients of built-in kinds send it", async () => {
    const { request } = await createTestServer();
    await request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", makeDefinition());
    await request("POST", "/apis/example.com/v1/namespaces/default/widgets", {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w" },
    });

    const scaled = await request("PUT", "/apis/example.com/v1/namespaces/default/widgets/w/scale", {
      metadata: { name: "w" },
      spec: { replicas: 3 },
    });

    expect([scaled.status, scaled.body.spec]).toEqual([200, { replicas: 3 }]);
  });
});

test("repeating a request a second later writes nothing, even where the server had added fields", async () => {
  const { request, clock } = await createTestServer({ profiles: { hub: { ...PROFILE, builtIns: kubernetesKinds } } });
  const path = "/apis/apps/v1/namespaces/default/daemonsets";
  const { spec } = makeDeployment("a");
  const daemonSet = { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "a" }, spec };
  const stored = await request("POST", path, daemonSet);
  clock.advance(2000);

  const repeated = await request("PUT", `${path}/a`, daemonSet);

  expect(repeated.body.metadata).toEqual(stored.body.metadata);
});
