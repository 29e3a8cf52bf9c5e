import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createTestServer } from "../test-server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };
const pod: JsonObject = {
  metadata: { name: "a" },
  spec: { containers: [{ name: "c", image: "i:1", resources: { requests: { cpu: "1" } } }] },
};
const debug = { spec: { ephemeralContainers: [{ name: "debug", image: "busybox" }] } };
const resize = { spec: { containers: [{ name: "c", resources: { requests: { cpu: "2" } } }] } };

test("writing a part through its subresource increases the generation and records its own field manager", async () => {
  const { request } = await createTestServer();
  await request("POST", PODS, pod);

  const { status, body } = await request(
    "PATCH",
    `${PODS}/a/ephemeralcontainers?fieldManager=kubectl-debug`,
    debug,
    STRATEGIC,
  );

  const { generation, managedFields } = body.metadata as JsonObject;
  expect([status, generation]).toEqual([200, 2]);
  expect(
    (managedFields as JsonObject[]).map(({ manager, operation, subresource }) => [manager, operation, subresource]),
  ).toContainEqual(["kubectl-debug", "Update", "ephemeralcontainers"]);
  expect(body.spec).toMatchObject({
    ephemeralContainers: [
      { name: "debug", image: "busybox", imagePullPolicy: "Always", terminationMessagePolicy: "File" },
    ],
  });
});

test("the subresource keeps everything outside its part, including metadata and status", async () => {
  const { request } = await createTestServer();
  await request("POST", PODS, pod);

  const { status, body } = await request(
    "PATCH",
    `${PODS}/a/resize`,
    { ...resize, metadata: { labels: { a: "b" } }, status: { phase: "Failed" } },
    STRATEGIC,
  );

  expect(status).toBe(200);
  expect((body.metadata as JsonObject).labels).toBeUndefined();
  expect(body).toMatchObject({
    status: { phase: "Pending" },
    spec: { containers: [{ image: "i:1", resources: { requests: { cpu: "2" } } }] },
  });
});

test("a PUT of the whole object to the subresource writes only the part", async () => {
  const { request } = await createTestServer();
  await request("POST", PODS, pod);

  const { status, body } = await request("PUT", `${PODS}/a/ephemeralcontainers`, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a" },
    spec: { containers: [{ name: "other", image: "j" }], ...debug.spec },
  });

  expect(status).toBe(200);
  expect(body.spec).toMatchObject({
    containers: [{ name: "c", image: "i:1" }],
    ephemeralContainers: [{ name: "debug" }],
  });
});

test("writing an unchanged part stores nothing", async () => {
  const { request } = await createTestServer();
  await request("POST", PODS, pod);
  const before = await request("PATCH", `${PODS}/a/resize`, resize, STRATEGIC);

  const { body } = await request("PATCH", `${PODS}/a/resize`, resize, STRATEGIC);

  expect(body).toEqual(before.body);
});

test("an unknown field is rejected, inside or outside the part", async () => {
  const { request } = await createTestServer();
  await request("POST", PODS, pod);

  const { status } = await request(
    "PATCH",
    `${PODS}/a/resize?fieldValidation=Strict`,
    { spec: { anonymous: 1 } },
    { "content-type": "application/merge-patch+json" },
  );

  expect(status).toBe(422);
});

test("a part supports get and update, but not create and delete", async () => {
  const { request } = await createTestServer();
  await request("POST", PODS, pod);

  const statuses = await Promise.all(
    ["GET", "POST", "DELETE"].map(
      async (method) => (await request(method, `${PODS}/a/resize`, method === "POST" ? pod : undefined)).status,
    ),
  );
  const missing = await request("PATCH", `${PODS}/none/resize`, resize, STRATEGIC);
  const unknown = await request("GET", `${PODS}/a/constructor`);

  expect([statuses, missing.status, unknown.status]).toEqual([[200, 405, 405], 404, 404]);
});

test("discovery lists the part subresources", async () => {
  const { request } = await createTestServer();

  const { body } = await request("GET", "/api/v1");

  const rows = body.resources as { name: string; kind: string; verbs: string[] }[];
  expect(
    rows
      .filter(({ name }) => name === "pods/resize" || name === "pods/ephemeralcontainers")
      .map(({ name, kind, verbs }) => [name, kind, verbs]),
  ).toEqual([
    ["pods/ephemeralcontainers", "Pod", ["get", "patch", "update"]],
    ["pods/resize", "Pod", ["get", "patch", "update"]],
  ]);
});
