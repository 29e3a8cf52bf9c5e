/**
 * Three API servers on one etcd, each with its own connection and cache, as three processes have them: what one server
 * acknowledged, every other one serves. Runs if `$REAL_BIN` has etcd.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEtcdEngine } from "@flotilla/apiserver";
import { silentLog, systemClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createTestServer, makeConfigMap, makeDefinition, MERGE } from "../../packages/apiserver/src/test-server.ts";
import type { Answered, TestServer } from "../../packages/apiserver/src/test-server.ts";
import { eventually } from "../programs/eventually.ts";
import { findPrograms } from "../programs/real-programs.ts";
import { startEtcd } from "../programs/etcd-server.ts";
import type { EtcdServer } from "../programs/etcd-server.ts";

const binaries = findPrograms("three API servers on one etcd", "etcd");
const MAPS = "/api/v1/namespaces/default/configmaps";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const SERVERS = 3;

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
      opened.push(await createTestServer({ engine: await openEtcdEngine(options) }));
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
