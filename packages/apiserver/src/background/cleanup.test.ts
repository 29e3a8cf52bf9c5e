import { expect, test } from "vitest";
import { ResourceQuota, Role } from "@flotilla/kubernetes";
import {
  MERGE,
  PROFILE,
  createTestServer,
  holdCommits,
  makeConfigMap,
  makeDefinition,
  settleTicks,
} from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const SHOP = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
const MAPS = "/api/v1/namespaces/shop/configmaps";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const QUOTA = {
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name: "q" },
  spec: { hard: { "count/configmaps": "5" } },
};

async function startWithShop(): Promise<TestServer> {
  const server = await createTestServer({
    profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, ResourceQuota] } },
  });
  await server.request("POST", "/api/v1/namespaces", SHOP);
  return server;
}

/** The key of the write that is held back while the namespace is deleted, and how the request is rejected then. */
const heldBack: Record<string, { key: string; want: { namespace: number; refused: number; late: number } }> = {
  "whose write was held back": {
    key: "/core/configmaps/hub/shop/late",
    want: { namespace: 404, refused: 404, late: 404 },
  },
  // The quota is an object of the namespace, so the namespace waits for its deletion.
  "whose quota charge was held back": {
    key: "/core/resourcequotas/hub/shop/q",
    want: { namespace: 200, refused: 403, late: 403 },
  },
};
for (const [behaviour, { key, want }] of Object.entries(heldBack)) {
  test(`a create ${behaviour} while its namespace was deleted is admitted again, and rejected`, async () => {
    const { request, engine, settle, cache } = await startWithShop();
    await request("POST", "/api/v1/namespaces/shop/resourcequotas", QUOTA);
    await request(
      "PATCH",
      "/api/v1/namespaces/shop/resourcequotas/q/status",
      { status: { hard: { "count/configmaps": "5" }, used: { "count/configmaps": "0" } } },
      MERGE,
    );
    const held = holdCommits(engine, (candidate) => candidate === key);
    const late = request("POST", MAPS, makeConfigMap("late"));
    await held.reached;

    await request("DELETE", "/api/v1/namespaces/shop");
    await settleTicks();
    const namespace = await request("GET", "/api/v1/namespaces/shop");
    const refused = await request("POST", MAPS, makeConfigMap("later"));
    held.release();
    const answer = await late;
    await settle();

    expect({ namespace: namespace.status, refused: refused.status, late: answer.status }).toEqual(want);
    expect((await request("GET", "/api/v1/namespaces/shop")).status).toBe(404);
    expect(cache.list("/").filter(({ key: left }) => left.includes("/shop"))).toEqual([]);
  });
}

test("roles in a namespace are deleted after objects with finalizers, because removing the finalizer may need them", async () => {
  const { request, settle } = await createTestServer({
    profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, Role] } },
  });
  const ROLE = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles/agent";
  await request("POST", "/api/v1/namespaces", SHOP);
  await request("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "agent" },
    rules: [],
  });
  await request("POST", MAPS, {
    ...makeConfigMap("held"),
    metadata: { name: "held", finalizers: ["example.com/agent"] },
  });

  await request("DELETE", "/api/v1/namespaces/shop");
  await settle();
  const waiting = await request("GET", ROLE);
  await request("PATCH", `${MAPS}/held`, { metadata: { finalizers: null } }, MERGE);
  await settle();

  expect(waiting.body.metadata).not.toHaveProperty("deletionTimestamp");
  expect([
    waiting.status,
    (await request("GET", ROLE)).status,
    (await request("GET", "/api/v1/namespaces/shop")).status,
  ]).toEqual([200, 404, 404]);
});

test("a recreated namespace is empty, even when clients wrote to its predecessor during its deletion", async () => {
  const { request, settle } = await startWithShop();

  const writes = Array.from({ length: 20 }, (_, index) => request("POST", MAPS, makeConfigMap(`a${index}`)));
  const deleted = request("DELETE", "/api/v1/namespaces/shop");
  writes.push(...Array.from({ length: 20 }, (_, index) => request("POST", MAPS, makeConfigMap(`b${index}`))));
  await Promise.all([...writes, deleted]);
  await settle();
  await request("POST", "/api/v1/namespaces", SHOP);

  expect((await request("GET", MAPS)).body.items).toEqual([]);
});

test("a create that was held back while its CRD was deleted is rejected", async () => {
  const { request, engine, settle, cache } = await createTestServer();
  await request("POST", CRDS, makeDefinition());
  await settle();
  const held = holdCommits(engine, (key) => key === "/example.com/widgets/hub/default/late");
  const late = request("POST", WIDGETS, { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "late" } });
  await held.reached;

  await request("DELETE", `${CRDS}/widgets.example.com`);
  await settleTicks();
  const definition = await request("GET", `${CRDS}/widgets.example.com`);
  held.release();
  const answer = await late;
  await settle();

  expect([definition.status, answer.status]).toEqual([404, 404]);
  expect(cache.list("/example.com/")).toEqual([]);
});

test("a create that was held back while its CRD was replaced is admitted by the schema of the new CRD", async () => {
  const { request, engine, settle } = await createTestServer();
  await request("POST", CRDS, makeDefinition());
  await settle();
  const held = holdCommits(engine, (key) => key === "/example.com/widgets/hub/default/late");
  const late = request("POST", WIDGETS, { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "late" } });
  await held.reached;

  await request("DELETE", `${CRDS}/widgets.example.com`);
  await settleTicks();
  const strict = {
    type: "object",
    properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
    required: ["spec"],
  };
  await request(
    "POST",
    CRDS,
    makeDefinition({ versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: strict } }] }),
  );
  held.release();
  const answer = await late;

  expect(answer.status).toBe(422);
  expect(answer.body.message).toContain("spec: Required value");
});
