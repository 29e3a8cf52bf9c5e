import { expect, test } from "vitest";
import { ConfigMap, Namespace, ResourceQuota } from "@flotilla/kubernetes";
import { createMemoryEngine } from "../store/memory-engine.ts";
import type { Engine } from "../store/engine.ts";
import { MERGE, createTestServer, makeConfigMap } from "../test-server.ts";

const QUOTAS = "/api/v1/namespaces/default/resourcequotas";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };

test("a status update that keeps conflicting returns a conflict, and the object that needed it is not stored", async () => {
  const memory = createMemoryEngine();
  const seen = { isRacing: false, attempts: 0 };
  const engine: Engine = {
    ...memory,
    async commit(write) {
      if (!seen.isRacing || !write.key.includes("/resourcequotas/")) return memory.commit(write);
      seen.attempts++;
      return { ok: false };
    },
  };
  const { request } = await createTestServer({
    engine,
    profiles: { hub: { builtIns: [Namespace, ConfigMap, ResourceQuota], customs: [], objects: [namespace] } },
  });
  const hard = { "count/configmaps": "5" };
  await request("POST", QUOTAS, { metadata: { name: "q" }, spec: { hard } });
  await request("PATCH", `${QUOTAS}/q/status`, { status: { hard, used: { "count/configmaps": "0" } } }, MERGE);
  seen.isRacing = true;

  const { status, body } = await request("POST", CONFIG_MAPS, makeConfigMap("a"));

  expect([status, body.reason, body.details]).toEqual([409, "Conflict", { name: "q", kind: "resourcequotas" }]);
  expect(seen.attempts).toBe(5);
  expect((await request("GET", `${CONFIG_MAPS}/a`)).status).toBe(404);
});
