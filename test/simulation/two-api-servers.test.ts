/**
 * Two API servers with a cache each on one engine, as two processes on one store have. What admission concluded from
 * other objects must hold when the object is stored, whichever server wrote in between.
 */
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { kindAdmissions } from "@flotilla/server";
import { createKruiseAdmissions, kruiseKinds } from "@flotilla/openkruise";
import { kubernetesKinds } from "@flotilla/kubernetes";
import type { AnyStep } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createMemoryEngine } from "@flotilla/apiserver";
import type { ApiServer, Engine } from "@flotilla/apiserver";
import { createTestServer, holdCommits, makeConfigMap, makeDefinition } from "@flotilla/testing/api-server.ts";
import type { Answered, TestServer } from "@flotilla/testing/api-server.ts";

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

async function start(admissions: readonly AnyStep[] = kindAdmissions): Promise<TwoServers> {
  const engine = createMemoryEngine({ isShared: true });
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

test("dependents that one server creates are collected when the other deletes their owner", async () => {
  const { engine, first, second, settle } = await start();
  scatterCommits(engine, "/configmaps/");
  for (let round = 0; round < EACH; round++) {
    const { body: owner } = await first.request("POST", MAPS, makeConfigMap("owner"));
    const { uid } = owner.metadata as { uid: string };
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true }];
    const creates = Array.from({ length: EACH }, (_, index) =>
      first.request("POST", MAPS, makeConfigMap(`d${index}`, { metadata: { ownerReferences } })),
    );
    for (let turn = 0; turn < round; turn++) await setImmediate();
    const propagationPolicy = round % 2 ? "Foreground" : "Background";
    await Promise.all([second.request("DELETE", `${MAPS}/owner`, { propagationPolicy }), ...creates]);
    await settle();

    expect((await second.request("GET", MAPS)).body.items).toEqual([]);
  }
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

const SERVICES = "/api/v1/namespaces/shop/services";

interface ServiceSpec {
  clusterIP: string;
  ports: { nodePort: number }[];
}

const makeService = (name: string, spec: object = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { type: "NodePort", ports: [{ port: 80 }], ...spec },
});

test("Services of both servers never get the same address or node port", async () => {
  const { engine, first, second, settle, keysOf } = await start();
  // Both servers draw the same numbers: the random numbers of both have one seed.
  scatterCommits(engine, "/services/");

  const answers = await Promise.all(
    [first, second].flatMap(({ request }, server) =>
      Array.from({ length: EACH }, (_, index) =>
        persistently(() => request("POST", SERVICES, makeService(`s${server}-${index}`))),
      ),
    ),
  );
  await settle();

  const specs = answers.map(({ body }) => body.spec as unknown as ServiceSpec);
  expect(statusesOf(answers)).toEqual({ 201: 2 * EACH });
  expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(2 * EACH);
  expect(new Set(specs.map(({ ports }) => ports[0]?.nodePort)).size).toBe(2 * EACH);
  expect(keysOf("servicenumbers")).toHaveLength(4 * EACH);
  expect(keysOf("servicereservations")).toHaveLength(2 * EACH);

  for (const { body } of answers)
    await second.request("DELETE", `${SERVICES}/${(body.metadata as { name: string }).name}`);
  await settle();
  expect(keysOf(".flotilla")).toEqual([]);
});

test("a Service that exceeds a quota claims no numbers", async () => {
  const { first, keysOf, settle } = await start();
  const quotas = "/api/v1/namespaces/shop/resourcequotas";
  const hard = { services: "0" };
  await first.request("POST", quotas, { metadata: { name: "q" }, spec: { hard } });
  await first.request("PATCH", `${quotas}/q/status`, { status: { hard, used: { services: "0" } } }, MERGE);
  const engineRevision = first.cache.revision;

  const { status } = await first.request("POST", SERVICES, makeService("s"));
  await settle();

  expect(status).toBe(403);
  expect(keysOf(".flotilla")).toEqual([]);
  expect(first.cache.revision).toBe(engineRevision);
});

test("a Service whose namespace is deleted while it is written gives its numbers back", async () => {
  const { engine, first, second, keysOf, settle } = await start();
  const held = holdCommits(engine, (key) => key === "/core/services/hub/shop/late");
  const late = first.request("POST", SERVICES, makeService("late"));
  await held.reached;
  const claimed = keysOf("servicenumbers").length;

  await second.request("DELETE", "/api/v1/namespaces/shop");
  await second.settle();
  held.release();
  const { status } = await late;
  await settle();

  expect([claimed, status]).toEqual([2, 404]);
  expect(keysOf(".flotilla")).toEqual([]);
});

test("a Service with a hundred node ports is created and gives them back", async () => {
  const { first, second, keysOf, settle } = await start();
  const ports = Array.from({ length: 100 }, (_, index) => ({ name: `p${index}`, port: 80 + index }));

  const { status } = await first.request("POST", SERVICES, makeService("wide", { ports }));
  const claimed = keysOf("servicenumbers").length;
  await second.request("DELETE", `${SERVICES}/wide`);
  await settle();

  expect([status, claimed]).toEqual([201, 101]);
  expect(keysOf(".flotilla")).toEqual([]);
});

test("one of two Services that request the same numbers at two servers gets them", async () => {
  const { engine, first, second, settle } = await start();
  scatterCommits(engine, "/");
  for (let round = 0; round < EACH; round++) {
    const spec = { clusterIP: "10.96.7.7", ports: [{ port: 80, nodePort: 31000 }] };
    const answers = await Promise.all(
      [first, second].map(({ request }, server) =>
        persistently(() => request("POST", SERVICES, makeService(`s${server}`, spec))),
      ),
    );

    expect(statusesOf(answers)).toEqual({ 201: 1, 422: 1 });
    await Promise.all(["s0", "s1"].map((name) => first.request("DELETE", `${SERVICES}/${name}`)));
    await settle();
  }
});

test("a claim that a crashed server left behind does not keep its numbers from other Services", async () => {
  const { engine, first, second } = await start();
  const held = holdCommits(engine, (key) => key === "/core/services/hub/shop/lost");
  const spec = { clusterIP: "10.96.7.7", ports: [{ port: 80, nodePort: 31000 }] };
  const lost = first.request("POST", SERVICES, makeService("lost", spec));
  await held.reached;

  const created = await second.request("POST", SERVICES, makeService("other", spec));
  held.release();

  expect(created.status).toBe(201);
  expect((await lost).body.message).toContain("provided IP is already allocated");
});

function makeNamed(plural: string, kind: string): JsonObject {
  const definition = makeDefinition() as unknown as { spec: { names: JsonObject } };
  const names = { plural, kind, listKind: `${kind}List`, singular: kind.toLowerCase(), shortNames: ["w"] };
  return { ...definition, metadata: { name: `${plural}.example.com` }, spec: { ...definition.spec, names } };
}

test("the first of two CRDs that request the same short name at two servers gets it", async () => {
  const { engine, first, second, settle } = await start();
  let commits = 0;
  // The second write of the CRD is its status, which accepts its names.
  const held = holdCommits(engine, (key) => key.endsWith("/wings.example.com") && ++commits === 2);
  const wings = first.request("POST", CRDS, makeNamed("wings", "Wing"));
  await held.reached;

  const widgets = second.request("POST", CRDS, makeNamed("widgets", "Widget"));
  await second.settle();
  held.release();
  await Promise.all([wings, widgets]);
  await settle();

  const accepted = await Promise.all(
    ["wings", "widgets"].map(async (plural) => {
      const { body } = await first.request("GET", `${CRDS}/${plural}.example.com`);
      return (body.status as { acceptedNames: { shortNames?: string[] } }).acceptedNames.shortNames ?? [];
    }),
  );
  expect(accepted).toEqual([["w"], []]);
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
