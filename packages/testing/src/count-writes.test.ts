import { expect, test } from "vitest";
import { countWrites } from "./count-writes.ts";
import type { Transport, TransportRequest } from "@flotilla/client";

const silent: Transport = {
  send: async () => ({}),
  async *watch() {},
  raw: async () => ({ status: 200, headers: {}, body: (async function* () {})() }),
  close: () => Promise.resolve(),
};
const web = { cluster: "paris", group: "apps", version: "v1", resource: "deployments", namespace: "shop", name: "web" };

test("counts writes by cluster, resource, verb and subresource, and reads not at all", async () => {
  const counter = countWrites(silent);
  const requests: TransportRequest[] = [
    { verb: "get", path: web },
    { verb: "list", path: web },
    { verb: "patch", path: web, patchType: "apply", body: {} },
    { verb: "patch", path: web, patchType: "merge", body: {} },
    { verb: "update", path: { ...web, subresource: "status" }, body: {} },
    {
      verb: "create",
      path: { cluster: "hub", group: "", version: "v1", resource: "events", namespace: "shop" },
      body: {},
    },
  ];

  for (const request of requests) await counter.transport.send(request);
  await counter.transport.raw({ method: "GET", cluster: "hub", path: "/version" });
  await counter.transport.raw({
    method: "POST",
    cluster: "hub",
    path: "/api/v1/namespaces/shop/pods/a/eviction?dryRun=All",
  });

  expect(counter.counts()).toEqual([
    { cluster: "paris", resource: "deployments.apps", verb: "patch", subresource: "", count: 2 },
    { cluster: "paris", resource: "deployments.apps", verb: "update", subresource: "status", count: 1 },
    { cluster: "hub", resource: "events", verb: "create", subresource: "", count: 1 },
    { cluster: "hub", resource: "/api/v1/namespaces/shop/pods/a/eviction", verb: "create", subresource: "", count: 1 },
  ]);
  expect(counter.total()).toBe(5);
  expect(counter.total({ cluster: "paris", verb: "patch" })).toBe(2);
});

test("counts from zero after a reset", async () => {
  const counter = countWrites(silent);
  await counter.transport.send({ verb: "delete", path: web });

  counter.reset();

  expect(counter.total()).toBe(0);
});
