/** The controller contract on the fake client, and on the in-process API server that the fake replaces. */
import { kindAdmissions } from "@flotilla/server";
import { ConfigMap, Namespace, Secret } from "@flotilla/kubernetes";
import { dynamicKind } from "@flotilla/apimachinery";
import { createApiServer, createCache, createMemoryEngine } from "@flotilla/apiserver";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { controllerContract } from "./controller.ts";

controllerContract("the fake client", async () => {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  return {
    client,
    clock,
    server: client,
    cluster: "hub",
    namespace: "shop",
    kind: dynamicKind({ group: "example.dev", version: "v1", kind: "Widget", plural: "widgets", scope: "Namespaced" }),
    ownedKind: dynamicKind({ group: "example.dev", version: "v1", kind: "Part", plural: "parts", scope: "Namespaced" }),
    close: async () => {},
  };
});

controllerContract("the in-process API server", async () => {
  const clock = createFakeClock();
  const engine = createMemoryEngine();
  const cache = await createCache(engine);
  const server = await createApiServer({
    cache,
    clock,
    random: createSeededRandom(1),
    log: silentLog,
    admissions: kindAdmissions,
    profiles: { contract: { builtIns: [Namespace, ConfigMap, Secret], customs: [], objects: [] } },
    freeze: true,
  });
  await server.addCluster("hub", "contract");
  const transport = server.transport({ name: "admin", groups: ["system:masters", "system:authenticated"] });
  const client = createClient({ transport, fieldManager: "contract" });
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  return {
    client,
    clock,
    server,
    cluster: "hub",
    namespace: "shop",
    kind: ConfigMap,
    ownedKind: Secret,
    async close() {
      await transport.close();
      await server.close();
      await cache.close();
      await engine.close();
    },
  };
});
