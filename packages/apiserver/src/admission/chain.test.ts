/** Admission with steps that wait, and without them. */
import { describe, expect, test } from "vitest";
import { ConfigMap, Deployment, kubernetesAdmissions } from "@flotilla/kubernetes";
import type { AdmissionStep, AnyStep, KubernetesObject, Review } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { createTestServer, makeConfigMap, makeDefinition, MERGE } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const APPLY = { "content-type": "application/apply-patch+yaml" };

/** What a webhook does: something that takes several turns of the event loop. */
const ofLater = async <T>(value: T): Promise<T> => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  return value;
};

const labelled = <T extends KubernetesObject>(object: DeepReadonly<T>, label: string): DeepReadonly<T> => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, [label]: "yes" } },
});

/** Sets a label in every phase that changes the object, and rejects the annotation `forbidden`, each after a while. */
const waiting: AdmissionStep = {
  name: "Waiting",
  for: ({ kind }) => kind === "ConfigMap" || kind === "Deployment" || kind === "Widget",
  on: ["CREATE", "UPDATE", "DELETE"],
  mutate: ({ object }) => ofLater(labelled(object, "mutated")),
  complete: ({ object }) => ofLater(labelled(object, "completed")),
  prepare: ({ object }) => ofLater(labelled(object, "prepared")),
  validate: ({ object }) =>
    ofLater(
      object.metadata.annotations?.["forbidden"] === undefined
        ? []
        : [{ type: "Forbidden", field: "metadata.annotations[forbidden]", message: "Forbidden: not here" }],
    ),
  warnings: () => ofLater(["it took a while"]),
  check: () => ofLater(undefined),
};

const start = (...steps: AnyStep[]): Promise<TestServer> =>
  createTestServer({ admissions: [...kubernetesAdmissions, ...steps] });
const labelsOf = (body: JsonObject): unknown => (body.metadata as JsonObject).labels;
const ALL = { mutated: "yes", completed: "yes", prepared: "yes" };
const annotated = (name: string): JsonObject => makeConfigMap(name, { metadata: { annotations: { forbidden: "1" } } });

const makeDeployment = (replicas: number): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
});

describe("asynchronous steps", () => {
  test("take part in a create, and reject one", async () => {
    const { request } = await start(waiting);

    const created = await request("POST", MAPS, makeConfigMap("a"));
    const refused = await request("POST", MAPS, annotated("b"));

    expect([created.status, labelsOf(created.body), created.headers.warning]).toEqual([
      201,
      ALL,
      ['299 - "it took a while"'],
    ]);
    expect([refused.status, refused.body.message]).toEqual([
      422,
      'ConfigMap "b" is invalid: metadata.annotations[forbidden]: Forbidden: not here',
    ]);
    expect((await request("GET", `${MAPS}/b`)).status).toBe(404);
  });

  const rewrites: Record<string, { send: (server: TestServer, bad: boolean) => ReturnType<TestServer["request"]> }> = {
    update: { send: ({ request }, bad) => request("PUT", `${MAPS}/a`, bad ? annotated("a") : makeConfigMap("a")) },
    patch: {
      send: ({ request }, bad) =>
        request("PATCH", `${MAPS}/a`, bad ? { metadata: annotated("a").metadata } : { data: { a: "1" } }, MERGE),
    },
    apply: {
      send: ({ request }, bad) =>
        request(
          "PATCH",
          `${MAPS}/a?fieldManager=me`,
          { apiVersion: "v1", kind: "ConfigMap", ...(bad ? annotated("a") : makeConfigMap("a")) },
          APPLY,
        ),
    },
  };
  for (const [verb, { send }] of Object.entries(rewrites)) {
    test(`take part in an ${verb}, and reject one`, async () => {
      // The object is older than the step.
      const before = await start();
      await before.request("POST", MAPS, makeConfigMap("a"));
      const server = await createTestServer({ engine: before.engine, admissions: [...kubernetesAdmissions, waiting] });

      const refused = await send(server, true);
      const written = await send(server, false);

      expect([refused.status, refused.body.reason]).toEqual([422, "Invalid"]);
      expect([written.status, labelsOf(written.body)]).toEqual([200, ALL]);
    });
  }

  test("take part in an apply that creates the object, and in a create by PUT", async () => {
    const { request } = await start(waiting);

    const applied = await request(
      "PATCH",
      `${MAPS}/a?fieldManager=me`,
      { apiVersion: "v1", kind: "ConfigMap", ...makeConfigMap("a") },
      APPLY,
    );

    expect([applied.status, labelsOf(applied.body)]).toEqual([201, ALL]);
    expect((await request("PUT", `${MAPS}/none`, makeConfigMap("none"))).status).toBe(404);
  });

  test("take part in a change of the scale, and reject one", async () => {
    const few: AdmissionStep<Deployment> = {
      name: "Few",
      for: Deployment,
      on: ["UPDATE"],
      validate: ({ object: { spec } }) =>
        ofLater(
          (spec.replicas ?? 0) <= 3 ? [] : [{ type: "Invalid", field: "spec.replicas", message: "Invalid value: 9" }],
        ),
    };
    const { request } = await start(waiting, few);
    await request("POST", DEPLOYMENTS, makeDeployment(1));
    const scaleTo = (replicas: number): ReturnType<TestServer["request"]> =>
      request("PATCH", `${DEPLOYMENTS}/web/scale`, { spec: { replicas } }, MERGE);

    const refused = await scaleTo(9);
    const scaled = await scaleTo(3);

    expect([refused.status, scaled.status, scaled.body.spec]).toEqual([422, 200, { replicas: 3 }]);
  });

  test("take part in a deletion, alone and in a collection, and reject one", async () => {
    const { request } = await start(waiting);
    await request("POST", MAPS, makeConfigMap("a"));
    const before = await start();
    await before.request("POST", MAPS, annotated("kept"));
    const guarded = await createTestServer({ engine: before.engine, admissions: [...kubernetesAdmissions, waiting] });

    const deleted = await request("DELETE", `${MAPS}/a`);
    const refused = await guarded.request("DELETE", `${MAPS}/kept`);
    const collection = await guarded.request("DELETE", MAPS);

    expect([deleted.status, refused.status, collection.status]).toEqual([200, 422, 422]);
    expect((await guarded.request("GET", `${MAPS}/kept`)).status).toBe(200);
  });

  test("take part in writes of custom resources", async () => {
    const { request, settle } = await start(waiting);
    await request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", makeDefinition());
    await settle();

    const created = await request("POST", "/apis/example.com/v1/namespaces/default/widgets", {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w" },
    });

    expect([created.status, labelsOf(created.body)]).toEqual([201, ALL]);
  });

  test("see what the steps before them changed, and run in the order of the list", async () => {
    const seen: string[] = [];
    const note = (name: string): AdmissionStep => ({
      name,
      for: ConfigMap,
      on: ["CREATE"],
      complete({ object }) {
        seen.push(`${name}: ${Object.keys(object.metadata.labels ?? {}).join()}`);
        return name === "second" ? labelled(object, name) : ofLater(labelled(object, name));
      },
    });
    const { request } = await start(note("first"), note("second"), note("third"));

    await request("POST", MAPS, makeConfigMap("a"));

    expect(seen).toEqual(["first: ", "second: first", "third: first,second"]);
  });
});

describe("a step that waits", () => {
  /** Waits in a create of the ConfigMap `late` until it is released. */
  function createGate(): { step: AdmissionStep; reached: Promise<void>; release(): void; times(): number } {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    let times = 0;
    return {
      step: {
        name: "Gate",
        for: ConfigMap,
        on: ["CREATE", "UPDATE"],
        async check({ object }: Review<KubernetesObject>) {
          if (object.metadata.name !== "late") return;
          times++;
          reached.resolve();
          await released.promise;
        },
      },
      reached: reached.promise,
      release: released.resolve,
      times: () => times,
    };
  }

  test("a step that waits while its namespace is deleted is admitted again, and the object is rejected", async () => {
    const gate = createGate();
    const { request, settle, cache } = await start(gate.step);
    await request("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
    const late = request("POST", "/api/v1/namespaces/shop/configmaps", makeConfigMap("late"));
    await gate.reached;

    await request("DELETE", "/api/v1/namespaces/shop");
    await settle();
    gate.release();
    const answer = await late;

    expect([answer.status, answer.body.message]).toEqual([404, 'namespaces "shop" not found']);
    expect(cache.list("/").filter(({ key }) => key.includes("/shop"))).toEqual([]);
  });

  test("a step that waits while its namespace changes is admitted again, and the object is stored", async () => {
    const gate = createGate();
    const { request } = await start(gate.step);
    const late = request("POST", MAPS, makeConfigMap("late"));
    await gate.reached;

    await request("PATCH", "/api/v1/namespaces/default", { metadata: { labels: { team: "a" } } }, MERGE);
    gate.release();

    expect([(await late).status, gate.times()]).toEqual([201, 2]);
  });

  test("gives up when its namespace changes again and again", async () => {
    let count = 0;
    const { request } = await start({
      name: "Unlucky",
      for: ConfigMap,
      on: ["CREATE"],
      async check() {
        const labels = { count: String(count++) };
        await request("PATCH", "/api/v1/namespaces/default", { metadata: { labels } }, MERGE);
      },
    });

    const { status, body } = await request("POST", MAPS, makeConfigMap("a"));

    expect([status, body.reason]).toEqual([409, "Conflict"]);
  });

  test("a step that waits while another client creates the same object leaves that object", async () => {
    const gate = createGate();
    const { request, engine } = await start(gate.step);
    const other = await createTestServer({ engine });
    const late = request("POST", MAPS, makeConfigMap("late"));
    await gate.reached;

    const first = await other.request("POST", MAPS, makeConfigMap("late"));
    gate.release();
    const answer = await late;

    expect([first.status, answer.status, answer.body.reason]).toEqual([201, 409, "AlreadyExists"]);
  });
});

test("a reservation that is stale admits the object again, and releases what others have taken", async () => {
  const events: string[] = [];
  let isStale = true;
  const taking: AdmissionStep = {
    name: "Taking",
    for: ConfigMap,
    on: ["CREATE"],
    complete({ object }) {
      events.push("admitted");
      return object;
    },
    async reserve() {
      events.push("taken");
      return { release: async () => void events.push("released") };
    },
  };
  const stale: AdmissionStep = {
    name: "Stale",
    for: ConfigMap,
    on: ["CREATE"],
    async reserve() {
      const answer = isStale ? ("stale" as const) : undefined;
      isStale = false;
      return answer;
    },
  };
  const { request } = await start(taking, stale);

  const { status } = await request("POST", MAPS, makeConfigMap("a"));

  expect(status).toBe(201);
  expect(events).toEqual(["admitted", "taken", "released", "admitted", "taken"]);
});
