import { expect, test } from "vitest";
import { ConfigMap, Namespace, PriorityClass, ResourceQuota, Service } from "@flotilla/kubernetes";
import { createTestServer, type TestServer } from "../test-server.ts";

const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };
const builtIns = [Namespace, ConfigMap, Service, ResourceQuota, PriorityClass];
const QUOTAS = "/api/v1/namespaces/default/resourcequotas";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const start = (): Promise<TestServer> =>
  createTestServer({ profiles: { hub: { builtIns, customs: [], objects: [namespace] } } });

/** Creates a quota with the status that its controller would have set. */
async function makeQuota(
  { request }: TestServer,
  name: string,
  hard: Record<string, string>,
  used: Record<string, string>,
): Promise<void> {
  await request("POST", QUOTAS, { metadata: { name }, spec: { hard } });
  await request(
    "PATCH",
    `${QUOTAS}/${name}/status`,
    { status: { hard, used } },
    { "content-type": "application/merge-patch+json" },
  );
}

const usedOf = async ({ request }: TestServer, name: string): Promise<unknown> =>
  ((await request("GET", `${QUOTAS}/${name}`)).body.status as { used: unknown }).used;
const create = ({ request }: TestServer, name: string, query = ""): ReturnType<TestServer["request"]> =>
  request("POST", CONFIG_MAPS + query, { metadata: { name } });

test("creating an object charges the quota, and is rejected when nothing is left", async () => {
  const server = await start();
  await makeQuota(server, "q", { "count/configmaps": "1" }, { "count/configmaps": "0" });

  const answers = [await create(server, "a"), await create(server, "b")];

  expect(answers.map(({ status }) => status)).toEqual([201, 403]);
  expect(answers[1]?.body.message).toBe(
    'configmaps "b" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1',
  );
  expect(await usedOf(server, "q")).toEqual({ "count/configmaps": "1" });
});

test("concurrent creates are stored only up to the quota", async () => {
  const server = await start();
  await makeQuota(server, "q", { "count/configmaps": "3" }, { "count/configmaps": "0" });

  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => create(server, `c${index}`)));

  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
  expect(await usedOf(server, "q")).toEqual({ "count/configmaps": "3" });
});

test("a dry run is rejected like a real request and charges nothing", async () => {
  const server = await start();
  await makeQuota(server, "q", { "count/configmaps": "1" }, { "count/configmaps": "0" });

  const first = await create(server, "a", "?dryRun=All");
  await create(server, "a");
  const second = await create(server, "b", "?dryRun=All");

  expect([first.status, second.status]).toEqual([201, 403]);
  expect(await usedOf(server, "q")).toEqual({ "count/configmaps": "1" });
});

test("a request that one quota rejects is not charged to another", async () => {
  const server = await start();
  await makeQuota(server, "a", { "count/configmaps": "5" }, { "count/configmaps": "0" });
  await makeQuota(server, "b", { configmaps: "0" }, { configmaps: "0" });

  const { status } = await create(server, "x");

  expect(status).toBe(403);
  expect(await usedOf(server, "a")).toEqual({ "count/configmaps": "0" });
});

test("a quota without a status rejects everything it counts", async () => {
  const server = await start();
  await makeQuota(server, "q", { "count/configmaps": "5" }, {});

  const { status, body } = await create(server, "a");

  expect(status).toBe(403);
  expect(body.message).toBe('configmaps "a" is forbidden: status unknown for quota: q, resources: count/configmaps');
});

test("at most one priority class is the default", async () => {
  const { request } = await start();
  const classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  await request("POST", classes, { metadata: { name: "a" }, value: 1, globalDefault: true });

  const second = await request("POST", classes, { metadata: { name: "b" }, value: 1, globalDefault: true });
  const same = await request("PUT", `${classes}/a`, {
    metadata: { name: "a" },
    value: 1,
    globalDefault: true,
    description: "d",
  });

  expect([second.status, same.status]).toEqual([403, 200]);
  expect(second.body.message).toBe(
    'priorityclasses.scheduling.k8s.io "b" is forbidden: PriorityClass a is already marked as default. Only one default can exist',
  );
});
