import { expect, test } from "vitest";
import { Endpoints, Namespace, Service, kubernetesAdmissions } from "@flotilla/kubernetes";
import type { AnyStep } from "@flotilla/apimachinery";
import type { Profile } from "../clusters/profiles.ts";
import { createTestServer, type Answered, type TestServer } from "../test-server.ts";

const profile: Profile = {
  builtIns: [Namespace, Service, Endpoints],
  customs: [],
  objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
};
const SERVICES = "/api/v1/namespaces/default/services";

const start = (...steps: AnyStep[]): Promise<TestServer> =>
  createTestServer({
    profiles: { hub: profile },
    clusters: { hub: "hub", member1: "hub" },
    admissions: [...kubernetesAdmissions, ...steps],
  });
const service = (name: string, spec: object = {}): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});
const create = ({ request }: TestServer, name: string, spec?: object, query = ""): Promise<Answered> =>
  request("POST", SERVICES + query, service(name, spec));
const specOf = ({ body }: Answered) =>
  body.spec as {
    clusterIP?: string;
    clusterIPs?: string[];
    type: string;
    healthCheckNodePort?: number;
    ports: { nodePort?: number }[];
    ipFamilies?: string[];
    ipFamilyPolicy?: string;
  };

test("a Service gets a permanent address from the cluster's range", async () => {
  const server = await start();

  const created = specOf(await create(server, "a"));
  const replaced = specOf(await server.request("PUT", `${SERVICES}/a`, service("a", { ports: [{ port: 81 }] })));

  expect(created.clusterIP).toMatch(/^10\.96\./);
  expect(created).toMatchObject({
    clusterIPs: [created.clusterIP],
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
  });
  expect(replaced.clusterIP).toBe(created.clusterIP);
});

test("a number that another Service takes while admission waits is not given twice", async () => {
  const waiting: AnyStep = {
    name: "Waiting",
    for: Service,
    on: ["CREATE"],
    check: () => new Promise((resolve) => setImmediate(resolve)),
  };
  const server = await start(waiting);

  const answers = await Promise.all(
    ["a", "b"].map((name) => create(server, name, { clusterIP: "10.96.1.7", type: "NodePort" })),
  );

  expect(answers.map(({ status }) => status)).toEqual([201, 422]);
  expect(answers[1]?.body.message).toContain("provided IP is already allocated");
});

test("Services created concurrently get different numbers", async () => {
  const server = await start();

  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => create(server, `s${index}`, { type: "NodePort" })),
  );

  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 201));
  expect(new Set(answers.map((answer) => specOf(answer).clusterIP)).size).toBe(50);
  expect(new Set(answers.map((answer) => specOf(answer).ports[0]?.nodePort)).size).toBe(50);
});

test("only one of two Services that request the same address concurrently gets it", async () => {
  const server = await start();

  const answers = await Promise.all([
    create(server, "a", { clusterIP: "10.96.7.7" }),
    create(server, "b", { clusterIP: "10.96.7.7" }),
  ]);

  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 422]);
  expect(answers.find(({ status }) => status === 422)?.body.message).toContain(
    'spec.clusterIPs: Invalid value: ["10.96.7.7"]: failed to allocate IP 10.96.7.7: provided IP is already allocated',
  );
});

test("clusters do not share numbers", async () => {
  const server = await start();

  const here = await create(server, "a", {
    clusterIP: "10.96.7.7",
    type: "NodePort",
    ports: [{ port: 80, nodePort: 31000 }],
  });
  const there = await server.request(
    "POST",
    `/clusters/member1${SERVICES}`,
    service("a", { clusterIP: "10.96.7.7", type: "NodePort", ports: [{ port: 80, nodePort: 31000 }] }),
  );

  expect([here.status, there.status]).toEqual([201, 201]);
});

test("a recreated cluster has all numbers available", async () => {
  const server = await start();
  const spec = { clusterIP: "10.96.7.7", type: "NodePort", ports: [{ port: 80, nodePort: 31000 }] };
  await server.request("POST", `/clusters/member1${SERVICES}`, service("a", spec));

  await server.server.removeCluster("member1");
  await server.server.addCluster("member1", "hub");
  const again = await server.request("POST", `/clusters/member1${SERVICES}`, service("b", spec));

  expect(again.status).toBe(201);
});

test("a deleted Service releases its numbers immediately", async () => {
  const server = await start();
  const spec = { clusterIP: "10.96.7.7", type: "NodePort", ports: [{ port: 80, nodePort: 31000 }] };
  await create(server, "a", spec);

  await server.request("DELETE", `${SERVICES}/a`);
  const again = await create(server, "b", spec);

  expect(again.status).toBe(201);
});

test("a dry run allocates nothing", async () => {
  const server = await start();
  const spec = { clusterIP: "10.96.7.7" };

  const tried = await create(server, "a", spec, "?dryRun=All");
  const created = await create(server, "b", spec);

  expect([tried.status, created.status]).toEqual([201, 201]);
});

test("a rejected Service allocates nothing", async () => {
  const server = await start();

  const refused = await create(server, "a", { clusterIP: "10.96.7.7", sessionAffinity: "Foo" });
  const created = await create(server, "b", { clusterIP: "10.96.7.7" });

  expect([refused.status, created.status]).toEqual([422, 201]);
});

test("the Service type determines what a Service holds", async () => {
  const server = await start();
  const before = specOf(await create(server, "a", { type: "LoadBalancer", externalTrafficPolicy: "Local" }));
  expect(before.healthCheckNodePort).toBeGreaterThanOrEqual(30000);

  const external = specOf(
    await server.request("PUT", `${SERVICES}/a`, service("a", { type: "ExternalName", externalName: "a.b" })),
  );
  const taken = await create(server, "b", {
    clusterIP: before.clusterIP,
    type: "NodePort",
    ports: [{ port: 80, nodePort: before.ports[0]?.nodePort }],
  });

  expect(external).not.toHaveProperty("clusterIP");
  expect(external).not.toHaveProperty("healthCheckNodePort");
  expect(taken.status).toBe(201);
});

test("the address of the API server is not given to other Services", async () => {
  const server = await start();

  const answer = await create(server, "a", { clusterIP: "10.96.0.1" });

  expect(answer.body.message).toContain("provided IP is already allocated");
});

test("Services keep their numbers after a restart", async () => {
  const server = await start();
  await create(server, "a", { clusterIP: "10.96.7.7" });
  const restarted = await createTestServer({
    profiles: { hub: profile },
    clusters: { hub: "hub", member1: "hub" },
    engine: server.engine,
  });

  const answer = await create(restarted, "b", { clusterIP: "10.96.7.7" });

  expect(answer.status).toBe(422);
});

test("the Endpoints of a deleted Service are deleted", async () => {
  const server = await start();
  await create(server, "a");
  const endpoints = "/api/v1/namespaces/default/endpoints";
  await server.request("POST", endpoints, { metadata: { name: "a" } });
  await server.request("POST", endpoints, { metadata: { name: "b" } });

  await server.request("DELETE", `${SERVICES}/a`);
  await server.settle();

  expect((await server.request("GET", `${endpoints}/a`)).status).toBe(404);
  expect((await server.request("GET", `${endpoints}/b`)).status).toBe(200);
});

const headless: Record<string, [spec: object, want: object]> = {
  "a headless Service has no address": [
    { clusterIP: "None", selector: { a: "b" } },
    { clusterIPs: ["None"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
  ],
  "a headless Service without a selector may have endpoints of both IP families": [
    { clusterIP: "None" },
    { clusterIPs: ["None"], ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" },
  ],
};
for (const [behaviour, [spec, want]] of Object.entries(headless)) {
  test(behaviour, async () => {
    const server = await start();

    expect(specOf(await create(server, "a", spec))).toMatchObject(want);
  });
}
