/** Runs the client contract with both transports: direct calls, and HTTP/2 over TLS to a local server. */
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { kindAdmissions } from "@flotilla/server";
import {
  createApiServer,
  createAuthenticator,
  createCache,
  createHttpServer,
  createMemoryEngine,
} from "@flotilla/apiserver";
import type { ApiServer } from "@flotilla/apiserver";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { silentLog, systemClock, systemRandom } from "@flotilla/base";
import { createClient, createHttp2Transport } from "@flotilla/client";
import { describeClient } from "./client.ts";

const admin = { name: "admin", groups: ["system:masters", "system:authenticated"] };

async function startServer(): Promise<{ server: ApiServer; stop: () => Promise<void> }> {
  const engine = createMemoryEngine();
  const cache = await createCache(engine);
  const server = await createApiServer({
    cache,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    admissions: kindAdmissions,
    profiles: { contract: { builtIns: [Namespace, ConfigMap, Deployment], customs: [], objects: [] } },
    freeze: true,
  });
  for (const name of ["hub", "paris"]) await server.addCluster(name, "contract");
  return {
    server,
    async stop() {
      await server.close();
      await cache.close();
      await engine.close();
    },
  };
}

describeClient("direct calls", async () => {
  const { server, stop } = await startServer();
  const transport = server.transport(admin);
  return {
    client: createClient({ transport, fieldManager: "contract" }),
    cluster: "hub",
    async cleanup() {
      await transport.close();
      await stop();
    },
  };
});

describeClient("HTTP/2, to a logical cluster", async () => {
  const { server, stop } = await startServer();
  const authority = await createCertificateAuthority({ clock: systemClock });
  const client = await authority.issueClient({ commonName: "admin", organizations: ["system:masters"] });
  const front = createHttpServer({
    handle: (request) => server.handle(request),
    authenticator: createAuthenticator({ clusterPrefix: "example.com:cluster:" }),
    tls: { ...(await authority.issueServing([])), clientCa: authority.certificate },
    log: silentLog,
  });
  const { port } = await front.listen(0);
  const transport = createHttp2Transport({
    server: new URL(`https://127.0.0.1:${port}`),
    cluster: { root: "hub" },
    ca: authority.certificate,
    cert: client.certificate,
    key: client.key,
  });
  return {
    client: createClient({ transport, fieldManager: "contract" }),
    cluster: "paris",
    async cleanup() {
      await transport.close();
      await front.close();
      await stop();
    },
  };
});
