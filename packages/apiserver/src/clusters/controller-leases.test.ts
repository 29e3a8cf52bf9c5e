/** A cluster with its own kube-controller-manager is left to it until its lease expires. */
import { expect, test } from "vitest";
import { Lease } from "@flotilla/kubernetes";
import { MERGE, PROFILE, createTestServer, makeConfigMap } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const lease = (holderIdentity: string, name = "kube-controller-manager"): object => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name },
  spec: { holderIdentity, leaseDurationSeconds: 15 },
});

const start = (): Promise<TestServer> =>
  createTestServer({ profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, Lease] } } });

/** Creates an owner and its dependent, and deletes the owner in the background. */
async function deleteOwner({ request, settle }: TestServer): Promise<void> {
  const { body } = await request("POST", CONFIG_MAPS, makeConfigMap("owner"));
  const { uid } = body.metadata as { uid: string };
  await request(
    "POST",
    CONFIG_MAPS,
    makeConfigMap("dependent", {
      metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }] },
    }),
  );
  await request("DELETE", `${CONFIG_MAPS}/owner?propagationPolicy=Background`);
  await settle();
}
const isThere = async ({ request }: TestServer, path: string): Promise<boolean> =>
  (await request("GET", path)).status === 200;

test("the server leaves dependents and namespaces alone while the lease is held", async () => {
  const server = await start();
  await server.request("POST", LEASES, lease("outside"));
  await server.request("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop" },
  });

  await deleteOwner(server);
  await server.request("DELETE", "/api/v1/namespaces/shop");
  await server.settle();

  expect(server.server.isManagedElsewhere("hub")).toBe(true);
  expect(await isThere(server, `${CONFIG_MAPS}/dependent`)).toBe(true);
  expect(await isThere(server, "/api/v1/namespaces/shop")).toBe(true);
});

test("the server takes over the remaining work when the lease expires", async () => {
  const server = await start();
  await server.request("POST", LEASES, lease("outside"));
  await deleteOwner(server);

  server.clock.advance(15_000);
  await server.settle();

  expect(server.server.isManagedElsewhere("hub")).toBe(false);
  expect(await isThere(server, `${CONFIG_MAPS}/dependent`)).toBe(false);
});

test("a renewal counts from the time it was observed", async () => {
  const server = await start();
  await server.request("POST", LEASES, lease("outside"));
  server.clock.advance(10_000);
  await server.request("PATCH", `${LEASES}/kube-controller-manager`, { spec: { leaseTransitions: 1 } }, MERGE);
  await server.settle();

  server.clock.advance(10_000);

  expect(server.server.isManagedElsewhere("hub")).toBe(true);
});

for (const [behaviour, method, body] of [
  ["a holder that gives its lease up is gone at once", "PATCH", { spec: { holderIdentity: null } }],
  ["a lease that is deleted holds no longer", "DELETE", undefined],
] as const) {
  test(behaviour, async () => {
    const server = await start();
    await server.request("POST", LEASES, lease("outside"));
    await deleteOwner(server);

    await server.request(method, `${LEASES}/kube-controller-manager`, body, MERGE);
    await server.settle();

    expect(server.server.isManagedElsewhere("hub")).toBe(false);
    expect(await isThere(server, `${CONFIG_MAPS}/dependent`)).toBe(false);
  });
}

test("other leases are ignored", async () => {
  const server = await start();

  await server.request("POST", LEASES, lease("outside", "kube-scheduler"));
  await server.settle();

  expect(server.server.isManagedElsewhere("hub")).toBe(false);
});
