import { describe, expect, test } from "vitest";
import type { Kind } from "@flotilla/apimachinery";
import { Deployment, FlowSchema, Node, Pod } from "@flotilla/kubernetes";
import { defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { MERGE, PROFILE, createTestServer, makeConfigMap, makeDefinition, makeDeployment } from "../test-server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const APPLY = { "content-type": "application/apply-patch+yaml" };

describe("patching", () => {
  test("supports merge, JSON and strategic merge patches", async () => {
    const { request } = await createTestServer();
    await request("POST", DEPLOYMENTS, makeDeployment("web"));

    const merged = await request("PATCH", `${DEPLOYMENTS}/web`, { metadata: { labels: { a: "1" } } }, MERGE);
    const edited = await request("PATCH", `${DEPLOYMENTS}/web`, [{ op: "replace", path: "/spec/replicas", value: 4 }], {
      "content-type": "application/json-patch+json",
    });
    const strategic = { spec: { template: { spec: { containers: [{ name: "side", image: "side:1" }] } } } };
    const joined = await request("PATCH", `${DEPLOYMENTS}/web`, strategic, {
      "content-type": "application/strategic-merge-patch+json",
    });

    expect(merged.body).toMatchObject({ metadata: { labels: { a: "1" }, generation: 1 } });
    expect(edited.body).toMatchObject({ spec: { replicas: 4 }, metadata: { generation: 2 } });
    expect(joined.body).toMatchObject({
      spec: { template: { spec: { containers: [{ name: "side" }, { name: "main", image: "web:1" }] } } },
    });
  });

  const failures: Record<string, { patch: unknown; headers?: Record<string, string>; want: [number, string] }> = {
    "rejects an unknown media type": {
      patch: {},
      headers: { "content-type": "application/json" },
      want: [415, "415: Unsupported Media Type"],
    },
    "rejects a changed name": {
      patch: { metadata: { name: "other" } },
      want: [400, "the name of the object (other) does not match the name on the URL (m)"],
    },
    "rejects a changed uid": {
      patch: { metadata: { uid: "x" } },
      want: [422, 'metadata.uid: Invalid value: "x": field is immutable'],
    },
    "rejects a changed kind": {
      patch: { kind: "Secret" },
      want: [422, "converting (v1.Secret) to (core.ConfigMap): unknown conversion"],
    },
    "rejects an outdated resourceVersion": {
      patch: { metadata: { resourceVersion: "1" }, data: { b: "2" } },
      want: [409, "the object has been modified"],
    },
    "rejects unknown fields with strict validation": { patch: { nope: 1 }, want: [422, 'unknown field "nope"'] },
  };
  for (const [behaviour, { patch, headers = MERGE, want }] of Object.entries(failures)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();
      await request("POST", CONFIG_MAPS, makeConfigMap("m"));

      const { status, body } = await request("PATCH", `${CONFIG_MAPS}/m?fieldValidation=Strict`, patch, headers);

      expect(status).toBe(want[0]);
      expect(body.message).toContain(want[1]);
    });
  }

  test("rejects strategic merge for custom kinds", async () => {
    const { request } = await createTestServer();
    await request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", makeDefinition());

    const { status } = await request(
      "PATCH",
      "/apis/example.com/v1/namespaces/default/widgets/w",
      {},
      { "content-type": "application/strategic-merge-patch+json" },
    );

    expect(status).toBe(415);
  });
});

describe("applying to a status", () => {
  const metadata = { labels: { a: "1" }, annotations: { b: "2" } };
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "m", uid: "u" };
  const cases: Record<string, { kind: Kind; spec?: JsonObject; want: JsonObject | undefined }> = {
    "writes metadata of most kinds": {
      kind: Node,
      want: { "f:labels": { "f:a": {} }, "f:annotations": { "f:b": {} } },
    },
    "does not write the labels of a Deployment": {
      kind: Deployment,
      spec: makeDeployment("x").spec as JsonObject,
      want: { "f:annotations": { "f:b": {} } },
    },
    "does not write the owners of a Pod": {
      kind: Pod,
      spec: { containers: [{ name: "c", image: "i" }] },
      want: { "f:labels": { "f:a": {} }, "f:annotations": { "f:b": {} } },
    },
    "writes no metadata of a FlowSchema": {
      kind: FlowSchema,
      spec: { priorityLevelConfiguration: { name: "global-default" } },
      want: undefined,
    },
  };
  test.each(Object.entries(cases))("%s", async (_, { kind, spec, want }) => {
    const { request } = await createTestServer({
      profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, Node, FlowSchema] } },
    });
    const { group, storageVersion, plural } = kind;
    const prefix = group === "" ? `/api/${storageVersion}` : `/apis/${group}/${storageVersion}`;
    const path = `${prefix}${kind.scope === "Cluster" ? "" : "/namespaces/default"}/${plural}`;
    const head = { apiVersion: group === "" ? storageVersion : `${group}/${storageVersion}`, kind: kind.kind };
    await request("POST", path, { ...head, metadata: { name: "x" }, ...defined({ spec }) });

    const { status, body } = await request(
      "PATCH",
      `${path}/x/status?fieldManager=me`,
      {
        ...head,
        metadata: { name: "x", ...metadata, ...defined({ ownerReferences: kind === Pod ? [owner] : undefined }) },
      },
      APPLY,
    );

    expect(status).toBe(200);
    const stored = body.metadata as JsonObject & { managedFields: JsonObject[] };
    const mine = stored.managedFields.find(({ manager }) => manager === "me");
    expect(mine?.["fieldsV1"]).toEqual(want && { "f:metadata": want });
    expect(stored["labels"]).toEqual(want && "f:labels" in want ? metadata.labels : undefined);
    expect(stored["ownerReferences"]).toBeUndefined();
    expect(stored["annotations"]).toEqual(want && metadata.annotations);
  });
});

describe("applying", () => {
  test("keeps the status sent at creation for kinds that allow it, without a field manager", async () => {
    const { request } = await createTestServer({
      profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, Node] } },
    });
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n", labels: { a: "1" } },
      status: { capacity: { pods: "10" } },
    };

    const { body } = await request("PATCH", "/api/v1/nodes/n?fieldManager=me", node, APPLY);

    expect(body).toMatchObject({ status: { capacity: { pods: "10" } } });
    expect((body.metadata as JsonObject).managedFields).toMatchObject([
      { manager: "me", fieldsV1: { "f:metadata": { "f:labels": { "f:a": {} } } } },
    ]);
    expect(JSON.stringify(body.metadata)).not.toContain("f:status");
  });

  const wanted = (data: JsonObject): JsonObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "m" },
    data,
  });

  test("creates a missing object, and then owns exactly the applied fields", async () => {
    const { request } = await createTestServer();

    const created = await request("PATCH", `${CONFIG_MAPS}/m?fieldManager=one`, wanted({ a: "1", b: "1" }), APPLY);
    const narrowed = await request("PATCH", `${CONFIG_MAPS}/m?fieldManager=one`, wanted({ a: "1" }), APPLY);

    expect([created.status, narrowed.status]).toEqual([201, 200]);
    expect(narrowed.body.data).toEqual({ a: "1" });
    expect(narrowed.body).toMatchObject({
      metadata: { managedFields: [{ manager: "one", operation: "Apply", fieldsV1: { "f:data": { "f:a": {} } } }] },
    });
  });

  test("conflicts with the fields of another manager unless it is forced", async () => {
    const { request } = await createTestServer();
    await request("PATCH", `${CONFIG_MAPS}/m?fieldManager=one`, wanted({ a: "1" }), APPLY);

    const refused = await request("PATCH", `${CONFIG_MAPS}/m?fieldManager=two`, wanted({ a: "2" }), APPLY);
    const forced = await request("PATCH", `${CONFIG_MAPS}/m?fieldManager=two&force=true`, wanted({ a: "2" }), APPLY);

    expect(refused.body).toMatchObject({
      code: 409,
      message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
      details: { causes: [{ reason: "FieldManagerConflict", field: ".data.a" }] },
    });
    expect(forced.body.data).toEqual({ a: "2" });
  });

  test("writes nothing when nothing changes", async () => {
    const { request, server } = await createTestServer();
    const created = await request("PATCH", `${CONFIG_MAPS}/m?fieldManager=one`, wanted({ a: "1" }), APPLY);
    const before = server.writes.total();

    const again = await request("PATCH", `${CONFIG_MAPS}/m?fieldManager=one`, wanted({ a: "1" }), APPLY);

    expect(again.body).toEqual(created.body);
    expect(server.writes.total()).toBe(before);
  });

  test("accepts YAML", async () => {
    const { request } = await createTestServer();

    const { body } = await request(
      "PATCH",
      `${CONFIG_MAPS}/m?fieldManager=one`,
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: "on"\n',
      APPLY,
    );

    expect(body.data).toEqual({ a: "on" });
  });

  test("requires a field manager", async () => {
    const { request } = await createTestServer();

    expect((await request("PATCH", `${CONFIG_MAPS}/m`, wanted({}), APPLY)).body.message).toContain(
      "fieldManager: Required value",
    );
  });
});
