import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createMemoryEngine } from "../store/memory-engine.ts";
import { createTestServer, holdCommits, makeConfigMap, makeDefinition, settleTicks } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const WIDGET = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } };

const ownedBy = (uid: string, name: string): JsonObject =>
  makeConfigMap(name, {
    metadata: { ownerReferences: [{ apiVersion: "example.com/v1", kind: "Widget", name: "w", uid, controller: true }] },
  });

/** Creates a Widget that owns `count` ConfigMaps; returns the uid of the Widget. */
async function startWithWidget({ request, settle }: TestServer, count: number): Promise<string> {
  await request("POST", CRDS, makeDefinition());
  await settle();
  const { body } = await request("POST", WIDGETS, WIDGET);
  const { uid } = body.metadata as { uid: string };
  for (let index = 0; index < count; index++) await request("POST", MAPS, ownedBy(uid, `d${index}`));
  await settle();
  return uid;
}

test("dependents of a CRD's objects are deleted with the CRD, however many there are", async () => {
  const test = await createTestServer();
  await startWithWidget(test, 60);

  await test.request("DELETE", `${CRDS}/widgets.example.com`);
  await test.settle();

  expect((await test.request("GET", `${CRDS}/widgets.example.com`)).status).toBe(404);
  expect((await test.request("GET", MAPS)).body.items).toEqual([]);
});

test("deletes a late dependent although the kind of its owner is no longer served", async () => {
  const test = await createTestServer();
  const uid = await startWithWidget(test, 0);

  await test.request("DELETE", `${CRDS}/widgets.example.com`);
  await test.settle();
  await test.request("POST", MAPS, ownedBy(uid, "late"));
  await test.settle();

  expect((await test.request("GET", MAPS)).body.items).toEqual([]);
});

test("garbage collection keeps a dependent of an unknown owner while the owner's kind is not served", async () => {
  const test = await createTestServer();

  await test.request("POST", MAPS, ownedBy("unknown", "kept"));
  await test.settle();

  expect((await test.request("GET", `${MAPS}/kept`)).status).toBe(200);
});

test("a CRD stays until the dependents of its objects are marked for deletion, so that a crash in between loses none", async () => {
  const engine = createMemoryEngine();
  const test = await createTestServer({ engine });
  await startWithWidget(test, 3);
  const held = holdCommits(engine, (key) => key === "/core/configmaps/hub/default/d1");

  await test.request("DELETE", `${CRDS}/widgets.example.com`);
  await held.reached;
  await settleTicks();
  const waiting = await test.request("GET", `${CRDS}/widgets.example.com`);
  const owners = await test.request("GET", WIDGETS);
  held.release();
  await test.settle();

  expect([waiting.status, owners.body.items]).toEqual([200, []]);
  expect((await test.request("GET", `${CRDS}/widgets.example.com`)).status).toBe(404);
});

test("a server that starts after such a crash deletes the remaining dependents", async () => {
  const engine = createMemoryEngine();
  const before = await createTestServer({ engine });
  await startWithWidget(before, 3);
  const held = holdCommits(engine, (key) => key.startsWith("/core/configmaps/hub/default/d"));
  await before.request("DELETE", `${CRDS}/widgets.example.com`);
  await held.reached;
  await settleTicks();
  const left = createMemoryEngine();
  for await (const entries of engine.scan("/"))
    for (const { key, value } of entries) await left.commit({ key, value, expect: "absent" });

  const after = await createTestServer({ engine: left });
  await after.settle();

  expect((await after.request("GET", `${CRDS}/widgets.example.com`)).status).toBe(404);
  expect((await after.request("GET", MAPS)).body.items).toEqual([]);
  held.release();
  await before.settle();
});
