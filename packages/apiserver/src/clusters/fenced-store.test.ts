import { expect, test } from "vitest";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { createTestServer, holdCommits, makeConfigMap } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const FENCE = "fence=default/leader/one/3";
const profiles = {
  hub: {
    builtIns: kubernetesKinds,
    customs: [],
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
  },
};

const spec = (holderIdentity: string, leaseTransitions: number) => ({ holderIdentity, leaseTransitions });

async function start(): Promise<TestServer> {
  const test = await createTestServer({ profiles });
  await test.request("POST", LEASES, { metadata: { name: "leader" }, spec: spec("one", 3) });
  return test;
}
const handOver = async ({ request }: TestServer, holder: string, transitions: number): Promise<void> => {
  const { body } = await request("GET", `${LEASES}/leader`);
  await request("PUT", `${LEASES}/leader`, { ...body, spec: spec(holder, transitions) });
};

test("a write of the process that holds its Lease is carried out, also after a renewal", async () => {
  const server = await start();
  const created = await server.request("POST", `${MAPS}?${FENCE}`, makeConfigMap("a"));
  await handOver(server, "one", 3);
  const updated = await server.request("PUT", `${MAPS}/a?${FENCE}`, { ...makeConfigMap("a"), data: { b: "c" } });
  const deleted = await server.request("DELETE", `${MAPS}/a?${FENCE}`);

  expect([created.status, updated.status, deleted.status]).toEqual([201, 200, 200]);
});

const terms: Record<string, [holder: string, transitions: number]> = {
  "another process holds the Lease": ["two", 4],
  "the same process holds the Lease again, in a later term": ["one", 5],
  "the Lease was given up": ["", 3],
};
for (const [when, [holder, transitions]] of Object.entries(terms))
  test(`a write is rejected when ${when}`, async () => {
    const server = await start();
    await server.request("POST", MAPS, makeConfigMap("a"));
    await handOver(server, holder, transitions);

    const answers = [
      await server.request("POST", `${MAPS}?${FENCE}`, makeConfigMap("b")),
      await server.request("PUT", `${MAPS}/a?${FENCE}`, { ...makeConfigMap("a"), data: { b: "c" } }),
      await server.request("DELETE", `${MAPS}/a?${FENCE}`),
    ];

    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409]);
    expect(answers[0]?.body.message).toContain("one no longer holds the Lease, so its write is rejected");
    expect((await server.request("GET", MAPS)).body.items).toHaveLength(1);
  });

test("a write that waits for the store while another process takes the Lease has no effect", async () => {
  const server = await start();
  const held = holdCommits(server.engine, (key) => key.endsWith("/late"));
  const late = server.request("POST", `${MAPS}?${FENCE}`, makeConfigMap("late"));
  await held.reached;

  await handOver(server, "two", 4);
  held.release();

  expect((await late).status).toBe(409);
  expect((await server.request("GET", `${MAPS}/late`)).status).toBe(404);
});

test("a fence that cannot be read is rejected", async () => {
  const server = await start();

  expect((await server.request("POST", `${MAPS}?fence=leader`, makeConfigMap("a"))).status).toBe(400);
});
