import { Deployment } from "@flotilla/kubernetes";
import { createAuthenticator, createHttpServer } from "@flotilla/apiserver";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { silentLog, sleep, systemClock } from "@flotilla/base";
import { createClient, createHttp2Transport, createKindResolver } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { createDelivery, createObserver } from "@flotilla/flotilla";
import { createInformers } from "@flotilla/controller-runtime";
import type { SharedInformers } from "@flotilla/controller-runtime";
import { countWrites } from "@flotilla/testing/count-writes.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { describeDelivery } from "./delivery.ts";
import type { OpenDelivery } from "./delivery.ts";

const CLUSTER = "member1";

async function open(
  fleet: TestFleet,
  transport: Transport,
  informers: SharedInformers,
  settle: () => Promise<void>,
  closeMore: () => Promise<void>,
): Promise<OpenDelivery> {
  const counted = countWrites(transport);
  const client = createClient({ transport: counted.transport, fieldManager: "flotilla" });
  return {
    delivery: createDelivery({
      client,
      cluster: CLUSTER,
      kinds: createKindResolver({ client, cluster: CLUSTER }),
      observer: createObserver(informers),
      clock: systemClock,
    }),
    member: fleet.client,
    as: (fieldManager) =>
      createClient({
        transport: fleet.hub.server.transport({ name: "alice", groups: ["system:masters"] }),
        fieldManager,
      }),
    cluster: CLUSTER,
    settle,
    writes: () => counted.total(),
    async close() {
      informers.close();
      await closeMore();
      await fleet.stop();
    },
  };
}

describeDelivery("with direct calls", async () => {
  const fleet = await startTestFleet({ members: [CLUSTER] });
  const informers = createInformers({
    client: fleet.client,
    clock: systemClock,
    log: silentLog,
    scope: { cluster: CLUSTER },
  });
  return open(
    fleet,
    fleet.hub.server.transport({ name: "flotilla", groups: ["system:masters"] }),
    informers,
    () => fleet.settle(),
    () => Promise.resolve(),
  );
});

describeDelivery("over HTTP/2", async () => {
  const fleet = await startTestFleet({ members: [CLUSTER] });
  const authority = await createCertificateAuthority({ clock: systemClock });
  const serving = await authority.issueServing(["127.0.0.1"]);
  const http = createHttpServer({
    handle: (request) => fleet.hub.server.handle(request),
    authenticator: createAuthenticator({
      clusterPrefix: "example.com:cluster:",
      tokens: [{ token: "secret", user: "flotilla", groups: ["system:masters"] }],
    }),
    tls: { ...serving, clientCa: authority.certificate },
    log: silentLog,
  });
  const { port } = await http.listen(0);
  const transport = createHttp2Transport({
    server: new URL(`https://127.0.0.1:${port}/clusters/${CLUSTER}`),
    cluster: { only: CLUSTER },
    ca: authority.certificate,
    token: "secret",
  });
  // Events arrive over the network asynchronously: settled means that the delivery's view equals the member's.
  const follower = createClient({ transport, fieldManager: "follower" });
  const informers = createInformers({
    client: follower,
    clock: systemClock,
    log: silentLog,
    scope: { cluster: CLUSTER },
  });
  const versions = (objects: readonly { metadata: { name: string; resourceVersion?: string } }[]): string =>
    objects
      .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
      .sort()
      .join();
  const settle = async (): Promise<void> => {
    await fleet.settle();
    const { items } = await fleet.client.list(Deployment, { cluster: CLUSTER });
    while (versions(informers.of(Deployment).list()) !== versions(items)) await sleep(systemClock, 1);
  };
  return open(fleet, transport, informers, settle, async () => {
    await transport.close();
    await http.close();
  });
});
