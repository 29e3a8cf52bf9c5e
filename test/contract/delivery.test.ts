import { createAuthenticator, createCertificateAuthority, createHttpServer } from "../../src/apiserver/index.ts";
import { silentLog, sleep, systemClock } from "../../src/base/index.ts";
import { countWrites, createClient, createHttp2Transport, createKindResolver } from "../../src/client/index.ts";
import type { Transport } from "../../src/client/index.ts";
import { createDelivery, createObserver } from "../../src/delivery/index.ts";
import { createInformers } from "../../src/runtime/index.ts";
import { startTestFleet } from "../../src/testing/fleet/index.ts";
import type { TestFleet } from "../../src/testing/fleet/index.ts";
import { describeDelivery } from "./delivery.ts";
import type { OpenDelivery } from "./delivery.ts";

const CLUSTER = "member1";

async function open(fleet: TestFleet, transport: Transport, settle: () => Promise<void>, closeMore: () => Promise<void>): Promise<OpenDelivery> {
  const counted = countWrites(transport);
  const client = createClient({ transport: counted.transport, fieldManager: "flotilla" });
  const informers = createInformers({ client, clock: systemClock, log: silentLog, scope: { cluster: CLUSTER } });
  return {
    delivery: createDelivery({ client, cluster: CLUSTER, kinds: createKindResolver({ client, cluster: CLUSTER }), observer: createObserver(informers) }),
    member: fleet.client,
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

describeDelivery("by direct calls", async () => {
  const fleet = await startTestFleet({ members: [CLUSTER] });
  return open(fleet, fleet.hub.server.transport({ name: "flotilla", groups: ["system:masters"] }), () => fleet.settle(), () => Promise.resolve());
});

describeDelivery("over HTTP/2", async () => {
  const fleet = await startTestFleet({ members: [CLUSTER] });
  const authority = await createCertificateAuthority({ clock: systemClock });
  const serving = await authority.issueServing(["127.0.0.1"]);
  const http = createHttpServer({
    handle: (request) => fleet.hub.server.handle(request),
    authenticator: createAuthenticator({ tokens: [{ token: "secret", user: "flotilla", groups: ["system:masters"] }] }),
    tls: { ...serving, clientCa: authority.certificate },
    log: silentLog,
  });
  const { port } = await http.listen(0);
  const transport = createHttp2Transport({ server: new URL(`https://127.0.0.1:${port}/clusters/${CLUSTER}`), cluster: { only: CLUSTER }, ca: authority.certificate, token: "secret" });
  // Events take a turn over the network; a moment is enough, and a test that is too early fails loudly.
  const settle = async (): Promise<void> => {
    await fleet.settle();
    await sleep(systemClock, 60);
  };
  return open(fleet, transport, settle, async () => {
    await transport.close();
    await http.close();
  });
});
