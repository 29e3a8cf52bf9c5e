import { expect, test } from "vitest";
import { IPAddress, Namespace, Service, ServiceCIDR, SERVICE_RANGE, defaultServiceCidr } from "@flotilla/kubernetes";
import type { Profile } from "../clusters/profiles.ts";
import { createTestServer, type Answered, type TestServer } from "../test-server.ts";

const profile: Profile = {
  builtIns: [Namespace, Service, IPAddress, ServiceCIDR],
  customs: [],
  objects: [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } },
    defaultServiceCidr(SERVICE_RANGE, "2024-05-01T12:00:00Z"),
  ],
};
const SERVICES = "/api/v1/namespaces/default/services";
const ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses";
const RANGES = "/apis/networking.k8s.io/v1/servicecidrs";

const start = (engine?: TestServer["engine"]): Promise<TestServer> =>
  createTestServer({ profiles: { hub: profile }, clusters: { hub: "hub" }, engine });
const create = ({ request }: TestServer, name: string, clusterIP?: string): Promise<Answered> =>
  request("POST", SERVICES, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { ports: [{ port: 80 }], clusterIP },
  });
const addressOf = ({ request }: TestServer, address: string): Promise<Answered> =>
  request("GET", `${ADDRESSES}/${address}`);
const addRange = ({ request }: TestServer, ...cidrs: string[]): Promise<Answered> =>
  request("POST", RANGES, { metadata: { name: "more" }, spec: { cidrs } });

test("an allocated Service address has an IPAddress object while the Service holds it", async () => {
  const server = await start();

  await create(server, "web", "10.96.7.7");
  await server.settle();
  const held = await addressOf(server, "10.96.7.7");
  await server.request("DELETE", `${SERVICES}/web`);
  await server.settle();

  expect(held.body).toMatchObject({
    metadata: {
      labels: {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
      },
    },
    spec: { parentRef: { resource: "services", namespace: "default", name: "web" } },
  });
  expect((await addressOf(server, "10.96.7.7")).status).toBe(404);
});

test("recreates an IPAddress that is deleted while its Service exists", async () => {
  const server = await start();
  await create(server, "web", "10.96.7.7");
  await server.settle();

  await server.request("DELETE", `${ADDRESSES}/10.96.7.7`);
  await server.settle();

  expect((await addressOf(server, "10.96.7.7")).status).toBe(200);
});

test("updates the parent reference of an IPAddress when the address moves to another Service", async () => {
  const server = await start();
  await create(server, "old", "10.96.7.7");
  await server.settle();

  await server.request("DELETE", `${SERVICES}/old`);
  const created = await create(server, "new", "10.96.7.7");
  await server.settle();

  expect(created.status).toBe(201);
  expect((await addressOf(server, "10.96.7.7")).body).toMatchObject({ spec: { parentRef: { name: "new" } } });
});

test("creates IPAddresses for stored Services when the server starts", async () => {
  const server = await createTestServer({
    profiles: { hub: { ...profile, builtIns: [Namespace, Service], objects: profile.objects.slice(0, 1) } },
    clusters: { hub: "hub" },
  });
  await create(server, "web", "10.96.7.7");
  await server.settle();

  const restarted = await start(server.engine);
  await restarted.settle();

  expect((await addressOf(restarted, "10.96.7.7")).status).toBe(200);
});

test("an IPAddress created by a user keeps its address from Services", async () => {
  const server = await start();
  await server.request("POST", ADDRESSES, {
    metadata: { name: "10.96.7.7" },
    spec: { parentRef: { resource: "gateways", name: "edge" } },
  });

  const answer = await create(server, "web", "10.96.7.7");

  expect(answer.body.message).toContain("provided IP is already allocated");
});

test("addresses are allocated from an added ServiceCIDR until it is deleted", async () => {
  const server = await start();

  const before = await create(server, "early", "192.168.7.7");
  await addRange(server, "192.168.7.0/24", "2001:db8::/64");
  await server.settle();
  const during = await create(server, "web", "192.168.7.7");
  await server.request("DELETE", `${RANGES}/more`);
  await server.settle();
  const after = await create(server, "late", "192.168.7.8");

  expect([before.status, during.status, after.status]).toEqual([422, 201, 422]);
});

test("the default ServiceCIDR is recreated when it is deleted", async () => {
  const server = await start();

  await server.request("DELETE", `${RANGES}/kubernetes`);
  await server.settle();

  expect((await server.request("GET", `${RANGES}/kubernetes`)).body).toMatchObject({
    spec: { cidrs: ["10.96.0.0/16"] },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  });
});
