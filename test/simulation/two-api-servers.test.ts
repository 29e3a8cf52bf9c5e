/**
 * Two API servers with a cache each on one engine, as two processes on one store have. What admission concluded from
 * other objects must hold when the object is stored, whichever server wrote in between.
 */
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { kindAdmissions } from "@flotilla/server";
import { createKruiseAdmissions, kruiseKinds } from "@flotilla/openkruise";
import { kubernetesKinds } from "@flotilla/kubernetes";
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createMemoryEngine } from "@flotilla/apiserver";
import type { ApiServer, Engine } from "@flotilla/apiserver";
import {
  createTestServer,
  holdCommits,
  makeConfigMap,
  makeDefinition,
} from "../../packages/apiserver/src/test-server.ts";
import type { Answered, TestServer } from "../../packages/apiserver/src/test-server.ts";

const SHOP = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
const MAPS = "/api/v1/namespaces/shop/configmaps";
const PODS = "/api/v1/namespaces/shop/pods";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/shop/widgets";
const MERGE = { "content-type": "application/merge-patch+json" };
const EACH = 10;
/** More than the deletion of a namespace or a CRD takes. */
const TURNS = 40;

const makeWidget = (name: string): JsonObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name },
});

interface TwoServers {
  engine: Engine;
  first: TestServer;
  second: TestServer;
  /** Resolves when neither server has anything left to do. */
  settle(): Promise<void>;
  keysOf(part: string): string[];
}

async function start(admissions: readonly AnyAdmission[] = kindAdmissions): Promise<TwoServers> {
  const engine = createMemoryEngine();
  const profiles = {
    hub: {
      builtIns: kubernetesKinds,
      customs: kruiseKinds,
      objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
    },
  };
  const clusters = { hub: "hub", paris: "hub" };
  const first = await createTestServer({ engine, profiles, clusters, admissions });
  const second = await createTestServer({ engine, profiles, clusters, admissions });
  await first.request("POST", "/api/v1/namespaces", SHOP);
  const settle = async (): Promise<void> => {
    const isQuiet = ({ server }: { server: ApiServer }): boolean => server.isQuiet();
    do for (const { settle: settled } of [first, second]) await settled();
    while (!isQuiet(first) || !isQuiet(second));
  };
  await settle();
  return {
    engine,
    first,
    second,
    settle,
    keysOf: (part) =>
      first.cache
        .list("/")
        .map(({ key }) => key)
        .filter((key) => key.includes(part)),
  };
}

/** Delays commits whose key contains a text by up to `TURNS` turns of the event loop, each by a different number. */
function scatterCommits(engine: Engine, text: string): void {
  const commit = engine.commit.bind(engine);
  let count = 0;
  engine.commit = async (write) => {
    if (write.key.includes(text)) for (let turn = (count++ * 7) % TURNS; turn > 0; turn--) await setImmediate();
    return commit(write);
  };
}

/** Sends the requests again that the server answered with a conflict, as a client does. */
async function persistently(send: () => Promise<Answered>): Promise<Answered> {
  for (;;) {
    const answer = await send();
    if (answer.body.reason !== "Conflict") return answer;
  }
}

const statusesOf = (answers: readonly Answered[]): Record<number, number> =>
  Object.fromEntries(
    Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, all]) => [status, all?.length ?? 0]),
  );

test("a create of one server never lands in a namespace that the other server deletes", async () => {
  const { engine, first, second, settle, keysOf } = await start();
  scatterCommits(engine, "/configmaps/");
  for (let round = 0; round < EACH; round++) {
    const creates = Array.from({ length: EACH }, (_, index) => first.request("POST", MAPS, makeConfigMap(`m${index}`)));
    // The deletion arrives after a different number of commits in each round.
    for (let turn = 0; turn < round; turn++) await setImmediate();
    await Promise.all([second.request("DELETE", "/api/v1/namespaces/shop"), ...creates]);
    await settle();

    expect(keysOf("/shop")).toEqual([]);
    await first.request("POST", "/api/v1/namespaces", SHOP);
    await settle();
    expect((await second.request("GET", MAPS)).body.items).toEqual([]);
  }
});

test("a create that waits for the store while the other server deletes its namespace is rejected", async () => {
  const { engine, first, second, settle, keysOf } = await start();
  const held = holdCommits(engine, (key) => key === "/core/configmaps/hub/shop/late");
  const late = first.request("POST", MAPS, makeConfigMap("late"));
  await held.reached;

  await second.request("DELETE", "/api/v1/namespaces/shop");
  await second.settle();
  held.release();
  const answer = await late;
  await settle();

  expect(answer.status).toBe(404);
  expect(keysOf("/shop")).toEqual([]);
});

test("a create of one server never outlives the CRD that the other server deletes", async () => {
  const { engine, first, second, settle, keysOf } = await start();
  scatterCommits(engine, "/widgets/");
  for (let round = 0; round < EACH; round++) {
    await first.request("POST", CRDS, makeDefinition());
    await settle();
    const creates = Array.from({ length: EACH }, (_, index) => first.request("POST", WIDGETS, makeWidget(`w${index}`)));
    for (let turn = 0; turn < round; turn++) await setImmediate();
    await Promise.all([second.request("DELETE", `${CRDS}/widgets.example.com`), ...creates]);
    await settle();

    expect(keysOf("widgets")).toEqual([]);
  }
});

test("a write of one server never lands in a cluster that the other server removes and adds again", async () => {
  const { engine, first, second, settle, keysOf } = await start();
  const maps = "/clusters/paris/api/v1/namespaces/default/configmaps";
  const held = holdCommits(engine, (key) => key.endsWith("/late"));
  const late = first.request("POST", maps, makeConfigMap("late"));
  await held.reached;

  await second.server.removeCluster("paris");
  await second.server.addCluster("paris", "hub");
  held.release();
  const answer = await late;
  await settle();
  const created = await second.request("POST", maps, makeConfigMap("new"));
  await settle();

  expect([answer.status, created.status]).toEqual([404, 201]);
  expect(keysOf("/paris/")).toEqual(["/core/configmaps/paris/default/new"]);
});

test("creates of both servers never exceed a quota", async () => {
  const { first, second, settle } = await start();
  await first.request("POST", "/api/v1/namespaces/shop/resourcequotas", {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "q" },
    spec: { hard: { "count/configmaps": "5" } },
  });
  await first.request(
    "PATCH",
    "/api/v1/namespaces/shop/resourcequotas/q/status",
    { status: { hard: { "count/configmaps": "5" }, used: { "count/configmaps": "0" } } },
    MERGE,
  );
  await settle();

  const answers = await Promise.all(
    [first, second].flatMap(({ request }, server) =>
      Array.from({ length: EACH }, (_, index) =>
        persistently(() => request("POST", MAPS, makeConfigMap(`m${server}-${index}`))),
      ),
    ),
  );
  await settle();

  const { body: quota } = await second.request("GET", "/api/v1/namespaces/shop/resourcequotas/q");
  expect(statusesOf(answers)).toEqual({ 201: 5, 403: 15 });
  expect((await first.request("GET", MAPS)).body.items).toHaveLength(5);
  expect(quota.status).toEqual({ hard: { "count/configmaps": "5" }, used: { "count/configmaps": "5" } });
});

/** Pods that are available, each with its name. */
async function createRunningPods({ request }: TestServer, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { body: pod } = await request("POST", PODS, {
      metadata: { name, labels: { app: "web" } },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    await request("PUT", `${PODS}/${name}/status`, {
      ...pod,
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    });
  }
}

const SELECTS_WEB = { matchLabels: { app: "web" } };
const NAMES = Array.from({ length: EACH }, (_, index) => `p${index}`);

test("evictions through both servers never exceed a PodDisruptionBudget", async () => {
  const { first, second, settle } = await start();
  await createRunningPods(first, NAMES);
  const budgets = "/apis/policy/v1/namespaces/shop/poddisruptionbudgets";
  const { body: budget } = await first.request("POST", budgets, {
    metadata: { name: "b" },
    spec: { maxUnavailable: 3, selector: SELECTS_WEB },
  });
  await first.request("PUT", `${budgets}/b/status`, {
    ...budget,
    status: {
      observedGeneration: 1,
      disruptionsAllowed: 3,
      currentHealthy: EACH,
      desiredHealthy: 7,
      expectedPods: EACH,
    },
  });
  await settle();

  const answers = await Promise.all(
    NAMES.map((name, index) =>
      persistently(() =>
        (index % 2 ? first : second).request("POST", `${PODS}/${name}/eviction`, {
          apiVersion: "policy/v1",
          kind: "Eviction",
          metadata: { name },
        }),
      ),
    ),
  );

  expect(statusesOf(answers)).toEqual({ 201: 3, 429: 7 });
});

test("deletions through both servers never exceed a PodUnavailableBudget", async () => {
  const kruise = createKruiseAdmissions({ appliesTo: () => true, nowMs: () => 0 });
  const { first, second, settle } = await start([...kindAdmissions, ...kruise]);
  const budgets = "/apis/policy.kruise.io/v1beta1/namespaces/shop/podunavailablebudgets";
  const { body: budget } = await first.request("POST", budgets, {
    apiVersion: "policy.kruise.io/v1beta1",
    kind: "PodUnavailableBudget",
    metadata: { name: "b" },
    spec: { maxUnavailable: 3, selector: SELECTS_WEB },
  });
  await createRunningPods(first, NAMES);
  await first.request("PUT", `${budgets}/b/status`, {
    ...budget,
    status: {
      observedGeneration: 1,
      unavailableAllowed: 3,
      currentAvailable: EACH,
      desiredAvailable: 7,
      totalReplicas: EACH,
    },
  });
  await settle();

  const answers = await Promise.all(
    NAMES.map((name, index) => persistently(() => (index % 2 ? first : second).request("DELETE", `${PODS}/${name}`))),
  );

  expect(statusesOf(answers)).toEqual({ 200: 3, 403: 7 });
});
