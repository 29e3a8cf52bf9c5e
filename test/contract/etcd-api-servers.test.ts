/**
 * Three API servers on one etcd, each with its own connection and cache, as three processes have them: what one server
 * acknowledged, every other one serves. Runs if `$REAL_BIN` has etcd.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEtcdEngine } from "@flotilla/apiserver";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { kindAdmissions } from "@flotilla/server";
import { silentLog, systemClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createTestServer, makeConfigMap, makeDefinition, MERGE } from "@flotilla/testing/api-server.ts";
import type { Answered, TestServer } from "@flotilla/testing/api-server.ts";
import { eventually } from "../programs/eventually.ts";
import { findPrograms } from "../programs/real-programs.ts";
import { startEtcd } from "../programs/etcd-server.ts";
import type { EtcdServer } from "../programs/etcd-server.ts";

const binaries = findPrograms("three API servers on one etcd", "etcd");
const MAPS = "/api/v1/namespaces/default/configmaps";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const SERVERS = 3;
const profiles = {
  hub: {
    builtIns: kubernetesKinds,
    customs: [],
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
  },
};

describe.runIf(binaries !== undefined)("three API servers on one etcd", { timeout: 60_000 }, () => {
  let etcd: EtcdServer;
  let servers: readonly TestServer[];
  const at = (index: number): TestServer => servers[index % SERVERS] as TestServer;
  const versionOf = ({ body }: Answered): string => (body.metadata as { resourceVersion: string }).resourceVersion;

  beforeAll(async () => {
    etcd = await startEtcd(binaries ?? "");
    const opened: TestServer[] = [];
    for (let index = 0; index < SERVERS; index++) {
      const options = { endpoints: [etcd.endpoint], prefix: "/flotilla", clock: systemClock, log: silentLog };
      opened.push(
        await createTestServer({ engine: await openEtcdEngine(options), profiles, admissions: kindAdmissions }),
      );
    }
    servers = opened;
  }, 60_000);
  afterAll(async () => {
    for (const { cache, engine } of servers) {
      await cache.close();
      await engine.close();
    }
    await etcd.stop();
  });

  test("every server reads at once what another one acknowledged", async () => {
    for (let round = 0; round < 30; round++) {
      const created = await at(round).request("POST", MAPS, makeConfigMap(`read-${round}`));
      const read = await at(round + 1).request("GET", `${MAPS}/read-${round}`);
      const listed = await at(round + 2).request("GET", MAPS);

      expect(created.status).toBe(201);
      expect(versionOf(read)).toBe(versionOf(created));
      expect((listed.body.items as JsonObject[]).length).toBe(round + 1);
    }
  });

  test("an update at one server with the version that another one returned is not a conflict", async () => {
    await at(0).request("POST", MAPS, makeConfigMap("handed-on"));
    for (let round = 0; round < 30; round++) {
      const read = await at(round).request("GET", `${MAPS}/handed-on`);
      const updated = await at(round + 1).request("PUT", `${MAPS}/handed-on`, {
        ...read.body,
        data: { round: `${round}` },
      });

      expect(updated.status).toBe(200);
    }
  });

  test("no increment of one counter through all servers is lost", async () => {
    await at(0).request("POST", MAPS, makeConfigMap("counter", { metadata: {} }));
    await at(0).request("PATCH", `${MAPS}/counter`, { data: { count: "0" } }, MERGE);
    const increment = async (index: number): Promise<void> => {
      for (;;) {
        const { body } = await at(index).request("GET", `${MAPS}/counter`);
        const data = { count: `${Number((body.data as { count: string }).count) + 1}` };
        const { status } = await at(index + 1).request("PUT", `${MAPS}/counter`, { ...body, data });
        if (status === 200) return;
        expect(status).toBe(409);
      }
    };

    await Promise.all(Array.from({ length: 24 }, (_, index) => increment(index)));

    const { body } = await at(0).request("GET", `${MAPS}/counter`);
    expect(body.data).toMatchObject({ count: "24" });
  });

  test("a kind that one server defines is served by the others", async () => {
    await at(0).request("POST", CRDS, makeDefinition());
    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: {} };

    const created = await eventually(
      "the second server serves widgets",
      () => at(1).request("POST", WIDGETS, widget),
      ({ status }) => status !== 404,
    );
    const read = await at(2).request("GET", `${WIDGETS}/w`);

    expect(created.status).toBe(201);
    expect(read.body.spec).toEqual({ size: 3 });
  });

  test("a namespace that one server deletes is emptied, whatever the others create in it meanwhile", async () => {
    for (let round = 0; round < 5; round++) {
      await at(0).request("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
      const maps = "/api/v1/namespaces/shop/configmaps";
      await Promise.all([
        ...Array.from({ length: 12 }, (_, index) => at(index + 1).request("POST", maps, makeConfigMap(`m${index}`))),
        at(0).request("DELETE", "/api/v1/namespaces/shop"),
      ]);
      await eventually(
        "the namespace is gone",
        () => at(round).request("GET", "/api/v1/namespaces/shop"),
        ({ status }) => status === 404,
      );

      expect(
        at(round + 1)
          .cache.list("/")
          .filter(({ key }) => key.includes("/shop")),
      ).toEqual([]);
    }
  });

  test("creates through all servers never exceed a quota, and no Service shares a number", async () => {
    await at(0).request("POST", "/api/v1/namespaces", { metadata: { name: "bounded" } });
    const quotas = "/api/v1/namespaces/bounded/resourcequotas";
    const hard = { "count/services": "5" };
    await at(0).request("POST", quotas, { metadata: { name: "q" }, spec: { hard } });
    await at(1).request("PATCH", `${quotas}/q/status`, { status: { hard, used: { "count/services": "0" } } }, MERGE);
    const create = async (index: number): Promise<Answered> => {
      for (;;) {
        const answer = await at(index).request("POST", "/api/v1/namespaces/bounded/services", {
          metadata: { name: `s${index}` },
          spec: { type: "NodePort", ports: [{ port: 80 }] },
        });
        if (answer.body.reason !== "Conflict") return answer;
      }
    };

    const answers = await Promise.all(Array.from({ length: 15 }, (_, index) => create(index)));

    const created = answers.filter(({ status }) => status === 201);
    expect(created).toHaveLength(5);
    expect(new Set(created.map(({ body }) => (body.spec as { clusterIP: string }).clusterIP)).size).toBe(5);
  });

  test("dependents that the servers create are collected when another one deletes their owner", async () => {
    const { body: owner } = await at(0).request("POST", MAPS, makeConfigMap("owner"));
    const { uid } = owner.metadata as { uid: string };
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    await Promise.all([
      ...Array.from({ length: 12 }, (_, index) =>
        at(index).request("POST", MAPS, makeConfigMap(`owned-${index}`, { metadata: { ownerReferences } })),
      ),
      at(1).request("DELETE", `${MAPS}/owner`),
    ]);

    const left = await eventually(
      "the dependents are gone",
      () => at(2).request("GET", MAPS),
      ({ body }) =>
        !(body.items as { metadata: { name: string } }[]).some(({ metadata }) => metadata.name.startsWith("owned-")),
    );
    expect(left.status).toBe(200);
  });

  test("a kind that one server deletes leaves no objects, whatever the others create meanwhile", async () => {
    const widget = (name: string): JsonObject => ({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name },
      spec: {},
    });
    await Promise.all([
      ...Array.from({ length: 12 }, (_, index) => at(index).request("POST", WIDGETS, widget(`w${index}`))),
      at(1).request("DELETE", `${CRDS}/widgets.example.com`),
    ]);
    await eventually(
      "the definition is gone",
      () => at(2).request("GET", `${CRDS}/widgets.example.com`),
      ({ status }) => status === 404,
    );

    expect(at(2).cache.list("/example.com/")).toEqual([]);
  });

  test("without etcd requests fail with 503, and after its return all servers continue", async () => {
    await etcd.kill();
    const meanwhile = await at(0).request("POST", MAPS, makeConfigMap("lost"));
    const isReachable = servers.map(({ engine }) => engine.isReachable?.());
    await etcd.start();
    const created = await eventually(
      "writes are accepted",
      () => at(1).request("POST", MAPS, makeConfigMap("after")),
      ({ status }) => status === 201,
    );
    const read = await at(2).request("GET", `${MAPS}/after`);

    expect(meanwhile.status).toBe(503);
    expect(meanwhile.body.message).toContain("etcd is not available");
    expect(isReachable).toEqual([false, false, false]);
    expect(versionOf(read)).toBe(versionOf(created));
  });
});
